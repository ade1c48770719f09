"""``mlhpc claims``: the ledger as people and programs see it."""

import json
from pathlib import Path

import pytest

from mlhpc.records.store import append_record
from tests.claims.sample import entry, write
from tests.cli.running import Runner
from tests.records.sample import STEADY, record

SPEED_UP = """
    value: {low: 1.8, high: 2.2}
    unit: x
    condition: On any machine.
    depends_on: [layout]
    confirm:
      kind: ratio
      numerator: resnet50?precision=bf16#throughput
      denominator: resnet50?precision=fp32#throughput
"""


@pytest.fixture
def options(tmp_path: Path) -> tuple[str, ...]:
    """Return the options for a ledger of two claims and a folder with two records."""
    folder = tmp_path / "records"
    append_record(folder, record(precision="fp32"))
    append_record(folder, record([value / 2 for value in STEADY], precision="bf16"))
    path = write(tmp_path, entry(SPEED_UP, id="speed-up"), entry("confirm: null", id="a-rule"))
    return ("--file", str(path), "--records", str(folder))


def test_check_lists_every_claim_and_counts(mlhpc: Runner, options: tuple[str, ...]) -> None:
    done = mlhpc("claims", "check", *options)
    assert done.status == 0
    lines = done.output.splitlines()
    assert lines[1].split()[:2] == ["speed-up", "1.8"]
    assert lines[1].endswith("confirmed")
    assert lines[2].endswith("cited only")
    assert lines[-1] == "2 claims: 1 confirmed, 0 contradicted, 0 depends, 1 cited only."


def test_json_carries_values_and_ids(mlhpc: Runner, options: tuple[str, ...]) -> None:
    first, second = json.loads(mlhpc("claims", "check", "--json", *options).output)
    assert first["measured"][0]["value"] == pytest.approx(2.0)
    assert len(first["measured"][0]["records"]) == 2
    assert (second["verdict"], second["measured"]) == ("cited only", [])


def test_show_names_source_condition_and_reason(mlhpc: Runner, options: tuple[str, ...]) -> None:
    done = mlhpc("claims", "show", "speed-up", *options)
    assert done.status == 0
    for part in ("A paper, page 1", "On any machine.", "layout", "1.8 to 2.2×", "confirmed", "value agrees"):
        assert part in done.output
    assert json.loads(mlhpc("claims", "show", "speed-up", "--json", *options).output)["claim"] == "speed-up"


def test_an_unknown_claim_is_one_sentence(mlhpc: Runner, options: tuple[str, ...]) -> None:
    done = mlhpc("claims", "show", "sped-up", *options)
    assert done.status == 2
    assert done.messages.strip().endswith("did you mean speed-up?")


def test_an_unknown_key_is_one_sentence_with_its_line(mlhpc: Runner, tmp_path: Path) -> None:
    path = write(tmp_path, entry("valeu: {low: 1}"))
    done = mlhpc("claims", "check", "--file", str(path), "--records", str(tmp_path / "none"))
    assert done.status == 1
    assert done.output == ""
    assert done.messages == f"mlhpc: {path}:13: claims.one.valeu: unknown key; did you mean value.\n"


def test_damaged_records_are_named_after_the_ledger(
    mlhpc: Runner, options: tuple[str, ...], tmp_path: Path
) -> None:
    with (tmp_path / "records" / "records.jsonl").open("a") as stream:
        stream.write("{half a line\n")
    done = mlhpc("claims", "check", *options)
    assert done.status == 1
    assert "1 confirmed" in done.output
    assert "records.jsonl:3: " in done.messages


def test_the_course_s_ledger_checks_without_any_record(mlhpc: Runner, tmp_path: Path) -> None:
    done = mlhpc("claims", "check", "--records", str(tmp_path / "none"))
    assert done.status == 0
    assert "0 confirmed" in done.output
