"""A ledger is read whole or refused with file, line and key."""

from pathlib import Path

import pytest

from mlhpc.claims import load_claims
from mlhpc.claims.listing import stated_text
from mlhpc.errors import MlhpcError, UsageError
from tests.claims.sample import HEAD, entry, ledger, write


def test_the_course_s_own_ledger_is_valid_and_complete() -> None:
    own = load_claims()
    assert own.claims
    assert {claim.source for claim in own.claims} <= set(own.sources)


@pytest.mark.parametrize(
    ("rest", "ends", "text"),
    [
        ("value: {low: 15, high: 20}\nunit: x", (15, 20), "15 to 20×"),
        ("value: {value: 1.9}\nunit: x", (1.71, 2.09), "1.9×"),
        ("value: {value: 2470, within: 0.01}\nunit: images/s", (2445.3, 2494.7), "2,470\u00a0images/s"),
        ("value: {value: 13442.66}\nunit: images/s", (12098.394, 14786.926), "13,442.66\u00a0images/s"),
        ("value: {value: -2, within: 0.5}\nunit: x", (-3, -1), "-2×"),
        ("value: {high: 1}\nunit: x", (float("-inf"), 1), "at most 1×"),
        ("value: {low: 3}\nunit: x", (3, float("inf")), "at least 3×"),
    ],
)
def test_the_forms_of_a_value(tmp_path: Path, rest: str, ends: tuple[float, float], text: str) -> None:
    claim = ledger(tmp_path, entry(rest)).claims[0]
    assert claim.value is not None
    assert claim.value.ends == pytest.approx(ends)
    assert stated_text(claim) == text


def test_a_rule_needs_no_number(tmp_path: Path) -> None:
    loaded = ledger(tmp_path, entry("confirm: null"))
    assert loaded.claims[0].value is None
    assert stated_text(loaded.claims[0]) == "-"
    assert loaded.sources["paper"].date == "2024"


VALUE = "value: {low: 1, high: 2}\nunit: x\n"
RATIO = "confirm:\n  kind: ratio\n  numerator: resnet50?device=cpu\n"


@pytest.mark.parametrize(
    ("rest", "fault"),
    [
        ("valeu: {low: 1}", "claims.yml:13: claims.one.valeu: unknown key; did you mean value."),
        ("value: {low: 1, hihg: 2}\nunit: x", "claims.one.value.hihg: unknown key; did you mean high."),
        ("value: {low: 2, high: 1}\nunit: x", "claims.yml:13: claims.one.value: low (2) is above high (1)."),
        ("value: {low: 2, value: 1}\nunit: x", "give either value, or low, high or both."),
        ("value: {}\nunit: x", "give either value, or low, high or both."),
        ("value: {low: 2, within: 0.1}\nunit: x", "within belongs to a single value"),
        ("value: {value: 2, within: 10}\nunit: x", "claims.one.value.within: input should be less than 1"),
        ("value: {low: .nan}\nunit: x", "claims.one.value.low: input should be a finite number"),
        ("value: {low: 2}", "value and unit go together"),
        ("unit: x", "value and unit go together"),
        ("basis: guessed", "claims.one.basis: input should be 'stated', 'derived' or 'estimate'"),
        (VALUE + RATIO, "claims.yml:15: claims.one.confirm.denominator: this key is missing."),
        (
            VALUE + RATIO + "  denominator: '?x'\n",
            "claims.yml:18: claims.one.confirm.denominator: the reference '?x' must start with the name",
        ),
        (VALUE + RATIO + "  denominator: {workload: dense}\n", "write it as one line of text"),
        (
            VALUE + RATIO + "  denominator: dense\n  macth: [a]\n",
            "confirm.macth: unknown key; did you mean match",
        ),
        (VALUE.replace("x", "s") + RATIO + "  denominator: dense\n", "a ratio has the unit x or share or %"),
        (VALUE + "confirm: {kind: guess}\n", "claims.yml:15: claims.one.confirm: input tag 'guess'"),
        (RATIO + "  denominator: dense\n", "confirm needs a value"),
        (
            VALUE + "confirm: {kind: consistency, divided_by: b, because: x}\n",
            "give at_least, at_most or both",
        ),
        (
            VALUE + "confirm: {kind: consistency, divided_by: two, because: x, at_most: 4}\n",
            "claims.yml:15: claims.one.confirm.divided_by: there is no claim two.",
        ),
    ],
)
def test_faults_name_file_line_and_key(tmp_path: Path, rest: str, fault: str) -> None:
    with pytest.raises(MlhpcError) as caught:
        ledger(tmp_path, entry(rest))
    assert fault in str(caught.value)


def test_an_unknown_source_and_an_id_twice_are_both_named(tmp_path: Path) -> None:
    other = entry("confirm: null").replace("source: paper", "source: papre")
    with pytest.raises(MlhpcError) as caught:
        ledger(tmp_path, entry("confirm: null"), other)
    first, second = str(caught.value).splitlines()
    assert "claims[1].id: the id one belongs to claims[0] already" in first
    assert "claims[1].source: there is no source papre under sources" in second


def test_claims_that_cannot_be_divided_are_refused(tmp_path: Path) -> None:
    check = "confirm: {kind: consistency, divided_by: two, because: x, at_most: 4}\n"
    with pytest.raises(MlhpcError, match=r":15: claims\.one\.confirm\.divided_by: two has the unit s"):
        ledger(tmp_path, entry(VALUE + check), entry("value: {low: 1, high: 2}\nunit: s", id="two"))
    with pytest.raises(MlhpcError, match="two ends above zero"):
        ledger(tmp_path, entry(VALUE + check), entry("value: {high: 2}\nunit: x", id="two"))


def test_wrong_version_and_missing_parts_are_named(tmp_path: Path) -> None:
    path = write(tmp_path)
    path.write_text(HEAD.replace("version: 1", "version: 2").replace("claims:\n", "claims: []\n"))
    with pytest.raises(MlhpcError, match=r"claims\.yml:1: version: input should be 1"):
        load_claims(path)
    path.write_text("version: 1\n")
    with pytest.raises(MlhpcError, match=r"sources: this key is missing\.\n.*claims: this key is missing"):
        load_claims(path)


def test_an_unknown_claim_names_one_like_it(tmp_path: Path) -> None:
    loaded = ledger(tmp_path, entry("confirm: null", id="resnet50-one-a100"))
    with pytest.raises(UsageError, match="did you mean resnet50-one-a100"):
        loaded.claim("resnet50-one-a10")
    with pytest.raises(UsageError, match="mlhpc claims check"):
        loaded.claim("zzz")
