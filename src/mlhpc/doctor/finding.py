"""What a check found."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Finding:
    """The result of one check."""

    check: str
    state: Literal["ok", "failed", "not checked"]
    text: str
    """One sentence: what was seen; for ``failed`` with the way out, for ``not checked`` with the reason."""
