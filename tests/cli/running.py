"""Running the command line in this process, as its users see it: status, output, messages."""

import sys
from dataclasses import dataclass

import pytest

from mlhpc.cli import main


@dataclass(frozen=True)
class Done:
    """What a command left behind."""

    status: int
    output: str
    messages: str


class Runner:
    """Runs ``mlhpc`` with arguments."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self._monkeypatch = monkeypatch
        self._capsys = capsys

    def __call__(self, *arguments: str) -> Done:
        """Return status, standard output and standard error of ``mlhpc ARGUMENTS``."""
        self._monkeypatch.setattr(sys, "argv", ["mlhpc", *arguments])
        self._capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        captured = self._capsys.readouterr()
        code = ended.value.code
        return Done(code if isinstance(code, int) else int(code is not None), captured.out, captured.err)
