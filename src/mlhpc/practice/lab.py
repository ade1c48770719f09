"""One running practice cluster: its folder, its ports, and what it has started."""

import json
import os
import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mlhpc.errors import MlhpcError, UsageError
from mlhpc.files import write_atomically

LONGEST_FOLDER = 80
"""Bytes. A socket's path ends at 107 on Linux, and the longest name below the folder takes the rest."""


def default_folder(name: str) -> Path:
    """Return the folder of the practice cluster called ``name``: in main memory where the machine allows it.

    ``MLHPC_PRACTICE`` names another folder to hold all of them.
    """
    setting = os.environ.get("MLHPC_PRACTICE")
    if setting:
        return Path(setting).absolute() / name
    memory = Path("/dev/shm")
    base = memory if os.access(memory, os.W_OK | os.X_OK) else Path("/tmp")
    return base / f"mlhpc-practice-{os.getuid()}" / name


@dataclass(frozen=True)
class Lab:
    """The folder that holds all state of one practice cluster."""

    folder: Path

    def __post_init__(self) -> None:
        """Refuse a folder in which sockets could not be made."""
        if len(os.fsencode(self.folder)) > LONGEST_FOLDER:
            raise UsageError(
                f"{self.folder} is too long a path for the practice cluster (sockets end at 107 characters): "
                f"set MLHPC_PRACTICE to a folder of at most {LONGEST_FOLDER} characters."
            )

    @property
    def notebook(self) -> Path:
        """The file that says what was started: process ids, ports, settings."""
        return self.folder / "lab.json"

    def path(self, *parts: str) -> Path:
        """Return a path in the folder."""
        return self.folder.joinpath(*parts)

    def make(self, *folders: str) -> None:
        """Make folders inside, readable by others as jobs may run under other accounts."""
        for name in folders:
            self.path(name).mkdir(parents=True, exist_ok=True, mode=0o755)

    def read(self) -> dict[str, Any]:
        """Return what was written down; empty if the folder holds no practice cluster or a damaged note."""
        try:
            data = json.loads(self.notebook.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return data if isinstance(data, dict) else {}

    def note(self, **entries: Any) -> None:
        """Add entries to what is written down."""
        write_atomically(self.notebook, json.dumps({**self.read(), **entries}, indent=1) + "\n")


def free_ports(count: int) -> tuple[int, ...]:
    """Return ports of the loopback interface that nobody uses now, each different.

    Raises:
        MlhpcError: if the loopback interface is down.
    """
    with _open_sockets(count) as sockets:
        return tuple(one.getsockname()[1] for one in sockets)


@contextmanager
def _open_sockets(count: int) -> Iterator[Sequence[socket.socket]]:
    opened: list[socket.socket] = []
    try:
        for _ in range(count):
            one = socket.socket()
            opened.append(one)
            one.bind(("127.0.0.1", 0))
        yield opened
    except OSError as error:
        raise MlhpcError(
            f"No port of the loopback interface can be used ({error.strerror}): is 127.0.0.1 up?"
        ) from error
    finally:
        for one in opened:
            one.close()


def environment(lab: Lab, entries: Mapping[str, str], commands: Path) -> dict[str, str]:
    """Return this environment without a scheduler's variables, with ``entries`` and the commands."""
    foreign = (
        "SLURM_",
        "SBATCH_",
        "SALLOC_",
        "SACCT_",
        "SQUEUE_",
        "SINFO_",
        "_CONDOR_",
        "CONDOR_",
        "BATCH_GAHP",
    )
    kept = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
    path = os.pathsep.join((str(commands), kept.get("PATH", "/usr/bin:/bin")))
    return {**kept, **entries, "PATH": path, "MLHPC_PRACTICE_LAB": str(lab.folder)}
