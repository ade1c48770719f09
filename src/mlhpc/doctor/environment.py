"""The environment: does its Python run, and can another account read it?"""

import os
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

from mlhpc.doctor.finding import Finding

SECONDS_TO_START = 120
"""A Python that imports from a cold network file system may take a minute; more than this is a fault."""
MODULES = ("numpy", "pandas", "sklearn", "xgboost", "torch", "ipykernel", "mlhpc")
SHOWN = 3


def check_python(environment: Path) -> Finding:
    """Import the course's packages with the environment's own Python."""
    python = environment / "bin" / "python"
    program = f"import {', '.join(MODULES)}; print(torch.__version__)"
    variables = {**os.environ, "PYTHONNOUSERSITE": "1"}
    try:
        done = subprocess.run(
            [str(python), "-c", program],
            capture_output=True,
            text=True,
            timeout=SECONDS_TO_START,
            check=False,
            env=variables,
        )
    except OSError as error:
        way = "make the environment there, or name another with --environment"
        return Finding("environment", "failed", f"{python} cannot be run ({error.strerror}): {way}.")
    except subprocess.TimeoutExpired:
        way = "is its file system overloaded?"
        return Finding("environment", "failed", f"{python} did not start within {SECONDS_TO_START} s: {way}")
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        way = "install the environment again (make setup)"
        return Finding(
            "environment", "failed", f"{python} cannot import the course's packages ({last}): {way}."
        )
    return Finding(
        "environment", "ok", f"{python} imports {', '.join(MODULES)}; torch {done.stdout.strip()}."
    )


def check_readable(environment: Path, course: Path) -> Finding:
    """Look for files of the environment and the course that accounts outside of their group cannot read."""
    hidden = list(_hidden_above(environment)) or list(_hidden_inside((environment, course)))
    if not hidden:
        return Finding("readable by all", "ok", f"{environment} and {course} can be read by every account.")
    shown = ", ".join(map(str, hidden[:SHOWN]))
    more = f" and {len(hidden) - SHOWN} more" if len(hidden) > SHOWN else ""
    return Finding(
        "readable by all",
        "failed",
        f"Other accounts cannot read {shown}{more}: chmod -R o+rX {hidden[0]} (an environment made under "
        "umask 077 looks like this).",
    )


def _hidden_above(path: Path) -> Iterator[Path]:
    """Yield the folders above that others cannot pass through."""
    for folder in reversed(path.resolve().parents):
        try:
            if not folder.stat().st_mode & stat.S_IXOTH:
                yield folder
        except OSError:
            yield folder


def _hidden_inside(roots: tuple[Path, ...]) -> Iterator[Path]:
    """Yield what others cannot read, down to the packages: below, a package is readable or not as a whole."""
    for root in roots:
        patterns = ("", "bin/*", "lib/python*/site-packages/*", "notebooks/*", "data/*")
        for pattern in patterns:
            for path in sorted(root.glob(pattern)) if pattern else [root]:
                if not _open_to_all(path):
                    yield path


def _open_to_all(path: Path) -> bool:
    try:
        mode = path.stat().st_mode
    except OSError:
        # A link to nowhere hides nothing that worked before.
        return not path.is_symlink() or path.exists()
    needed = stat.S_IROTH | (stat.S_IXOTH if stat.S_ISDIR(mode) else 0)
    return mode & needed == needed
