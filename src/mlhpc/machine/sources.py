"""Where the facts about a machine come from: the file system and the environment, both exchangeable."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePath


@dataclass(frozen=True)
class Sources:
    """The file system root and the environment to read; tests give a fake tree and a mapping of their own."""

    root: Path = Path("/")
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ)

    def text(self, path: str | PurePath) -> str | None:
        """Return the content of an absolute path below ``root``; None where it cannot be read.

        A file that is missing or closed to this user is no fault: every system lacks some of them.
        """
        try:
            return (self.root / str(path).lstrip("/")).read_text(encoding="utf-8", errors="replace")
        except OSError:
            return None

    def integer(self, name: str) -> int | None:
        """Return an environment variable as a whole number; None where it is unset or something else."""
        value = self.environment.get(name, "").strip()
        return int(value) if value.isascii() and value.isdigit() else None
