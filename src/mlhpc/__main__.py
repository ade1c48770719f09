"""``python -m mlhpc`` and the command ``mlhpc``."""

import signal
import sys


def main() -> None:
    """Run the command line; Ctrl-C is one sentence from the first import on."""
    try:
        from mlhpc.cli import main as run

        run()
    except KeyboardInterrupt:
        print("mlhpc: interrupted.", file=sys.stderr)
        sys.exit(128 + signal.SIGINT)


if __name__ == "__main__":
    main()
