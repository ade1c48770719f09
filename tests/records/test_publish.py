"""Published records name no user, host or folder, and are checked before the first one is written."""

import getpass
import socket
from pathlib import Path

import pytest

from mlhpc.errors import MlhpcError, UsageError
from mlhpc.records.publish import private_part, publish
from mlhpc.records.schema import Record
from mlhpc.records.store import append_record, read_records
from tests.records.sample import changed, machine, record


@pytest.fixture(autouse=True)
def _somebody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOGNAME", "jdoe12")
    monkeypatch.setattr(socket, "gethostname", lambda: "lab7.example.org")
    assert getpass.getuser() == "jdoe12"


def _stored(folder: Path, *records: Record) -> Path:
    for one in records:
        append_record(folder, one)
    return folder


def test_chosen_records_are_copied_to_the_file_of_their_workload(tmp_path: Path) -> None:
    one, other, left = record(batch=1), record(workload="dense", batch=2), record(batch=3)
    source, target = _stored(tmp_path / "mine", one, other, left), tmp_path / "course"
    done = publish([one.id[:8], other.id], source, target)
    assert done.added == (one, other)
    assert sorted(path.name for path in target.iterdir()) == ["dense.jsonl", "resnet50.jsonl"]
    again = publish([one.id], source, target)
    assert (again.added, again.already_there) == ((), (one,))
    assert read_records(target).records == (other, one)


@pytest.mark.parametrize(
    ("private", "field"),
    [
        (record(note="measured by jdoe12"), "parameters.note holds the user name jdoe12"),
        (record(note="JDOE12's"), "parameters.note holds the user name"),
        (record(jdoe12=1), "the name of parameters.jdoe12 holds the user name"),
        (record(note="lab7.example.org"), "parameters.note holds the host name"),
        (record(note="on LAB7"), "parameters.note holds the host name lab7"),
        (record(note="/scratch/big/data.tar"), r"parameters.note holds the path /scratch/big/data.tar"),
        (record(note="in (/home/x)"), "parameters.note holds the path /home/x"),
        (record(note="--a=~bob/x"), "parameters.note holds the path ~bob/x"),
        (record(command=["mlhpc", "a:/b/c"]), r"command\[1\] holds the path /b/c"),
        (record(note="C:\\Users\\x"), "parameters.note holds the path C:"),
    ],
)
def test_what_names_somebody_is_refused_with_its_field(tmp_path: Path, private: Record, field: str) -> None:
    fine = record(batch=1)
    source = _stored(tmp_path / "mine", fine, private)
    with pytest.raises(MlhpcError, match=f"{private.id} cannot be published: .*{field}"):
        publish([fine.id, private.id], source, tmp_path / "course")
    assert not (tmp_path / "course").exists()


@pytest.mark.parametrize(
    "text",
    ["Linux 6.1, Debian GNU/Linux 12", "images/s", "1/2", "jdoe123", "lab77", "a / b", "bf16, nhwc", ""],
)
def test_what_only_looks_like_it_is_let_through(text: str) -> None:
    assert private_part(text) is None


@pytest.mark.parametrize("name", ["root", "ubuntu", "runner"])
def test_accounts_that_name_nobody_are_let_through(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOGNAME", name)
    monkeypatch.setenv("HOME", f"/home/{name}")
    assert private_part(f"{name.title()} 24.04") is None


def test_an_account_without_a_name_is_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody() -> str:
        raise OSError("No username set in the environment")

    monkeypatch.setattr(getpass, "getuser", nobody)
    assert private_part("jdoe12") is None
    assert private_part("lab7") is not None


def test_real_machine_fields_are_checked_too(tmp_path: Path) -> None:
    where = machine().model_copy(update={"operating_system": "Linux of jdoe12"})
    private = record(where=where)
    with pytest.raises(MlhpcError, match=r"machine\.operating_system holds the user name"):
        publish([private.id], _stored(tmp_path, private), tmp_path / "course")


def test_smoke_records_need_a_word(tmp_path: Path) -> None:
    smoke = record(tier="smoke")
    source = _stored(tmp_path / "mine", smoke)
    with pytest.raises(UsageError, match="--allow-smoke"):
        publish([smoke.id], source, tmp_path / "course")
    assert publish([smoke.id], source, tmp_path / "course", allow_smoke=True).added == (smoke,)


def test_a_workload_that_is_a_path_is_refused(tmp_path: Path) -> None:
    odd = changed(record(), workload="../outside")
    with pytest.raises(MlhpcError, match="is no file name"):
        publish([odd.id], _stored(tmp_path / "mine", odd), tmp_path / "course")


def test_unknown_and_ambiguous_ids_name_candidates(tmp_path: Path) -> None:
    many = [record(batch=number) for number in range(40)]
    source = _stored(tmp_path / "mine", *many)
    first_digits = [one.id[0] for one in many]
    shared = next(digit for digit in first_digits if first_digits.count(digit) > 1)
    candidate = next(one.id for one in many if one.id.startswith(shared))
    with pytest.raises(UsageError, match=f"records start with {shared}: .*{candidate}.*Give more digits"):
        publish([shared], source, tmp_path / "course")
    with pytest.raises(UsageError, match="No record starts with xyz"):
        publish(["xyz"], source, tmp_path / "course")
    with pytest.raises(UsageError, match="empty id"):
        publish([""], source, tmp_path / "course")
    with pytest.raises(UsageError, match="no records at all"):
        publish(["ab"], tmp_path / "nothing", tmp_path / "course")
