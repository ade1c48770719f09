"""Files at risk: held against a real ``find``, and everything on disk that a walk may meet."""

import os
import subprocess
import time
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mlhpc.errors import UsageError
from mlhpc.storage import walk as walking
from mlhpc.storage.risk import NOATIME, find_at_risk
from mlhpc.storage.rule import DAY, PurgeRule

MTIME = PurgeRule("mtime", 60)


def put(path: Path, age_days: float, size: int = 10, *, access_days: float | None = None) -> Path:
    """Make a file that was changed, and read, so many days ago."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x" * size)
    now = time.time()
    accessed = now - (age_days if access_days is None else access_days) * DAY
    os.utime(path, (accessed, now - age_days * DAY))
    return path


def paths(folder: Path, rule: PurgeRule = MTIME, within_days: float = 7) -> list[str]:
    return [one.path for one in find_at_risk(folder, rule, within_days=within_days).soonest]


def test_what_is_due_now_soon_and_later(tmp_path: Path) -> None:
    put(tmp_path / "data" / "old", 100, 1000)
    put(tmp_path / "data" / "older", 200, 500)
    put(tmp_path / "soon", 58, 30)
    put(tmp_path / "new", 0, 7)
    found = find_at_risk(tmp_path, MTIME)
    assert [(one.files, one.bytes) for one in (found.now, found.soon, found.later)] == [
        (2, 1500),
        (1, 30),
        (1, 7),
    ]
    assert [one.path for one in found.soonest] == ["data/older", "data/old", "soon"]
    assert {one.folder: (one.files, one.bytes) for one in found.folders.values()} == {
        "data": (2, 1500),
        ".": (1, 30),
    }
    assert found.folders["data"].due == found.soonest[0].due
    assert found.complete


def test_a_file_is_due_in_the_second_in_which_it_reaches_the_age(tmp_path: Path) -> None:
    file = put(tmp_path / "file", 0)
    modified = file.stat().st_mtime
    for late, expected in ((-1.0, 0), (0.0, 1)):
        found = find_at_risk(tmp_path, MTIME, now=modified + 60 * DAY + late)
        assert found.now.files == expected


def test_each_basis_reads_its_own_time(tmp_path: Path) -> None:
    put(tmp_path / "unread", 0, access_days=100)
    put(tmp_path / "unchanged", 100, access_days=0)
    assert paths(tmp_path, PurgeRule("atime", 60)) == ["unread"]
    assert paths(tmp_path, PurgeRule("mtime", 60)) == ["unchanged"]
    # Nobody can set the time of the last status change: both files came here a moment ago.
    assert paths(tmp_path, PurgeRule("ctime", 60)) == []


def test_looking_does_not_save_a_file_from_the_purge(tmp_path: Path) -> None:
    file = put(tmp_path / "folder" / "file", 100)
    before = file.stat()
    assert paths(tmp_path, PurgeRule("atime", 60)) == ["folder/file"]
    after = file.stat()
    assert (before.st_atime_ns, before.st_mtime_ns) == (after.st_atime_ns, after.st_mtime_ns)


@settings(max_examples=25, deadline=None)
@given(
    ages=st.dictionaries(
        st.text("ab/ \n'é", min_size=1, max_size=6).map(
            lambda text: text.strip("/").replace("//", "/") or "c"
        ),
        st.floats(-5, 200),
        max_size=8,
    ),
    days=st.integers(1, 120),
)
def test_find_takes_nothing_that_was_not_listed(
    tmp_path_factory: pytest.TempPathFactory, ages: dict[str, float], days: int
) -> None:
    folder = tmp_path_factory.mktemp("scratch")
    for name, age in ages.items():
        path = folder / name
        if not any(one.is_file() for one in (path, *path.parents)) and not path.is_dir():
            put(path, age)
    before = time.time()
    taken = subprocess.run(
        ["find", ".", "-type", "f", "-mtime", f"+{days}", "-print0"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    of_find = {name.removeprefix("./") for name in taken.split("\0") if name}
    found = find_at_risk(folder, PurgeRule("mtime", days), within_days=0, limit=None)
    listed = {one.path for one in found.soonest}
    assert of_find <= listed
    # find counts whole days and wants more than `days` of them, so that it is up to a day behind.
    exactly = find_at_risk(folder, PurgeRule("mtime", days + 1), within_days=0, limit=None, now=before)
    assert {one.path for one in exactly.soonest} <= of_find
    everything = [path for path in folder.rglob("*") if path.is_file()]
    counted = (found.now, found.soon, found.later)
    assert sum(one.files for one in counted) == len(everything)
    assert sum(one.bytes for one in counted) == sum(path.stat().st_size for path in everything)


@pytest.mark.parametrize("limit", [1, 3, None])
def test_the_limit_keeps_the_soonest_of_many(tmp_path: Path, limit: int | None) -> None:
    for number in range(1300):
        put(tmp_path / f"{number:04d}", 100 + (number * 7) % 1300, 1)
    found = find_at_risk(tmp_path, MTIME, limit=limit)
    ages = [(number * 7) % 1300 for number in range(1300)]
    ordered = [f"{number:04d}" for number in sorted(range(1300), key=lambda number: -ages[number])]
    assert [one.path for one in found.soonest] == ordered[:limit]
    assert found.now.files == 1300


def test_links_are_counted_and_not_followed(tmp_path: Path) -> None:
    outside = put(tmp_path / "outside" / "precious", 100)
    scratch = tmp_path / "scratch"
    put(scratch / "file", 100)
    (scratch / "to-file").symlink_to(outside)
    (scratch / "to-folder").symlink_to(outside.parent)
    (scratch / "to-itself").symlink_to(scratch)
    (scratch / "to-nothing").symlink_to("nowhere")
    os.mkfifo(scratch / "pipe")
    found = find_at_risk(scratch, MTIME)
    assert [one.path for one in found.soonest] == ["file"]
    assert found.left_out.links == 4
    assert found.complete


def test_the_folder_itself_may_be_a_link(tmp_path: Path) -> None:
    put(tmp_path / "real" / "file", 100)
    (tmp_path / "scratch").symlink_to("real")
    assert paths(tmp_path / "scratch") == ["file"]


def test_bytes_of_a_file_with_two_names_count_once(tmp_path: Path) -> None:
    file = put(tmp_path / "one", 100, 1000)
    (tmp_path / "two").hardlink_to(file)
    found = find_at_risk(tmp_path, MTIME)
    assert (found.now.files, found.now.bytes) == (2, 1000)


def test_a_folder_that_cannot_be_read_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path / "closed" / "file", 100)
    put(tmp_path / "open" / "file", 100)
    real = os.scandir

    def refuse(path: str) -> object:
        # chmod would not do: tests may run as root, whom no mode keeps out.
        if path.endswith("closed"):
            raise PermissionError(13, "Permission denied", path)
        return real(path)

    monkeypatch.setattr(os, "scandir", refuse)
    found = find_at_risk(tmp_path, MTIME)
    assert found.left_out.unreadable == [("closed", "Permission denied")]
    assert [one.path for one in found.soonest] == ["open/file"]
    assert not found.complete


def test_an_interruption_leaves_what_was_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path / "a" / "file", 100)
    put(tmp_path / "b" / "file", 100)
    real = os.scandir

    def interrupt(path: str) -> object:
        if path.endswith("b"):
            raise KeyboardInterrupt
        return real(path)

    monkeypatch.setattr(os, "scandir", interrupt)
    found = find_at_risk(tmp_path, MTIME)
    assert found.interrupted
    assert not found.complete
    assert [one.path for one in found.soonest] == ["a/file"]


def test_what_disappears_meanwhile_is_no_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path / "a" / "file", 100)
    put(tmp_path / "b" / "file", 100)
    real = os.scandir

    def remove_first(path: str) -> object:
        if path.endswith("b"):
            (tmp_path / "b" / "file").unlink()
            (tmp_path / "b").rmdir()
        return real(path)

    monkeypatch.setattr(os, "scandir", remove_first)
    found = find_at_risk(tmp_path, MTIME)
    assert [one.path for one in found.soonest] == ["a/file"]
    assert found.complete


@pytest.mark.parametrize(("follow", "expected"), [(False, []), (True, ["shm/file"])])
def test_another_file_system_is_left_out_unless_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, follow: bool, expected: list[str]
) -> None:
    put(tmp_path / "shm" / "file", 100)
    other = (tmp_path / "shm").stat().st_ino
    real = walking._status

    def elsewhere(entry: "os.DirEntry[str]", path: str, left_out: walking.LeftOut) -> os.stat_result | None:
        status = real(entry, path, left_out)
        if status is None or status.st_ino != other:
            return status
        # To mount one takes rights that a test may not have: the folder says that it is on another device.
        return os.stat_result((*status[:2], status.st_dev + 1, *status[3:]))

    monkeypatch.setattr(walking, "_status", elsewhere)
    found = find_at_risk(tmp_path, MTIME, other_file_systems=follow)
    assert [one.path for one in found.soonest] == expected
    assert found.left_out.other_file_systems == ([] if follow else ["shm"])


@pytest.mark.parametrize(("basis", "expected"), [("atime", True), ("mtime", False)])
def test_a_file_system_that_does_not_record_reads_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, basis: Literal["atime", "mtime"], expected: bool
) -> None:
    real = os.statvfs

    class Flags:
        f_flag = os.ST_NOATIME

    monkeypatch.setattr(
        "mlhpc.storage.risk.os.statvfs", lambda path: Flags if path == tmp_path else real(path)
    )
    assert (NOATIME in find_at_risk(tmp_path, PurgeRule(basis, 60)).remarks) == expected


@pytest.mark.parametrize(("name", "reason"), [("nowhere", "No such file"), ("file", "not a folder")])
def test_what_is_no_folder_is_refused(tmp_path: Path, name: str, reason: str) -> None:
    put(tmp_path / "file", 1)
    with pytest.raises(UsageError, match=reason):
        find_at_risk(tmp_path / name, MTIME)
