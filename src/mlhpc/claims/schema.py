"""The claim ledger as it stands in ``data/claims.yml``: what the course says, and who says so."""

from collections.abc import Iterator
from datetime import date
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from mlhpc.errors import UsageError
from mlhpc.records.query import Reference, parse_reference

Identifier = Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]
"""Lower-case words and numbers joined by hyphens; part of addresses on the site."""

FACTOR_UNITS = {"x": 1.0, "share": 1.0, "%": 100.0}
"""Units that a claim about a ratio may have, with the number that a ratio of one is in them."""


def _as_reference(value: Any) -> Any:
    """Turn the text form into a reference; pydantic reports a ValueError with its place."""
    if isinstance(value, str):
        try:
            return parse_reference(value)
        except UsageError as error:
            raise ValueError(str(error)) from error
    if not isinstance(value, Reference):
        raise ValueError("write it as one line of text, for instance resnet50?device=cpu#throughput")
    return value


def _as_text(value: Any) -> Any:
    """Turn what YAML reads as a date or a year into text."""
    return str(value) if isinstance(value, date | int) and not isinstance(value, bool) else value


def _as_list(value: Any) -> Any:
    """Allow one mapping in place of a list of one, and nothing in place of an empty list."""
    if value is None:
        return ()
    return (value,) if isinstance(value, dict) else value


Selection = Annotated[Reference, BeforeValidator(_as_reference)]
"""Records and a quantity of them, written as ``workload?name=value&...#quantity`` (see ``records.query``)."""


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, arbitrary_types_allowed=True)


class Source(_Model):
    """Who says something, and where that can be read."""

    title: str
    short: str | None = None
    """Name in running text, where the title is long."""
    where: str
    """Publisher, repository or place where it is found."""
    url: str | None = None
    date: Annotated[str, BeforeValidator(_as_text), Field(pattern=r"^\d{4}(-\d{2}){0,2}$")] | None = None
    """When it was published or last read as far as it is known: year, month or day."""
    kind: Literal[
        "course document", "benchmark", "data sheet", "documentation", "paper", "discussion", "own work"
    ]

    @property
    def name(self) -> str:
        """What a sentence calls it."""
        return self.short or self.title


class Value(_Model):
    """The claimed number: a range, a bound (only one end), or a single value."""

    low: float | None = None
    high: float | None = None
    value: float | None = None
    within: float = Field(default=0.1, ge=0, lt=1)
    """For a single value: the relative difference up to which a measured value agrees with it.

    The default of a tenth allows for another machine of the same kind. The rounding of the number itself
    (1.9 for 1.85 to 1.95) would be stricter than timings repeat.
    """

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        ends = [end for end in (self.low, self.high) if end is not None]
        if (self.value is None) == (not ends):
            raise ValueError("give either value, or low, high or both")
        if self.value is None and "within" in self.model_fields_set:
            raise ValueError("within belongs to a single value, not to a range")
        if len(ends) == 2 and ends[0] > ends[1]:
            raise ValueError(f"low ({ends[0]:g}) is above high ({ends[1]:g})")
        return self

    @property
    def ends(self) -> tuple[float, float]:
        """The range that agrees with the claim, in its unit; an open end is infinite."""
        if self.value is not None:
            margin = abs(self.value) * self.within
            return self.value - margin, self.value + margin
        low = self.low if self.low is not None else float("-inf")
        return low, self.high if self.high is not None else float("inf")

    @property
    def stated(self) -> tuple[float, float]:
        """The numbers as the source states them; equal for a single value, infinite for an open end."""
        return (self.value, self.value) if self.value is not None else self.ends


class RatioCheck(_Model):
    """The claim holds if the quotient of two measured quantities lies in its range.

    Both sides must have the same tier, unit and, where no quantity is named, metric; they are paired on one
    machine unless ``machines`` is ``any``.
    """

    kind: Literal["ratio"]
    numerator: Selection
    denominator: Selection
    match: tuple[str, ...] = ()
    """Parameters that must be equal on both sides of a pair, for instance ``[batch]``."""
    machines: Literal["same", "any"] = "same"


class ValueCheck(_Model):
    """The claim holds if a measured quantity lies in its range."""

    kind: Literal["value"]
    of: Selection


class ConsistencyCheck(_Model):
    """Arithmetic between claims: this claim's number, divided by that of another, must stay in bounds.

    The ends of both ranges are divided like with like, low by low and high by high: what gains least on one
    GPU is taken to gain least on four. Arithmetic can contradict a claim but not confirm it.
    """

    kind: Literal["consistency"]
    divided_by: Identifier
    at_least: float | None = None
    at_most: float | None = None
    because: str
    """Why the quotient cannot leave the bounds, in a few words."""

    @model_validator(mode="after")
    def _bounded(self) -> Self:
        if self.at_least is None and self.at_most is None:
            raise ValueError("give at_least, at_most or both")
        return self


Check = Annotated[RatioCheck | ValueCheck | ConsistencyCheck, Field(discriminator="kind")]


class Claim(_Model):
    """One number or rule that the course takes from a source."""

    id: Identifier
    statement: str
    """A whole sentence, as a reader of the ledger needs it."""
    source: Identifier
    where: str
    """Place in the source: table and row, section, line."""
    basis: Literal["stated", "derived", "estimate"] = "stated"
    """Whether the source states it, it follows from what the source states, or it comes from a model."""
    value: Value | None = None
    """None for a rule that has no number."""
    unit: str | None = None
    """``x`` for a factor; otherwise as in the records (``images/s``, ``s``, ``%``)."""
    condition: str | None = None
    """What the source says about when it holds."""
    depends_on: tuple[str, ...] = ()
    """What the number is known to depend on, for instance ``precision``."""
    confirm: Annotated[tuple[Check, ...], BeforeValidator(_as_list)] = ()
    """What would confirm or contradict it; empty where nothing that the course measures could."""

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if (self.value is None) != (self.unit is None):
            raise ValueError("value and unit go together: give both or neither")
        if self.confirm and self.value is None:
            raise ValueError("confirm needs a value to hold the measurement against")
        if any(check.kind == "ratio" for check in self.confirm) and self.unit not in FACTOR_UNITS:
            raise ValueError(f"a ratio has the unit {' or '.join(FACTOR_UNITS)}, not {self.unit}")
        return self


class LedgerFile(_Model):
    """The whole file."""

    version: Literal[1]
    sources: dict[Identifier, Source]
    claims: tuple[Claim, ...]

    def cross_faults(self) -> Iterator[tuple[tuple[str | int, ...], str]]:
        """Yield place and reason of each fault between entries: ids that are missing or stand twice."""
        position: dict[str, int] = {}
        for number, claim in enumerate(self.claims):
            if claim.id in position:
                yield (
                    ("claims", number, "id"),
                    f"the id {claim.id} belongs to claims[{position[claim.id]}] already",
                )
            position.setdefault(claim.id, number)
            if claim.source not in self.sources:
                yield ("claims", number, "source"), f"there is no source {claim.source} under sources"
        for number, claim in enumerate(self.claims):
            for check in claim.confirm:
                if isinstance(check, ConsistencyCheck):
                    yield from self._faults_of_consistency(number, claim, check, position)

    def _faults_of_consistency(
        self, number: int, claim: Claim, check: ConsistencyCheck, position: dict[str, int]
    ) -> Iterator[tuple[tuple[str | int, ...], str]]:
        place = ("claims", number, "confirm", claim.confirm.index(check), "divided_by")
        if check.divided_by not in position:
            yield place, f"there is no claim {check.divided_by}"
            return
        other = self.claims[position[check.divided_by]]
        if other.value is None or other.unit != claim.unit:
            yield (
                place,
                f"{other.id} has the unit {other.unit}, this claim {claim.unit}; they cannot be divided",
            )
        elif not all(0 < end < float("inf") for end in (*other.value.stated, *claim.value.stated)):  # type: ignore[union-attr]
            yield place, "both claims need two ends above zero to be divided"
