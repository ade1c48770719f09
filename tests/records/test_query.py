"""Records are found by what was measured and on what, and a reference survives being written as text."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlhpc.errors import UsageError
from mlhpc.records.query import (
    Query,
    Reference,
    format_reference,
    measured,
    newest,
    parse_reference,
    select,
    select_one,
)
from tests.records.sample import at, changed, machine, record

WORDS = st.from_regex(r"[A-Za-z_][A-Za-z0-9_-]{0,8}", fullmatch=True)
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), TEXT
)
VALUES = SCALARS | st.lists(SCALARS, min_size=2, max_size=3).map(tuple)
PARAMETERS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8).filter(
    lambda name: name not in ("tier", "metric") and not name.startswith("machine.")
)
QUERIES = st.builds(
    Query,
    WORDS,
    tier=st.sampled_from([None, "smoke", "quick", "full"]),
    metric=st.none() | WORDS,
    where=st.dictionaries(PARAMETERS, VALUES, max_size=4),
    machine=st.dictionaries(st.sampled_from(["gpu", "cpu", "cores", "session"]), VALUES, max_size=2),
)


def _typed(values: Any) -> Any:
    """Return values with their types, as True == 1 == 1.0 in Python."""
    if isinstance(values, dict):
        return {key: _typed(value) for key, value in values.items()}
    return [_typed(value) for value in values] if isinstance(values, tuple) else (type(values), values)


@given(st.builds(Reference, QUERIES, st.none() | WORDS))
def test_a_reference_comes_back_from_its_text(reference: Reference) -> None:
    back = parse_reference(format_reference(reference))
    assert back == reference
    assert _typed(dict(back.query.where)) == _typed(dict(reference.query.where))


@given(TEXT)
def test_any_text_is_read_or_refused_in_one_sentence(text: str) -> None:
    try:
        reference = parse_reference(text)
    except UsageError:
        return
    assert parse_reference(format_reference(reference)) == reference


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("", "name of a workload"),
        ("?device=cpu", "name of a workload"),
        ("resnet50?device", "'device' is not of the form"),
        ("resnet50?=cpu", "not of the form"),
        ("resnet50?", None),
        ("resnet50?a=1&a=2", "names a twice"),
        ("resnet50?tier=huge", "smoke, quick, full"),
        ("resnet50?tier=quick,full", "smoke, quick, full"),
        ("resnet50?metric=1", "metric must be one name"),
        ("resnet50?machine.disk=ssd", "machine.gpu"),
        ("resnet50#", "after #"),
        ("resnet50#two words", "after #"),
    ],
)
def test_faults_of_a_reference_are_named(text: str, named: str | None) -> None:
    if named is None:
        assert parse_reference(text).query == Query("resnet50")
        return
    with pytest.raises(UsageError, match=named.replace(".", r"\.")):
        parse_reference(text)


def test_the_form_in_the_documentation() -> None:
    text = "resnet50?device=cpu&precision=bf16,fp32&tier=full&machine.gpu=A100#throughput"
    assert parse_reference(text) == Reference(
        Query(
            "resnet50",
            tier="full",
            where={"device": "cpu", "precision": ("bf16", "fp32")},
            machine={"gpu": "A100"},
        ),
        "throughput",
    )


@pytest.mark.parametrize(
    ("condition", "found"),
    [
        ("batch=8", True),
        ("batch=8.0", True),
        ('batch="8"', False),
        ("batch=4,8", True),
        ("batch=16", False),
        ("compile=false", True),
        ("compile=0", False),
        ("cache=null", True),
        ("missing=null", False),
        ("tier=quick", True),
        ("tier=full", False),
        ("metric=step_time", True),
        ("metric=other", False),
        ("machine.cores=2", True),
        ("machine.cores=4", False),
        ("machine.session=laptop", True),
        ("machine.session=batch", False),
        ("machine.cpu=example cpu", True),
        ("machine.cpu=Other", False),
        ("machine.gpu=A100", True),
        ("machine.gpu=A10", False),
        ("machine.gpu=H100,A100", True),
        ("machine.gpu=a100-sxm4", True),
        ("machine.gpu=", False),
    ],
)
def test_conditions(condition: str, found: bool) -> None:
    two = machine(gpus=["NVIDIA A100-SXM4-80GB", "NVIDIA A100-SXM4-40GB"])
    made = record(batch=8, compile=False, cache=None, where=two)
    query = parse_reference(f"resnet50?{condition}").query
    assert bool(select([made], query)) == found
    assert not select([made], parse_reference(f"dense?{condition}").query)


def test_a_machine_without_gpu_matches_no_gpu_and_a_mixed_one_only_what_all_are() -> None:
    query = Query("resnet50", machine={"gpu": "A100"})
    assert not query.matches(record(where=machine()))
    assert not query.matches(record(where=machine(gpus=["NVIDIA A100", "NVIDIA H100"])))


def test_one_record_or_a_sentence_on_how_to_narrow_it() -> None:
    small, large = record(batch=8, precision="fp32"), record(batch=16, precision="fp32")
    assert select_one([small, large], parse_reference("resnet50?batch=16")) is large
    with pytest.raises(UsageError, match=r"2 records match .*differ in batch, so"):
        select_one([small, large], parse_reference("resnet50?precision=fp32"))
    with pytest.raises(UsageError, match="No record matches resnet50\\?batch=99"):
        select_one([small, large], parse_reference("resnet50?batch=99"))
    elsewhere = record(batch=8, precision="fp32", where=machine(cores=64))
    with pytest.raises(UsageError, match="different machines"):
        select_one([small, elsewhere], parse_reference("resnet50?batch=8"))
    again = changed(small, measured_at=at(2))
    with pytest.raises(UsageError, match=f"several times .*{again.id}"):
        select_one([small, again], parse_reference("resnet50?batch=8"))


def test_the_newest_of_each_thing_on_each_machine() -> None:
    old, new = (changed(record(batch=8), measured_at=at(day)) for day in (1, 2))
    other = changed(record(batch=16), measured_at=at(1))
    elsewhere = changed(record(batch=8, where=machine(cores=64)), measured_at=at(1))
    assert newest([old, other, new, elsewhere]) == (new, other, elsewhere)
    assert newest([new, old]) == (new,)


def test_a_measured_value_is_the_median_or_a_quantity() -> None:
    made = record(batch=8)
    assert measured(made).value == made.summary.median
    assert measured(made).low == made.summary.low
    assert measured(made, "throughput").unit == "images/s"
    with pytest.raises(UsageError, match=r"no quantity power; it has: throughput"):
        measured(made, "power")
