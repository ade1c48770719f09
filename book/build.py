"""Build the site strictly: ``python book/build.py``. A warning is an error, and no network is needed.

Ends with Jupyter Book's exit status and one sentence that says where the site is.
"""

import argparse
import fcntl
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mlhpc.errors import MlhpcError
from mlhpc.interruption import terminate_as_interrupt

COURSE = Path(__file__).resolve().parents[1]
# A program's modules are looked for beside its file; those of the package book are one folder up.
sys.path[0] = str(COURSE)


def arguments() -> argparse.Namespace:
    """Return the parsed command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--source", type=Path, default=COURSE, help="folder that holds _config.yml and book/")
    parser.add_argument(
        "--site", metavar="NAME", help="build for one site (a profile in data/sites), not for all"
    )
    parser.add_argument("--verbose", action="store_true", help="show the progress of the build")
    return parser.parse_args()


@contextmanager
def alone_in(output: Path) -> Iterator[None]:
    """Wait until no other build writes to ``output``, and keep others waiting."""
    output.mkdir(exist_ok=True)
    with (output / ".lock").open("w") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield


def clear(output: Path) -> None:
    """Remove what an earlier build left: a strict build over it would not repeat the earlier warnings."""
    for folder in ("html", ".doctrees"):
        if (output / folder).exists():
            shutil.rmtree(output / folder)


def build(source: Path, *, verbose: bool) -> int:
    """Run Jupyter Book on ``source`` and return its exit status; warnings go to standard error.

    When this process is told to end, Jupyter Book ends first.
    """
    program = [sys.executable, "-c", "from jupyter_book.cli.main import main; main()"]
    files = ["--config", str(source / "_config.yml"), "--toc", str(source / "book" / "_toc.yml")]
    strict = ["-W", "-n", "--keep-going"]
    command = [*program, "build", str(source), *files, *strict]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    progress = None if verbose else subprocess.DEVNULL
    with subprocess.Popen(command, cwd=source, env=environment, stdout=progress) as child:
        try:
            return child.wait()
        except KeyboardInterrupt:
            child.terminate()
            raise


def main() -> int:
    """Clear, build, and say what came of it."""
    options = arguments()
    source = options.source.resolve()
    for name in ("_config.yml", "book/_toc.yml"):
        if not os.access(source / name, os.R_OK):
            print(
                f"site: cannot read {source / name}: name the course's folder with --source.", file=sys.stderr
            )
            return 2
    # Only now: the pages of sites belong to a course, and there may be none here.
    from book.site_pages import write_pages

    os.environ["MLHPC_COURSE"] = str(source)
    if options.site:
        os.environ["MLHPC_SITE_ONLY"] = options.site
    try:
        with terminate_as_interrupt(), alone_in(source / "_build"):
            write_pages(source / "book", options.site)
            clear(source / "_build")
            status = build(source, verbose=options.verbose)
    except KeyboardInterrupt:
        print("site: interrupted; run it again for a whole site.", file=sys.stderr)
        return 128 + signal.SIGINT
    except MlhpcError as error:
        print(f"site: {error}", file=sys.stderr)
        return error.exit_status
    except OSError as error:
        print(f"site: cannot write {error.filename}: {error.strerror}.", file=sys.stderr)
        return 1
    page = source / "_build" / "html" / "index.html"
    if status or not page.is_file():
        print(
            "site: the build failed; the warnings above say why, each with its file and line.",
            file=sys.stderr,
        )
        return status or 1
    print(f"site: built, open {page}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
