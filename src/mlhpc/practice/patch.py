"""Programs and libraries of another Debian release made to find their own libraries, wherever they lie.

Each program gets the prefix's own dynamic linker, and each file a search path (``DT_RPATH``) into the prefix.
No variable such as ``LD_LIBRARY_PATH`` is needed, so that jobs use the host's Python and libraries unchanged.
"""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from mlhpc.errors import MlhpcError
from mlhpc.practice.places import Prefix

LINKER = "ld-linux-x86-64.so.2"
C_LIBRARY = ("libc.so.", "libm.so.", "libpthread.so.", "libdl.so.", "librt.so.", "libresolv.so.", "ld-linux")
"""The C library's own parts find each other; patchelf can damage them."""
DYNAMIC = b"\x7fELF"


def patch(prefix: Prefix) -> int:
    """Patch all programs and libraries under the prefix and return how many there were.

    Raises:
        MlhpcError: if patchelf is missing or refuses a file.
    """
    search = ":".join(str(folder) for folder in _library_folders(prefix))
    linker = prefix.libraries / LINKER
    count = 0
    for path in _binaries(prefix.folder / "usr"):
        interpreter = ["--set-interpreter", str(linker)] if _has_interpreter(path) else []
        _patchelf(*interpreter, "--force-rpath", "--set-rpath", search, str(path))
        count += 1
    return count


def _library_folders(prefix: Prefix) -> tuple[Path, ...]:
    usr = prefix.folder / "usr"
    plugins = (prefix.libraries / "slurm-wlm",) if prefix.engine == "slurm" else (usr / "lib/condor",)
    return (prefix.libraries, *plugins, usr / "lib")


def _binaries(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        if path.is_symlink() or not path.is_file() or path.name.startswith(C_LIBRARY):
            continue
        with path.open("rb") as stream:
            if stream.read(4) == DYNAMIC and not path.name.endswith((".o", ".a")):
                yield path


def _has_interpreter(path: Path) -> bool:
    """Return whether the file is a program; a few libraries have an interpreter, too, and keep it."""
    if ".so" in path.name:
        return False
    asked = subprocess.run([_program(), "--print-interpreter", str(path)], capture_output=True, check=False)
    return asked.returncode == 0


def _program() -> str:
    return str(Path(sys.executable).parent / "patchelf")


def _patchelf(*arguments: str) -> None:
    try:
        done = subprocess.run([_program(), *arguments], capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        raise MlhpcError("patchelf is not in this environment: run make setup again.") from error
    if done.returncode and "cannot find section '.dynamic'" not in done.stderr:
        # A program that is linked statically needs no libraries, and is left as it is.
        raise MlhpcError(f"patchelf refused {arguments[-1]}: {done.stderr.strip()[-160:]}.")
