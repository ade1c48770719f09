"""What a check has found: a place and a sentence."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Finding:
    """A fault in a lesson that its author can mend."""

    path: Path | None
    """The file at fault; None where the message names it."""
    line: int | None
    """Line in ``path``, from 1; None where the fault belongs to no line."""
    message: str

    def __str__(self) -> str:
        if self.path is None:
            return self.message
        place = str(self.path) if self.line is None else f"{self.path}:{self.line}"
        return f"{place}: {self.message}"
