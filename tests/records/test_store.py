"""Lines are appended whole, read back equal, and reported when they are damaged."""

import json
import multiprocessing
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mlhpc.errors import MlhpcError
from mlhpc.records.schema import Quantity, Record, record_id
from mlhpc.records.store import append_record, decode, encode, read_records
from tests.records.sample import record

SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-(10**18), 10**18), st.floats(allow_nan=False, allow_infinity=False)
) | st.text(st.characters(exclude_categories=["Cs"]), max_size=10)
NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8).filter(
    lambda name: (
        name not in {"samples", "workload", "tier", "metric", "unit", "items", "where", "command"}
        and name not in {"quantities", "gates", "contention"}
    )
)


@settings(max_examples=60, deadline=None)
@given(
    st.dictionaries(NAMES, SCALARS, max_size=5),
    st.lists(st.floats(min_value=1e-9, max_value=1e9), min_size=1, max_size=20),
)
def test_a_record_comes_back_as_it_was(parameters: dict[str, Any], samples: list[float]) -> None:
    made = record(samples, **parameters)
    line = encode(made)
    assert "\n" not in line
    back = decode(line.encode())
    assert back == made
    assert {name: type(value) for name, value in back.parameters.items()} == {
        name: type(value) for name, value in made.parameters.items()
    }


@pytest.fixture
def line() -> bytes:
    return encode(record(batch=8)).encode()


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.data())
def test_a_line_cut_anywhere_is_damaged(line: bytes, data: st.DataObject) -> None:
    cut = data.draw(st.integers(1, len(line) - 1))
    with pytest.raises(ValueError, match="cut or overwritten"):
        decode(line[:cut])


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.data())
def test_no_overwritten_byte_goes_unnoticed(line: bytes, data: st.DataObject) -> None:
    """Whatever byte changes, the line is reported, or still holds the very same record."""
    place = data.draw(st.integers(0, len(line) - 1))
    damaged = bytearray(line)
    damaged[place] = data.draw(st.integers(0, 255))
    try:
        back = decode(bytes(damaged))
    except ValueError:
        return
    assert back == decode(line)


def _with(changes: dict[str, Any], made: Record) -> bytes:
    """Return the line of ``made`` with other fields and the id that belongs to them."""
    fields = {**made.model_dump(mode="json"), **changes}
    return json.dumps({**fields, "id": record_id(fields)}).encode()


def test_each_damage_is_named_with_file_and_line(tmp_path: Path) -> None:
    good = record(batch=8)
    fields = good.model_dump(mode="json")
    lines = {
        1: encode(good).encode(),
        2: encode(good).encode()[:100],
        3: json.dumps({**fields, "colour": "red"}).encode(),
        4: json.dumps({**fields, "metric": "other"}).encode(),
        5: _with({"summary": {**fields["summary"], "median": 0.5}}, good),
        6: _with({"summary": {**fields["summary"], "count": 99}}, good),
        7: _with({"summary": {**fields["summary"], "noisy": True}}, good),
        8: _with({"summary": {**fields["summary"], "low": 0.1}}, good),
        9: _with({"samples": [0.0, *fields["samples"][1:]]}, good),
        10: b"",
        11: b"\xff\xfe\x00",
        12: b"[1, 2]",
        13: encode(record(batch=16)).encode(),
    }
    path = tmp_path / "some.jsonl"
    path.write_bytes(b"\n".join(lines.values()) + b"\n")
    before = path.read_bytes()
    result = read_records(tmp_path)
    assert [made.parameters["batch"] for made in result.records] == [8, 16]
    assert [damage.line_number for damage in result.damaged] == [2, 3, 4, 5, 6, 7, 8, 9, 11, 12]
    assert {damage.path for damage in result.damaged} == {path}
    reasons = [damage.reason for damage in result.damaged]
    assert "cut" in reasons[0]
    assert "colour" in reasons[1]
    assert "id" in reasons[2]
    assert all("summary" in reason for reason in reasons[3:7])
    assert path.read_bytes() == before
    with pytest.raises(MlhpcError, match=r"some\.jsonl:2: .*\n.*some\.jsonl:3: "):
        result.raise_for_damage()


def test_a_folder_is_read_sorted_and_each_record_once(tmp_path: Path) -> None:
    one, two = record(batch=1), record(batch=2)
    (tmp_path / "b.jsonl").write_text(encode(two) + "\n" + encode(one) + "\n")
    (tmp_path / "a.jsonl").write_text(encode(one) + "\n")
    (tmp_path / "notes.txt").write_text("not records")
    assert read_records(tmp_path).records == (one, two)
    assert read_records(tmp_path / "b.jsonl", tmp_path).records == (two, one)
    assert read_records(tmp_path / "missing").records == ()


def test_a_missing_file_and_a_wrong_one_are_one_sentence_each(tmp_path: Path) -> None:
    with pytest.raises(MlhpcError, match="No such file"):
        read_records(tmp_path / "missing.jsonl")
    (tmp_path / "notes.txt").write_text("")
    with pytest.raises(MlhpcError, match="neither a folder nor"):
        read_records(tmp_path / "notes.txt")


def _read_as_nobody(folder: Path) -> None:
    if os.getuid() == 0:
        os.setuid(65534)
    try:
        read_records(folder)
    except MlhpcError as error:
        os._exit(7 if "Cannot read the folder" in str(error) else 8)


def test_a_folder_that_may_not_be_read_is_not_taken_for_an_empty_one(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    append_record(closed, record())
    closed.chmod(0)
    process = multiprocessing.get_context("fork").Process(target=_read_as_nobody, args=(closed,))
    process.start()
    process.join()
    closed.chmod(0o700)
    assert process.exitcode == 7


def _append_many(folder: Path, writer: int, count: int) -> None:
    for number in range(count):
        append_record(folder, record(writer=writer, number=number))


def test_a_whole_class_appends_at_once_and_a_reader_never_sees_a_torn_line(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    writers = [context.Process(target=_append_many, args=(tmp_path, writer, 12)) for writer in range(8)]
    for process in writers:
        process.start()
    while any(process.is_alive() for process in writers):
        assert read_records(tmp_path).damaged == ()
    for process in writers:
        process.join()
        assert process.exitcode == 0
    found = [made.parameters for made in read_records(tmp_path).records]
    assert len(found) == 8 * 12
    assert {(one["writer"], one["number"]) for one in found} == {(w, n) for w in range(8) for n in range(12)}


def _append_until_refused(folder: Path, limit: int) -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    append_record(folder, record(batch=1))
    try:
        append_record(folder, record(batch=2))
    except MlhpcError as error:
        os._exit(7 if "Cannot append" in str(error) else 8)


def test_a_write_that_stops_in_the_middle_leaves_the_lines_before(tmp_path: Path) -> None:
    """The limit on file size lets the kernel write a part of the second line and then refuse."""
    limit = int(len(encode(record(batch=1))) * 1.5)
    context = multiprocessing.get_context("fork")
    process = context.Process(target=_append_until_refused, args=(tmp_path, limit))
    process.start()
    process.join()
    assert process.exitcode == 7
    result = read_records(tmp_path)
    assert [made.parameters["batch"] for made in result.records] == [1]
    assert result.damaged == ()


@pytest.fixture
def small_disk(tmp_path: Path) -> Any:
    """Yield a real file system of 16 KiB; needs the right to mount."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if mounted.returncode != 0:
        pytest.skip("this account may not mount a file system")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_is_one_sentence_and_loses_nothing(small_disk: Path) -> None:
    with pytest.raises(MlhpcError, match="No space left on device; the lines before are untouched"):
        _append_many(small_disk, 0, 100)
    result = read_records(small_disk)
    numbers = [made.parameters["number"] for made in result.records]
    assert numbers == list(range(len(numbers)))
    assert 0 < len(numbers) < 100
    assert result.damaged == ()


INTERRUPTED = """
import sys
from pathlib import Path
from mlhpc.records.store import append_record
from tests.records.sample import record
number = 0
print("ready", flush=True)
while True:
    append_record(Path(sys.argv[1]), record(number=number))
    number += 1
"""


def test_ctrl_c_between_appends_keeps_every_whole_record(tmp_path: Path) -> None:
    command = [sys.executable, "-c", INTERRUPTED, str(tmp_path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    deadline = time.monotonic() + 60
    while len(read_records(tmp_path).records) < 3 and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    process.wait(timeout=30)
    process.stdout.close()
    result = read_records(tmp_path)
    assert result.damaged == ()
    numbers = [made.parameters["number"] for made in result.records]
    assert numbers == list(range(len(numbers)))
    assert len(numbers) >= 3


def test_after_a_crash_in_mid_line_the_next_record_starts_on_its_own(tmp_path: Path) -> None:
    path = append_record(tmp_path, record(batch=1))
    with path.open("ab") as stream:
        stream.write(encode(record(batch=2)).encode()[:50])
    append_record(tmp_path, record(batch=3))
    result = read_records(tmp_path)
    assert [made.parameters["batch"] for made in result.records] == [1, 3]
    assert [damage.line_number for damage in result.damaged] == [2]


def test_a_quantity_without_interval_comes_back_without(tmp_path: Path) -> None:
    made = record(items=None, quantities={"auc": Quantity(value=0.8, unit="")})
    append_record(tmp_path, made)
    assert read_records(tmp_path).records[0].quantities["auc"].low is None
