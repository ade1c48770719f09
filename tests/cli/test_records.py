"""``mlhpc records``: what people see, and the status that scripts see."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from mlhpc.records.schema import Record
from mlhpc.records.store import append_record, encode, read_records
from tests.cli.running import Runner
from tests.records.sample import STEADY, record


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """Return this user's and the course's folder of records, both empty and set for the command line."""
    mine, course = tmp_path / "mine", tmp_path / "course" / "data" / "records"
    course.mkdir(parents=True)
    monkeypatch.setenv("MLHPC_RECORDS", str(mine))
    monkeypatch.setenv("MLHPC_COURSE", str(tmp_path / "course"))
    return mine, course


@pytest.fixture
def pair(folders: tuple[Path, Path]) -> tuple[Record, Record]:
    """Return two stored records: a plain one and one in half the time."""
    plain = record(batch=8, precision="fp32")
    fast = record([value / 2 for value in STEADY], batch=8, precision="bf16")
    for one in (plain, fast):
        append_record(folders[0], one)
    return plain, fast


def test_an_empty_folder_is_said_to_be_empty(mlhpc: Runner, folders: tuple[Path, Path]) -> None:
    done = mlhpc("records", "list")
    assert done.status == 0
    assert "No records here yet" in done.output


def test_a_list_names_what_differs_and_shares_the_rest(mlhpc: Runner, pair: tuple[Record, Record]) -> None:
    done = mlhpc("records", "list")
    assert done.status == 0
    title, _, *rows = done.output.splitlines()
    assert title == "resnet50, quick tier: device=cpu batch=8"
    assert [row.split()[:2] for row in rows] == [
        [pair[0].id[:8], "precision=fp32"],
        [pair[1].id[:8], "precision=bf16"],
    ]
    assert "Example CPU 9000, 2 cores" in rows[0]


def test_a_list_is_narrowed_by_workload_and_tier(
    mlhpc: Runner, pair: tuple[Record, Record], folders: tuple[Path, Path]
) -> None:
    append_record(folders[0], record(workload="dense", tier="smoke"))
    listed = [
        [one["workload"] for one in json.loads(mlhpc("records", "list", "--json", *options).output)]
        for options in ((), ("--workload", "dense"), ("--tier", "quick"), ("--published",))
    ]
    assert listed == [["resnet50", "resnet50", "dense"], ["dense"], ["resnet50", "resnet50"], []]


def test_json_is_the_record_itself(mlhpc: Runner, pair: tuple[Record, Record]) -> None:
    shown = json.loads(mlhpc("records", "show", pair[0].id[:6], "--json").output)
    assert Record.model_validate(shown) == pair[0]


def test_show_says_everything_but_the_samples(mlhpc: Runner, pair: tuple[Record, Record]) -> None:
    done = mlhpc("records", "show", pair[1].id)
    assert done.status == 0
    for part in (pair[1].id, "precision=bf16", "images/s", "compile", "mlhpc bench", "Example CPU"):
        assert part in done.output


def test_a_damaged_line_is_named_and_the_rest_is_listed(
    mlhpc: Runner, pair: tuple[Record, Record], folders: tuple[Path, Path]
) -> None:
    path = folders[0] / "records.jsonl"
    lines = path.read_text().splitlines()
    path.write_text("\n".join((lines[0], lines[1][: len(lines[1]) // 2], encode(record(batch=16)))) + "\n")
    before = path.read_bytes()
    done = mlhpc("records", "list")
    assert done.status == 1
    assert pair[0].id[:8] in done.output
    assert "batch=16" in done.output
    assert f"{path}:2: not a whole JSON object" in done.messages
    assert "Traceback" not in done.messages
    assert path.read_bytes() == before


def test_compare_says_how_much_and_why(mlhpc: Runner, pair: tuple[Record, Record]) -> None:
    done = mlhpc("records", "compare", pair[0].id[:6], pair[1].id[:6])
    assert done.status == 0
    assert "B is 2.00 times as fast as A per sample" in done.output
    assert "Verdict on B: faster" in done.output
    assert "throughput" in done.output
    assert "in turns" in done.output
    data = json.loads(mlhpc("records", "compare", pair[1].id, pair[0].id, "--json").output)
    assert data["verdict"] == "slower"
    assert data["quantities"]["throughput"]["value"] == pytest.approx(0.5)


def test_unknown_ids_tiers_and_clashing_options_end_with_status_2(
    mlhpc: Runner, pair: tuple[Record, Record]
) -> None:
    for arguments in (
        ("show", "zzz"),
        ("list", "--tier", "huge"),
        ("list", "--published", "--records", "x"),
        ("compare", pair[0].id, "zzz"),
    ):
        done = mlhpc("records", *arguments)
        assert done.status == 2
        assert len(done.messages.strip().splitlines()) == 1


def test_publish_copies_into_the_course(
    mlhpc: Runner, pair: tuple[Record, Record], folders: tuple[Path, Path]
) -> None:
    done = mlhpc("records", "publish", pair[0].id[:8])
    assert done.status == 0
    assert read_records(folders[1]).records == (pair[0],)
    assert "already" in mlhpc("records", "publish", pair[0].id[:8]).output
    assert mlhpc("records", "show", pair[0].id[:8], "--records", str(folders[1])).status == 0


def test_publish_refuses_what_is_private(mlhpc: Runner, folders: tuple[Path, Path]) -> None:
    private = record(note="/home/somebody/data")
    append_record(folders[0], private)
    done = mlhpc("records", "publish", private.id)
    assert done.status == 1
    assert "parameters.note holds the path /home/somebody/data" in done.messages
    assert list(folders[1].iterdir()) == []


def test_a_reader_that_goes_away_is_no_fault(pair: tuple[Record, Record]) -> None:
    command = f"{sys.executable} -m mlhpc records list --json | head -c 1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert done.stdout == "["
    assert "Traceback" not in done.stderr
