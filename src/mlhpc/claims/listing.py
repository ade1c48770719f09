"""The claim ledger as text for a terminal and as data for programs."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, get_args

from mlhpc.claims.ledger import Ledger
from mlhpc.claims.schema import Claim, ConsistencyCheck, RatioCheck
from mlhpc.claims.verdict import Outcome, Verdict
from mlhpc.formatting import with_unit
from mlhpc.text_table import format_table


def stated_text(claim: Claim) -> str:
    """Return what the source states, every digit of it: ``15 to 20×``, ``at most 4×``, ``-`` for a rule."""
    if claim.value is None or claim.unit is None:
        return "-"
    low, high = claim.value.stated
    shown = [f"{end:,.10g}" for end in (low, high)]
    if claim.value.value is not None or low == high:
        text = shown[0]
    elif claim.value.low is None:
        text = f"at most {shown[1]}"
    elif claim.value.high is None:
        text = f"at least {shown[0]}"
    else:
        text = " to ".join(shown)
    return with_unit(text, claim.unit)


def ledger_text(verdicts: Sequence[Verdict]) -> str:
    """Return a line per claim, then how many have which verdict."""
    rows = [
        (
            verdict.claim.id,
            stated_text(verdict.claim),
            verdict.claim.source,
            verdict.measured_text() or "-",
            verdict.verdict,
        )
        for verdict in verdicts
    ]
    counts = Counter(verdict.verdict for verdict in verdicts)
    total = ", ".join(f"{counts[outcome]} {outcome}" for outcome in get_args(Outcome))
    table = format_table(("id", "claim", "source", "measured", "verdict"), rows)
    return f"{table}\n\n{len(verdicts)} claim{'' if len(verdicts) == 1 else 's'}: {total}."


def claim_text(verdict: Verdict, ledger: Ledger) -> str:
    """Return everything about one claim, a name and a value on each line."""
    return "\n".join(f"{name:<14}{value}" for name, value in _entries(verdict, ledger))


def _entries(verdict: Verdict, ledger: Ledger) -> Iterator[tuple[str, str]]:
    claim, source = verdict.claim, ledger.sources[verdict.claim.source]
    yield "id", claim.id
    yield "statement", claim.statement
    yield "claim", f"{stated_text(claim)} ({claim.basis})"
    yield "source", f"{source.title}, {claim.where}"
    yield "found at", source.url or source.where
    if claim.condition:
        yield "condition", claim.condition
    if claim.depends_on:
        yield "depends on", ", ".join(claim.depends_on)
    for check in claim.confirm:
        if isinstance(check, ConsistencyCheck):
            yield "arithmetic", f"divided by {check.divided_by}, as {check.because}"
        elif isinstance(check, RatioCheck):
            yield "measured by", f"{check.numerator} / {check.denominator}"
        else:
            yield "measured by", str(check.of)
    yield "measured", verdict.measured_text() or "-"
    if verdict.records:
        yield "records", ", ".join(verdict.records)
    yield "verdict", verdict.verdict
    yield "reason", verdict.reason


def verdict_data(verdict: Verdict) -> dict[str, Any]:
    """Return the verdict on one claim as plain data."""
    return {
        "claim": verdict.claim.id,
        "statement": verdict.claim.statement,
        "source": verdict.claim.source,
        "value": None if verdict.claim.value is None else verdict.claim.value.model_dump(),
        "unit": verdict.claim.unit,
        "verdict": verdict.verdict,
        "reason": verdict.reason,
        "measured": [
            {
                **finding.quantity.model_dump(),
                "agrees": finding.agrees,
                "records": finding.records,
                "properties": finding.properties,
            }
            for finding in verdict.findings
        ],
        "depends": [
            {"on": one.name, "agrees_with": one.agrees_with, "disagrees_with": one.disagrees_with}
            for one in verdict.depends
        ],
    }
