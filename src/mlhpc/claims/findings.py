"""Findings: what usable records measured for one claim, and which records could not be used."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from mlhpc.claims.schema import FACTOR_UNITS, Claim, RatioCheck, ValueCheck
from mlhpc.errors import UsageError
from mlhpc.records.compare import quotient, ratio_interval, why_no_verdict
from mlhpc.records.query import Reference, machine_identity, measured, newest, select
from mlhpc.records.schema import Quantity, Record, Scalar
from mlhpc.records.summary import NOISY_LIMIT

WIDEST = 2 * NOISY_LIMIT
"""Width of an interval, as a share of its value, above which the value tells nothing."""


@dataclass(frozen=True)
class Finding:
    """One measured value for a claim."""

    quantity: Quantity
    """In the claim's unit; without ``low`` and ``high`` where the value has no interval."""
    agrees: bool
    records: tuple[str, ...]
    """Ids behind it: one, or numerator and denominator."""
    properties: dict[str, Scalar]
    """What was chosen and on what machine, by name; sides of a ratio that differ are told apart."""


def find(claim: Claim, one: RatioCheck | ValueCheck, records: Sequence[Record]) -> Iterator[Finding | str]:
    """Yield a finding for each usable record or pair of records, and in a few words each obstacle."""
    if isinstance(one, RatioCheck):
        yield from _ratios(claim, one, records)
    else:
        yield from _values(claim, one, records)


def _values(claim: Claim, one: ValueCheck, records: Sequence[Record]) -> Iterator[Finding | str]:
    """Yield a finding for each usable record, and a few words for each obstacle."""
    usable, obstacles = _usable(one.of, records)
    yield from obstacles
    for record in usable:
        quantity = measured(record, one.of.quantity)
        if quantity.unit != claim.unit:
            yield f"{record.id} is in {quantity.unit}, the claim in {claim.unit}"
            continue
        yield _judged(claim, quantity, (record,), _properties(record))


def _ratios(claim: Claim, one: RatioCheck, records: Sequence[Record]) -> Iterator[Finding | str]:
    """Yield a finding for each usable pair of records, and a few words for each obstacle."""
    tops, obstacles = _usable(one.numerator, records)
    yield from obstacles
    bottoms, obstacles = _usable(one.denominator, records)
    yield from obstacles
    pairs = [pair for pair in product(tops, bottoms) if _belong_together(one, *pair)]
    if tops and bottoms and not pairs:
        yield (
            "no two records of both sides have the same tier, unit"
            + (" and machine" if one.machines == "same" else "")
            + (f" and {', '.join(one.match)}" if one.match else "")
        )
    for top, bottom in pairs:
        try:
            ratio = _ratio(one, top, bottom)
        except ValueError as error:
            yield f"{top.id} and {bottom.id}: {error}"
            continue
        factor = FACTOR_UNITS[claim.unit or "x"]
        low, high = (None if end is None else end * factor for end in (ratio.low, ratio.high))
        scaled = Quantity(value=ratio.value * factor, unit=claim.unit or "x", low=low, high=high)
        yield _judged(claim, scaled, (top, bottom), _pair_properties(top, bottom))


def _usable(reference: Reference, records: Sequence[Record]) -> tuple[tuple[Record, ...], list[str]]:
    """Return the records of a selection that may count, and why the others may not."""
    found = select(records, reference.query)
    if not found:
        return (), [f"no record matches {reference}"]
    obstacles: list[str] = []
    strong: list[Record] = []
    for record in found:
        reason = _why_unusable(record, reference.quantity)
        if reason:
            obstacles.append(reason)
        else:
            strong.append(record)
    return newest(strong), obstacles


def _why_unusable(record: Record, quantity: str | None) -> str | None:
    if record.tier == "smoke":
        return f"{record.id} is of the smoke tier, which only shows that {record.workload} runs"
    weak = why_no_verdict(record)
    if weak:
        return weak
    try:
        value = measured(record, quantity)
    except UsageError as error:
        return str(error).rstrip(".")
    if value.low is not None and value.high is not None:
        width = value.high - value.low
        if width > WIDEST * abs(value.value):
            return f"the interval of {record.id} is wider than {WIDEST:.0%} of its value"
    return None


def _belong_together(one: RatioCheck, top: Record, bottom: Record) -> bool:
    """Return whether a quotient of two records means anything; a record is never divided by itself."""
    same_metric = top.metric == bottom.metric or None not in (
        one.numerator.quantity,
        one.denominator.quantity,
    )
    units = {measured(top, one.numerator.quantity).unit, measured(bottom, one.denominator.quantity).unit}
    return (
        top.id != bottom.id
        and top.tier == bottom.tier
        and same_metric
        and len(units) == 1
        and (one.machines == "any" or machine_identity(top.machine) == machine_identity(bottom.machine))
        and all(
            name in top.parameters and top.parameters[name] == bottom.parameters.get(name)
            for name in one.match
        )
    )


def _ratio(one: RatioCheck, top: Record, bottom: Record) -> Quantity:
    """Return the quotient with its interval: resampled for medians, from both intervals for quantities."""
    if one.numerator.quantity is None and one.denominator.quantity is None:
        low, high = ratio_interval(top.samples, bottom.samples)
        return Quantity(value=top.summary.median / bottom.summary.median, unit="x", low=low, high=high)
    return quotient(measured(top, one.numerator.quantity), measured(bottom, one.denominator.quantity))


def _judged(
    claim: Claim, quantity: Quantity, records: tuple[Record, ...], properties: dict[str, Scalar]
) -> Finding:
    """Return the finding: it agrees where its interval touches the claimed range."""
    assert claim.value is not None  # the schema refuses a check without a value
    lowest, highest = claim.value.ends
    low = quantity.value if quantity.low is None else quantity.low
    high = quantity.value if quantity.high is None else quantity.high
    agrees = low <= highest and high >= lowest
    return Finding(quantity, agrees, tuple(record.id for record in records), properties)


def _properties(record: Record) -> dict[str, Scalar]:
    """Return what a measurement may depend on."""
    on_gpu = record.parameters.get("device") == "cuda"
    gpus = sorted({gpu.name for gpu in record.machine.gpus}) if on_gpu else []
    return {
        **record.parameters,
        "tier": record.tier,
        "processor": record.machine.cpu.model,
        "usable cores": record.machine.cpu.cores_usable,
        **({"GPU": ", ".join(gpus)} if gpus else {}),
    }


def _pair_properties(top: Record, bottom: Record) -> dict[str, Scalar]:
    """Return the properties of a pair: once where both sides agree, else told apart."""
    above, below = _properties(top), _properties(bottom)
    joined: dict[str, Scalar] = {}
    for name in dict.fromkeys((*above, *below)):
        if name in above and name in below and above[name] == below[name]:
            joined[name] = above[name]
            continue
        joined |= {f"{name} of the numerator": above[name]} if name in above else {}
        joined |= {f"{name} of the denominator": below[name]} if name in below else {}
    return joined
