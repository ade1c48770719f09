"""Where the practice cluster's programs are kept, and which packages they come from."""

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from mlhpc.errors import UsageError
from mlhpc.paths import course_root

Engine = Literal["slurm", "htcondor"]
ENGINES: tuple[Engine, ...] = get_args(Engine)

RELEASE = "trixie"
"""Debian 13: its Slurm (24.11) and HTCondor (23.9) are the versions that the lessons are written for."""
LAYOUT = "1"
"""Raised when the way of unpacking or patching changes: an older prefix is then made anew."""


def cache_folder() -> Path:
    """Return the folder that holds installed programs, outside the checkout.

    ``MLHPC_PRACTICE_CACHE`` overrides the default, the platform's cache folder (``~/.cache/mlhpc/practice``).

    Raises:
        UsageError: if this account has no home folder.
    """
    setting = os.environ.get("MLHPC_PRACTICE_CACHE")
    if setting:
        return Path(setting).absolute()
    from platformdirs import user_cache_path

    try:
        return user_cache_path("mlhpc") / "practice"
    except RuntimeError as error:
        raise UsageError("This account has no home folder: set MLHPC_PRACTICE_CACHE to one.") from error


@dataclass(frozen=True)
class Prefix:
    """The folder into which the packages of one engine are unpacked."""

    engine: Engine
    packages: tuple[str, ...]
    folder: Path

    @property
    def record(self) -> Path:
        """The file that says what was installed; it is written last, so that it stands for a whole prefix."""
        return self.folder / "installed.json"

    @property
    def libraries(self) -> Path:
        """The folder of shared libraries."""
        return self.folder / "usr/lib/x86_64-linux-gnu"

    @property
    def commands(self) -> Path:
        """The folder to put on the path: it holds this engine's commands and nothing else."""
        return self.folder / "commands"

    @property
    def ready(self) -> bool:
        """Whether it was installed to the end."""
        return self.record.is_file()


def prefix(engine: Engine) -> Prefix:
    """Return the prefix of one engine; another list of packages has another folder."""
    packages = _packages(engine)
    contents = "\n".join((RELEASE, LAYOUT, *packages))
    digest = hashlib.sha256(contents.encode()).hexdigest()[:8]
    return Prefix(engine, packages, cache_folder() / f"{engine}-{RELEASE}-{digest}")


def _packages(engine: Engine) -> tuple[str, ...]:
    lines = (course_root() / "practice" / f"{engine}-packages.txt").read_text(encoding="utf-8").splitlines()
    return tuple(line.strip() for line in lines if line.strip() and not line.startswith("#"))
