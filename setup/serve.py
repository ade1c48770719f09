"""Serve the built site on the loopback address until Ctrl-C."""

import argparse
import errno
import functools
import http.server
import sys
from pathlib import Path

SITE = Path(__file__).resolve().parents[1] / "_build" / "html"


class _Server(http.server.ThreadingHTTPServer):
    """A server to which a reader that goes away is nothing to report."""

    def handle_error(self, request: object, client_address: object) -> None:
        """Report what went wrong, unless the reader has closed the connection."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


class _QuietHandler(http.server.SimpleHTTPRequestHandler):
    """Serves files; a line per request would bury the address."""

    def translate_path(self, path: str) -> str:
        """Return the file for an address; one with a NUL in it, which no file can have, leads to none."""
        found = super().translate_path(path)
        return found.replace("\0", "") + "\ufffd" if "\0" in found else found

    def log_message(self, format: str, *args: object) -> None:
        """Log only what went wrong."""
        if args and str(args[-1]).startswith("5"):
            super().log_message(format, *args)


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=8000, help="0 takes any free port")
    options = parser.parse_args()
    if not (SITE / "index.html").is_file():
        print("serve: there is no site yet: run make site first.", file=sys.stderr)
        return 1
    handler = functools.partial(_QuietHandler, directory=str(SITE))
    try:
        server = _Server(("127.0.0.1", options.port), handler)
    except OSError as error:
        reason = (
            "is in use by another program"
            if error.errno == errno.EADDRINUSE
            else f"cannot be used ({error.strerror})"
        )
        print(
            f"serve: port {options.port} {reason}: choose another, for instance make serve PORT=8001.",
            file=sys.stderr,
        )
        return 1
    except OverflowError:
        print(f"serve: {options.port} is not a port: choose one from 1 to 65535.", file=sys.stderr)
        return 2
    with server:
        print(f"The course is at http://127.0.0.1:{server.server_port} (Ctrl-C stops it)", flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
