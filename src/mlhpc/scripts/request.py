"""What a user asks for, and the script that comes out."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Literal

from mlhpc.errors import UsageError
from mlhpc.sites.quantities import Duration, Size

ANY_GPU = "any"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+-]{0,63}", re.ASCII)
_ACCOUNT = re.compile(r"[A-Za-z0-9_.:+-]{1,64}", re.ASCII)
SIGNALS = ("USR1", "USR2", "TERM", "INT")


@dataclass(frozen=True)
class JobRequest:
    """One job on one node: a command, what it needs, and where its files go."""

    command: tuple[str, ...]
    """The program and its arguments, each as it shall arrive."""
    cluster: str | None = None
    """Id of the cluster; may be left out where the site has only one that fits."""
    gpu: str | None = None
    """Id of a kind of GPU, ``any`` for any kind, None for a job without one."""
    gpus: int = 1
    time: Duration | None = None
    cores: int = 1
    memory: Size | None = None
    partition: str | None = None
    category: str | None = None
    """HTCondor: the class of jobs, for instance ``long``."""
    account: str | None = None
    reservation: str | None = None
    name: str = "job"
    output: str = "logs"
    """Folder for the job's log, seen from where it is submitted."""
    stage_in: tuple[str, ...] = ()
    """Files and folders to copy to node-local storage first; the command then runs there."""
    stage_out: tuple[str, ...] = ()
    """Files and folders that the command makes there and that are copied back, whatever happens."""
    signal: str | None = None
    """Signal to send to the command before the time is up."""
    signal_seconds: int = 120
    environment: str | None = None
    """Folder of the Python environment to activate."""
    placeholders: bool = False
    """Write ``YOUR_ACCOUNT`` where an account must be named and none was given (for pages)."""

    def __post_init__(self) -> None:
        """Refuse what no batch script can hold."""
        if not self.command or not self.command[0]:
            raise UsageError(
                "A script needs a command: give --command 'python train.py', or -- python train.py."
            )
        for text in (*self.command, *self.stage_in, *self.stage_out, self.output, self.environment or ""):
            if "\0" in text:
                raise UsageError("A command or path cannot hold a NUL character: leave it out.")
        if not _NAME.fullmatch(self.name):
            raise UsageError(
                f"The job name {self.name!r} must be 1 to 64 letters, digits and _ . + -, and start with a "
                "letter or a digit."
            )
        for key, value in (("account", self.account), ("reservation", self.reservation)):
            if value is not None and not _ACCOUNT.fullmatch(value):
                raise UsageError(f"The {key} {value!r} must be letters, digits and _ . : + - only.")
        self._check_numbers()
        self._check_staging()

    def _check_numbers(self) -> None:
        for key, value in (
            ("gpus", self.gpus),
            ("cores", self.cores),
            ("signal-seconds", self.signal_seconds),
        ):
            if not 1 <= value <= 100_000:
                raise UsageError(f"--{key} is {value}: name a number from 1 to 100000.")
        if self.signal is not None and self.signal not in SIGNALS:
            raise UsageError(f"--signal {self.signal}: known are {', '.join(SIGNALS)}.")

    def _check_staging(self) -> None:
        names = [PurePosixPath(path).name for path in self.stage_in]
        doubled = sorted({name for name in names if names.count(name) > 1})
        if doubled:
            raise UsageError(f"Two staged paths are both called {doubled[0]}: they would meet in one folder.")
        for path in self.stage_in:
            if PurePosixPath(path).name in ("", ".", ".."):
                raise UsageError(f"--stage-in {path!r}: name a file or a folder inside it.")
        for path in self.stage_out:
            pure = PurePosixPath(path)
            if pure.is_absolute() or ".." in pure.parts or not pure.parts:
                raise UsageError(f"--stage-out {path!r} must be a path inside the job's working folder.")

    @property
    def staged(self) -> bool:
        """Whether the command runs in node-local storage."""
        return bool(self.stage_in or self.stage_out)


@dataclass(frozen=True)
class Script:
    """A batch script for Slurm, or a submit description for HTCondor with its wrapper."""

    kind: Literal["slurm", "htcondor"]
    text: str
    file_name: str
    submit: tuple[str, ...]
    """The lines to type, one command each, in the folder that holds the script."""
    companions: Mapping[str, str] = field(default_factory=dict)
    """Further files that belong beside it: name and text; they must be executable."""
    remarks: tuple[str, ...] = ()
    """What is not known, what sources disagree about, and what was assumed: one sentence each."""
