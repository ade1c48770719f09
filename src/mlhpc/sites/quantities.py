"""Times and sizes as people write them in a profile: always with a unit, never a bare number."""

import re
from dataclasses import dataclass
from decimal import Decimal
from functools import total_ordering
from typing import Any, Self

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import core_schema

_SECONDS = {
    "s": 1, "second": 1, "seconds": 1,
    "min": 60, "minute": 60, "minutes": 60,
    "h": 3600, "hour": 3600, "hours": 3600,
    "day": 86400, "days": 86400,
    "week": 604800, "weeks": 604800,
}  # fmt: skip
_BYTES = {
    "B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "PB": 10**15,
    "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40, "PiB": 2**50,
}  # fmt: skip
_NUMBER = r"\d{1,9}(?:\.\d{1,6})?"
DURATION_PATTERN = rf"^{_NUMBER} ?(?:{'|'.join(_SECONDS)})(?: {_NUMBER} ?(?:{'|'.join(_SECONDS)}))*$"
SIZE_PATTERN = rf"^{_NUMBER} ?(?:{'|'.join(_BYTES)})$"


class _Quantity:
    """What times and sizes share: they are read from text and shown as they were written."""

    text: str

    def __str__(self) -> str:
        return self.text

    @classmethod
    def parse(cls, text: str) -> Self:
        raise NotImplementedError

    @classmethod
    def read(cls, value: Any, or_else: str | None = None) -> Self:
        """Return ``value`` as it stands in a profile; ``or_else`` names a word that the error adds.

        Raises:
            ValueError: if it is not text with a number and a unit.
        """
        if isinstance(value, cls):
            return value
        if not isinstance(value, str):
            example = f"{cls._EXAMPLE}{f', or {or_else}' if or_else else ''}"
            raise ValueError(f"{value!r} has no unit; write {example}")
        return cls.parse(value)

    _EXAMPLE = ""
    _PATTERN = ""

    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: Any, handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        return core_schema.no_info_plain_validator_function(
            cls.read, serialization=core_schema.plain_serializer_function_ser_schema(str)
        )

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return {"type": "string", "pattern": cls._PATTERN, "examples": [cls._EXAMPLE]}


@total_ordering
@dataclass(frozen=True, eq=False)
class Duration(_Quantity):
    """A span of time, for instance ``168 h``, ``7 days`` or ``12 h 30 min``."""

    seconds: float
    text: str
    _EXAMPLE = "'7 days', '48 h' or '30 min'"
    _PATTERN = DURATION_PATTERN

    @classmethod
    def parse(cls, text: str) -> "Duration":
        """Return the span that ``text`` names.

        Raises:
            ValueError: if it is not a sequence of numbers with a unit of time.
        """
        if not re.fullmatch(DURATION_PATTERN, text, re.ASCII):
            raise ValueError(f"{text!r} is not a time with a unit; write {cls._EXAMPLE}")
        parts = re.findall(rf"({_NUMBER}) ?([a-z]+)", text, re.ASCII)
        return cls(sum(float(number) * _SECONDS[unit] for number, unit in parts), text)

    @property
    def hours(self) -> float:
        """The span in hours."""
        return self.seconds / 3600

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Duration) and self.seconds == other.seconds

    def __lt__(self, other: "Duration") -> bool:
        return self.seconds < other.seconds

    def __hash__(self) -> int:
        return hash(self.seconds)


@total_ordering
@dataclass(frozen=True, eq=False)
class Size(_Quantity):
    """An amount of memory or storage, for instance ``80 GB`` (10^9 bytes each) or ``178 GiB`` (2^30 each)."""

    bytes: int
    text: str
    _EXAMPLE = "'80 GB', '178 GiB' or '1 TB'"
    _PATTERN = SIZE_PATTERN

    @classmethod
    def parse(cls, text: str) -> "Size":
        """Return the amount that ``text`` names.

        Raises:
            ValueError: if it is not a number with a unit from B to PB or from KiB to PiB.
        """
        match = re.fullmatch(rf"({_NUMBER}) ?([A-Za-z]+)", text, re.ASCII)
        if match is None or match[2] not in _BYTES:
            raise ValueError(f"{text!r} is not a size with a unit; write {cls._EXAMPLE}")
        return cls(round(Decimal(match[1]) * _BYTES[match[2]]), text)

    @property
    def mebibytes(self) -> int:
        """The amount in whole MiB, rounded down: the unit that Slurm and HTCondor count memory in."""
        return self.bytes // 2**20

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Size) and self.bytes == other.bytes

    def __lt__(self, other: "Size") -> bool:
        return self.bytes < other.bytes

    def __hash__(self) -> int:
        return hash(self.bytes)
