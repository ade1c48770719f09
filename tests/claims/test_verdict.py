"""Verdicts follow from the records, and only from those that can carry one."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mlhpc.claims import check
from mlhpc.records.schema import Gate, Quantity, Record
from mlhpc.records.summary import summarise
from tests.claims.sample import entry, ledger, verdict
from tests.records.sample import STEADY, at, changed, machine, record

SPEED_UP = """
    value: {{low: {low}, high: {high}}}
    unit: x
    confirm:
      kind: ratio
      numerator: resnet50?precision=bf16,fp16#throughput
      denominator: resnet50?precision=fp32#throughput
      match: [batch]
"""


def speed_up(low: float, high: float) -> str:
    return SPEED_UP.format(low=low, high=high)


def run(precision: str, seconds: float = 1.0, *, batch: int = 8, **others: object) -> Record:
    """Return a steady record whose step takes ``seconds``."""
    samples = [value * seconds for value in STEADY]
    return record(samples, **{"items": batch, "precision": precision, "batch": batch, **others})  # type: ignore[arg-type]


def test_a_ratio_in_the_range_confirms(tmp_path: Path) -> None:
    slow, fast = run("fp32"), run("bf16", 0.5)
    found = verdict(tmp_path, speed_up(1.8, 2.2), slow, fast)
    assert found.verdict == "confirmed"
    assert found.findings[0].quantity.value == pytest.approx(2.0)
    assert found.records == (fast.id, slow.id)
    assert found.measured_text().startswith("2.00× [")


def test_a_ratio_outside_contradicts(tmp_path: Path) -> None:
    found = verdict(tmp_path, speed_up(15, 20), run("fp32"), run("bf16", 0.5))
    assert found.verdict == "contradicted"
    assert "lies outside" in found.reason


def test_an_interval_that_touches_the_range_agrees(tmp_path: Path) -> None:
    slow, fast = run("fp32"), run("bf16", 0.5)
    high = verdict(tmp_path, speed_up(15, 20), slow, fast).findings[0].quantity.high
    assert high is not None
    assert verdict(tmp_path, speed_up(high * 0.999, 20), slow, fast).verdict == "confirmed"
    assert verdict(tmp_path, speed_up(high * 1.001, 20), slow, fast).verdict == "contradicted"


def test_several_precisions_that_disagree_make_it_depend_on_precision(tmp_path: Path) -> None:
    records = [run("fp32"), run("bf16", 0.5), run("fp16", 0.1)]
    found = verdict(tmp_path, speed_up(1.8, 2.2), *records)
    assert found.verdict == "depends"
    assert [(one.name, one.agrees_with, one.disagrees_with) for one in found.depends] == [
        ("precision of the numerator", ("bf16",), ("fp16",))
    ]
    assert "1 of 2 measured values agree" in found.reason
    assert "precision of the numerator (agrees with bf16; disagrees with fp16)" in found.reason
    assert found.measured_text() == "2.00 to 10.0×"


def test_sides_are_matched_by_the_named_parameters(tmp_path: Path) -> None:
    records = [run("fp32"), run("bf16", 0.5), run("fp32", 4.0, batch=32), run("bf16", 3.5, batch=32)]
    found = verdict(tmp_path, speed_up(1.8, 2.2), *records)
    assert len(found.findings) == 2
    assert [one.name for one in found.depends] == ["batch"]


def test_differences_without_a_pattern_are_said_to_have_none(tmp_path: Path) -> None:
    records = [
        made
        for size, layout, seconds in ((8, "a", 0.5), (8, "b", 0.1), (16, "a", 0.1), (16, "b", 0.5))
        for made in (run("fp32", batch=size, layout=layout), run("bf16", seconds, batch=size, layout=layout))
    ]
    rest = speed_up(1.8, 2.2).replace("[batch]", "[batch, layout]")
    found = verdict(tmp_path, rest, *records)
    assert (found.verdict, found.depends) == ("depends", ())
    assert "No single parameter" in found.reason


def test_without_records_it_is_cited_only_and_says_what_is_missing(tmp_path: Path) -> None:
    found = verdict(tmp_path, speed_up(1, 2), run("fp32"))
    assert found.verdict == "cited only"
    assert "no record matches resnet50?precision=bf16,fp16#throughput" in found.reason
    assert found.measured_text() == ""


def test_without_a_check_it_is_cited_only(tmp_path: Path) -> None:
    found = verdict(tmp_path, "value: {value: 2}\nunit: x", run("fp32"))
    assert found.verdict == "cited only"
    assert "Nothing that the course measures" in found.reason


WRONG = Gate(name="AUC", value=0, limit=1, passed=False)
NOISY = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]


@pytest.mark.parametrize(
    ("weak", "reason"),
    [
        (record(NOISY, precision="bf16", batch=8), "too busy"),
        (record([0.5] * 5, precision="bf16", batch=8), "has 5 samples, fewer than 6"),
        (record([0.5] * 8, tier="smoke", precision="bf16", batch=8), "smoke tier"),
        (record([0.5] * 8, items=None, precision="bf16", batch=8), "has no quantity throughput"),
        (
            record([0.5] * 8, precision="bf16", batch=8, gates=[WRONG]),
            "wrong numbers (AUC)",
        ),
        (
            record(
                [0.5] * 8,
                items=None,
                precision="bf16",
                batch=8,
                quantities={"throughput": Quantity(value=8, unit="images/s", low=5, high=12)},
            ),
            "wider than 50%",
        ),
        (
            record(
                [0.5] * 8,
                items=None,
                precision="bf16",
                batch=8,
                quantities={"throughput": Quantity(value=0, unit="images/s")},
            ),
            "above zero",
        ),
        (run("bf16", 0.5, tier="full"), "same tier"),
        (run("bf16", 0.5, batch=16), "and batch"),
        (run("bf16", 0.5, where=machine(cores=64)), "and machine"),
    ],
)
def test_what_cannot_carry_a_verdict_is_named_and_does_not_count(
    tmp_path: Path, weak: Record, reason: str
) -> None:
    found = verdict(tmp_path, speed_up(15, 20), run("fp32"), weak)
    assert found.verdict == "cited only"
    assert reason in found.reason


def test_many_obstacles_are_counted_and_not_all_spelled_out(tmp_path: Path) -> None:
    smoke = [run("bf16", 0.5, tier="smoke", note=number) for number in range(9)]
    found = verdict(tmp_path, speed_up(1.8, 2.2), run("fp32"), run("bf16", 0.5), *smoke)
    assert found.verdict == "confirmed"
    assert found.reason.endswith("; and 6 more.")
    assert "Not counted: " in found.reason


def test_other_machines_count_only_where_the_claim_says_so(tmp_path: Path) -> None:
    gpu = run("bf16", 0.5, where=machine(gpus=["NVIDIA A100"]))
    anywhere = speed_up(1.8, 2.2) + "      machines: any\n"
    assert verdict(tmp_path, speed_up(1.8, 2.2), run("fp32"), gpu).verdict == "cited only"
    assert verdict(tmp_path, anywhere, run("fp32"), gpu).verdict == "confirmed"


def test_a_claim_about_one_gpu_is_not_judged_by_another(tmp_path: Path) -> None:
    rest = """
        value: {value: 8}
        unit: images/s
        confirm: {kind: value, of: "resnet50?machine.gpu=A100#throughput"}
    """
    other = run("bf16", where=machine(gpus=["NVIDIA H100"]))
    right = run("bf16", where=machine(gpus=["NVIDIA A100-SXM4-80GB"]))
    assert verdict(tmp_path, rest, other).verdict == "cited only"
    assert verdict(tmp_path, rest, other, right).verdict == "confirmed"


def test_the_newest_good_record_of_a_thing_counts(tmp_path: Path) -> None:
    slow = run("fp32")
    old, new = (changed(run("bf16", seconds), measured_at=at(day)) for seconds, day in ((0.1, 1), (0.5, 2)))
    assert verdict(tmp_path, speed_up(1.8, 2.2), slow, new, old).verdict == "confirmed"
    disturbed = changed(new, samples=tuple(NOISY), summary=summarise(NOISY), measured_at=at(3))
    found = verdict(tmp_path, speed_up(1.8, 2.2), slow, new, old, disturbed)
    assert found.verdict == "confirmed"
    assert disturbed.id in found.reason


def test_medians_are_compared_where_no_quantity_is_named(tmp_path: Path) -> None:
    rest = speed_up(0.4, 0.6).replace("#throughput", "")
    found = verdict(tmp_path, rest, run("fp32", items=None), run("bf16", 0.5, items=None))
    assert found.verdict == "confirmed"
    assert found.findings[0].quantity.value == pytest.approx(0.5)
    assert found.findings[0].quantity.low is not None


def test_a_share_is_read_in_per_cent(tmp_path: Path) -> None:
    rest = speed_up(190, 210).replace("unit: x", 'unit: "%"')
    found = verdict(tmp_path, rest, run("fp32"), run("bf16", 0.5))
    assert found.verdict == "confirmed"
    assert found.findings[0].quantity.value == pytest.approx(200)


def test_a_value_in_another_unit_is_named(tmp_path: Path) -> None:
    rest = 'value: {value: 8}\nunit: rows/s\nconfirm: {kind: value, of: "resnet50#throughput"}'
    found = verdict(tmp_path, rest, run("bf16"))
    assert found.verdict == "cited only"
    assert "is in images/s, the claim in rows/s" in found.reason


CONSISTENT = """
    value: {{low: {low}, high: {high}}}
    unit: x
    confirm:
      kind: consistency
      divided_by: one-gpu
      at_most: 4
      because: four GPUs cannot do more than four times the work of one
"""


@pytest.mark.parametrize(
    ("low", "high", "outcome"),
    [(50, 60, "cited only"), (100, 120, "contradicted"), (50, 90, "depends")],
)
def test_arithmetic_contradicts_but_never_confirms(
    tmp_path: Path, low: float, high: float, outcome: str
) -> None:
    loaded = ledger(
        tmp_path,
        entry(CONSISTENT.format(low=low, high=high), id="four-gpus"),
        entry("value: {low: 15, high: 20}\nunit: x", id="one-gpu"),
    )
    found = check(loaded, ())[0]
    assert found.verdict == outcome
    assert "Divided by one-gpu, its ends give" in found.reason
    assert "at most 4 is possible" in found.reason


def test_a_measurement_and_arithmetic_are_put_together(tmp_path: Path) -> None:
    """Measured well, yet impossible beside another claim: the contradiction is what the reader must see."""
    both = speed_up(1.8, 2.2).replace("      kind", "    - kind")
    both += "    - {kind: consistency, divided_by: one-gpu, at_most: 1, because: it is so}\n"
    loaded = ledger(tmp_path, entry(both), entry("value: {low: 1, high: 1.1}\nunit: x", id="one-gpu"))
    found = check(loaded, [run("fp32"), run("bf16", 0.5)])[0]
    assert found.verdict == "contradicted"
    assert found.reason.startswith("The measured value agrees.")


ORDER = {"contradicted": 0, "depends": 1, "confirmed": 2}


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    low=st.floats(0.2, 4),
    width=st.floats(0, 4),
    wider=st.tuples(st.floats(0, 2), st.floats(0, 2)),
    seconds=st.lists(st.floats(0.2, 2), min_size=1, max_size=3),
)
def test_a_wider_claim_is_never_confirmed_less(
    tmp_path: Path, low: float, width: float, wider: tuple[float, float], seconds: list[float]
) -> None:
    records = [run("fp32"), *(run("bf16", each, note=number) for number, each in enumerate(seconds))]
    narrow = verdict(tmp_path, speed_up(low, low + width), *records)
    wide = verdict(tmp_path, speed_up(low - wider[0], low + width + wider[1]), *records)
    assert ORDER[wide.verdict] >= ORDER[narrow.verdict]
    assert [one.quantity for one in wide.findings] == [one.quantity for one in narrow.findings]


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(order=st.permutations(range(4)))
def test_the_order_of_records_does_not_matter(tmp_path: Path, order: list[int]) -> None:
    records = [run("fp32"), run("bf16", 0.5), run("fp16", 0.1), run("fp16", 0.5, note="tuned")]
    found = verdict(tmp_path, speed_up(1.8, 2.2), *(records[place] for place in order))
    assert found.verdict == "depends"
    assert len(found.findings) == 3
