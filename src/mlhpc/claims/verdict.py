"""Holding claims against records: what confirms a claim, what contradicts it, and what it depends on.

How a verdict comes about:

1. The records that a claim's query finds are reduced to usable ones: no smoke tier, not noisy, enough
   samples, right numerics, and of each thing on each machine the newest. The rest is named in the reason.
2. Each usable record, or each pair of them for a ratio, gives a value with an interval. It agrees with the
   claim if its interval touches the claimed range, and disagrees only if the whole interval lies outside. A
   value whose interval is wider than half of it tells neither.
3. All values agree: confirmed. All disagree: contradicted. Some of each: depends, with the parameters and
   machine properties in which the agreeing differ from the disagreeing. None at all: cited only.
4. Arithmetic between claims can contradict a claim that nothing measures, but never confirms one.

So a wider claimed range is never confirmed less, and a busy machine never contradicts anybody.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from mlhpc.claims.findings import Finding, find
from mlhpc.claims.ledger import Ledger
from mlhpc.claims.schema import Claim, ConsistencyCheck
from mlhpc.formatting import format_number, format_range, format_value
from mlhpc.records.schema import Record, Scalar

Outcome = Literal["confirmed", "contradicted", "depends", "cited only"]
_NAMED = 3
"""Reasons for unusable records that a sentence spells out."""


@dataclass(frozen=True)
class Dependence:
    """Something in which the agreeing and the disagreeing measurements have no value in common."""

    name: str
    agrees_with: tuple[Scalar, ...]
    disagrees_with: tuple[Scalar, ...]

    def __str__(self) -> str:
        agrees, disagrees = (", ".join(map(_word, side)) for side in (self.agrees_with, self.disagrees_with))
        return f"{self.name} (agrees with {agrees}; disagrees with {disagrees})"


@dataclass(frozen=True)
class Verdict:
    """What the records say about one claim."""

    claim: Claim
    verdict: Outcome
    findings: tuple[Finding, ...]
    depends: tuple[Dependence, ...]
    """Filled for ``depends``: each of these alone tells agreeing from disagreeing measurements."""
    reason: str
    """One or two sentences."""

    @property
    def records(self) -> tuple[str, ...]:
        """Ids of all records behind the verdict, each once."""
        return tuple(dict.fromkeys(identifier for finding in self.findings for identifier in finding.records))

    def measured_text(self) -> str:
        """Return the measured value with its interval, the span of several, or an empty text for none."""
        if not self.findings:
            return ""
        quantities = [finding.quantity for finding in self.findings]
        unit = quantities[0].unit
        if len(quantities) > 1:
            values = [quantity.value for quantity in quantities]
            return format_range(min(values), max(values), unit)
        only = quantities[0]
        if only.low is None or only.high is None:
            return format_value(only.value, unit)
        return f"{format_value(only.value, unit)} [{format_range(only.low, only.high, unit)}]"


def check(ledger: Ledger, records: Iterable[Record]) -> tuple[Verdict, ...]:
    """Return the verdict on each claim of ``ledger``, in its order, from ``records``."""
    everything = tuple(records)
    return tuple(check_one(claim, ledger, everything) for claim in ledger.claims)


def check_one(claim: Claim, ledger: Ledger, records: Sequence[Record]) -> Verdict:
    """Return the verdict on one claim; ``ledger`` holds the claims that arithmetic may refer to."""
    findings: list[Finding] = []
    obstacles: list[str] = []
    arithmetic: list[tuple[Outcome, str]] = []
    for one in claim.confirm:
        if isinstance(one, ConsistencyCheck):
            arithmetic.append(_consistency(claim, one, ledger))
            continue
        for result in find(claim, one, records):
            if isinstance(result, Finding):
                findings.append(result)
            else:
                obstacles.append(result)
    return _conclude(claim, findings, list(dict.fromkeys(obstacles)), arithmetic)


def _conclude(
    claim: Claim, findings: list[Finding], obstacles: list[str], arithmetic: list[tuple[Outcome, str]]
) -> Verdict:
    """Put measured values and arithmetic together."""
    depends = _dependences(findings)
    agreeing = sum(finding.agrees for finding in findings)
    outcomes = {outcome for outcome, _ in arithmetic}
    sentences = [sentence for _, sentence in arithmetic]
    verdict: Outcome
    if "contradicted" in outcomes or (findings and agreeing == 0):
        verdict = "contradicted"
    elif agreeing < len(findings) or "depends" in outcomes:
        verdict = "depends"
    else:
        verdict = "confirmed" if findings else "cited only"
    if findings:
        sentences.insert(0, _counted(findings))
    if 0 < agreeing < len(findings):
        sentences.append(_dependence_sentence(depends))
    if not claim.confirm:
        sentences.append("Nothing that the course measures could confirm it.")
    elif obstacles:
        more = f"; and {len(obstacles) - _NAMED} more" if len(obstacles) > _NAMED else ""
        prefix = "Not counted: " if findings else "Not measured: "
        sentences.append(f"{prefix}{'; '.join(obstacles[:_NAMED])}{more}.")
    return Verdict(claim, verdict, tuple(findings), depends, " ".join(sentences))


def _counted(findings: Sequence[Finding]) -> str:
    agreeing = sum(finding.agrees for finding in findings)
    if len(findings) == 1:
        return f"The measured value {'agrees' if agreeing else 'lies outside'}."
    return f"{agreeing} of {len(findings)} measured values agree."


def _dependence_sentence(depends: Sequence[Dependence]) -> str:
    if depends:
        return f"It depends on {'; '.join(map(str, depends))}."
    return "No single parameter tells the agreeing values from the others."


def _dependences(findings: Sequence[Finding]) -> tuple[Dependence, ...]:
    """Return the properties that alone tell agreeing from disagreeing findings."""
    names = dict.fromkeys(name for finding in findings for name in finding.properties)
    found = []
    for name in names:
        sides: dict[bool, dict[str, Scalar]] = {True: {}, False: {}}
        for finding in findings:
            value = finding.properties.get(name)
            sides[finding.agrees][json.dumps(value)] = value
        if sides[True] and sides[False] and not sides[True].keys() & sides[False].keys():
            found.append(Dependence(name, *(tuple(sides[side].values()) for side in (True, False))))
    return tuple(found)


def _word(value: Scalar) -> str:
    return "none" if value is None else str(value)


def _consistency(claim: Claim, one: ConsistencyCheck, ledger: Ledger) -> tuple[Outcome, str]:
    """Return what arithmetic between this claim and another says, with the sentence that shows it."""
    other = ledger.claim(one.divided_by)
    assert claim.value is not None  # the schema and the ledger refuse claims without numbers here
    assert other.value is not None
    quotients = [mine / its for mine, its in zip(claim.value.stated, other.value.stated, strict=True)]
    lowest = float("-inf") if one.at_least is None else one.at_least
    highest = float("inf") if one.at_most is None else one.at_most
    fitting = [lowest <= value <= highest for value in quotients]
    shown = " and ".join(dict.fromkeys(f"{format_number(value)}" for value in quotients))
    bounds = [
        f"{word} {end:g}"
        for word, end in (("at least", one.at_least), ("at most", one.at_most))
        if end is not None
    ]
    sentence = (
        f"Divided by {other.id}, its ends give {shown}; "
        f"{' and '.join(bounds)} is possible, because {one.because.rstrip('.')}."
    )
    if all(fitting):
        return "cited only", sentence
    return ("depends" if any(fitting) else "contradicted"), sentence
