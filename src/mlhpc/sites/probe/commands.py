"""Asking the machine's own commands, and remembering which of them could not answer."""

import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field

SECONDS_TO_WAIT = 60
"""A scheduler that takes longer for one listing is in trouble; the probe goes on without it."""


@dataclass
class Commands:
    """Runs commands that only read, and keeps one sentence for each that gave nothing."""

    silent: list[str] = field(default_factory=list)

    def output(self, *command: str) -> str | None:
        """Return what ``command`` printed; None where it is missing, fails or hangs: see ``silent``."""
        if shutil.which(command[0]) is None:
            self._note(f"{command[0]} is not on this machine")
            return None
        try:
            answer = subprocess.run(
                command,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=SECONDS_TO_WAIT,
                check=False,
            )
        except subprocess.TimeoutExpired:
            self._note(f"{command[0]} gave no answer within {SECONDS_TO_WAIT} s")
            return None
        except OSError as error:
            self._note(f"{command[0]} could not be run: {error.strerror}")
            return None
        if answer.returncode:
            said = _last_line(answer.stderr) or f"exit status {answer.returncode}"
            self._note(f"{' '.join(command[:3])} failed: {said}")
            return None
        return answer.stdout

    def lines(self, *command: str) -> Sequence[str]:
        """Return the lines that ``command`` printed, without empty ones; none where it gave nothing."""
        return [line for line in (self.output(*command) or "").splitlines() if line.strip()]

    def _note(self, sentence: str) -> None:
        if sentence not in self.silent:
            self.silent.append(sentence)


def _last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1].strip() if lines else ""
