"""Staging: the learner's work is never lost, fixes arrive, and a deleted file stays deleted."""

import errno
import importlib.util
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

PROGRAM = Path(__file__).resolve().parents[2] / "ondemand" / "app" / "template" / "stage.py"


def _load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("stage", PROGRAM)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


stage = _load()
NOBODY = 65534


def run(source: Path, folder: Path, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run the program as before.sh does."""
    return subprocess.run(
        [sys.executable, "-I", str(PROGRAM), str(source), str(folder)],
        capture_output=True,
        text=True,
        check=False,
        **options,
    )


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Return a course's folder with two files."""
    folder = tmp_path / "course"
    (folder / "data").mkdir(parents=True)
    (folder / "a.ipynb").write_text("first text")
    (folder / "data" / "table.csv").write_text("1,2\n")
    return folder


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """Return the learner's folder, which does not exist yet."""
    return tmp_path / "home" / "course"


def visible(folder: Path) -> dict[str, str]:
    """Return the learner's files: all but what the program remembers."""
    return {
        path.relative_to(folder).as_posix(): path.read_text()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and ".mlhpc" not in path.parts
    }


def test_a_first_session_copies_everything(source: Path, mine: Path) -> None:
    done = run(source, mine)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == ["copied: a.ipynb", "copied: data/table.csv"]
    assert visible(mine) == {"a.ipynb": "first text", "data/table.csv": "1,2\n"}


def test_a_second_session_changes_nothing(source: Path, mine: Path) -> None:
    run(source, mine)
    before = {path: path.stat().st_mtime_ns for path in mine.rglob("*") if path.name != "lock"}
    assert run(source, mine).stdout == ""
    assert {path: path.stat().st_mtime_ns for path in mine.rglob("*") if path.name != "lock"} == before


def test_a_fix_reaches_an_untouched_file(source: Path, mine: Path) -> None:
    run(source, mine)
    (source / "a.ipynb").write_text("mended text")
    assert run(source, mine).stdout == "refreshed: a.ipynb\n"
    assert visible(mine)["a.ipynb"] == "mended text"


def test_an_edit_is_kept_and_the_fix_is_put_beside_it(source: Path, mine: Path) -> None:
    run(source, mine)
    (mine / "a.ipynb").write_text("my work")
    (source / "a.ipynb").write_text("mended text")
    assert "beside" in run(source, mine).stdout
    assert visible(mine) == {"a.ipynb": "my work", "a.new.ipynb": "mended text", "data/table.csv": "1,2\n"}
    assert run(source, mine).stdout == ""


def test_an_edit_without_a_fix_gets_nothing_beside_it(source: Path, mine: Path) -> None:
    run(source, mine)
    (mine / "a.ipynb").write_text("my work")
    assert run(source, mine).stdout == ""
    assert visible(mine) == {"a.ipynb": "my work", "data/table.csv": "1,2\n"}


def test_a_text_beside_that_the_learner_deleted_or_took_over_does_not_come_back(
    source: Path, mine: Path
) -> None:
    run(source, mine)
    (mine / "a.ipynb").write_text("my work")
    (source / "a.ipynb").write_text("mended text")
    run(source, mine)
    (mine / "a.new.ipynb").replace(mine / "a.ipynb")
    assert run(source, mine).stdout == ""
    assert "a.new.ipynb" not in visible(mine)
    (source / "a.ipynb").write_text("mended again")
    assert run(source, mine).stdout == "refreshed: a.ipynb\n"


def test_work_in_the_text_beside_is_kept_too(source: Path, mine: Path) -> None:
    run(source, mine)
    (mine / "a.ipynb").write_text("my work")
    (source / "a.ipynb").write_text("second text")
    run(source, mine)
    (mine / "a.new.ipynb").write_text("my other work")
    (source / "a.ipynb").write_text("third text")
    run(source, mine)
    found = visible(mine)
    assert (found["a.ipynb"], found["a.new.ipynb"], found["a.new-2.ipynb"]) == (
        "my work",
        "my other work",
        "third text",
    )


def test_a_deleted_file_stays_deleted_also_when_it_is_mended(source: Path, mine: Path) -> None:
    run(source, mine)
    (mine / "a.ipynb").unlink()
    (source / "a.ipynb").write_text("mended text")
    assert run(source, mine).stdout == ""
    assert visible(mine) == {"data/table.csv": "1,2\n"}


def test_a_file_that_left_the_course_stays_with_the_learner(source: Path, mine: Path) -> None:
    run(source, mine)
    (source / "a.ipynb").unlink()
    assert run(source, mine).returncode == 0
    assert visible(mine)["a.ipynb"] == "first text"


def test_a_file_of_the_learner_with_a_course_name_is_kept(source: Path, mine: Path) -> None:
    mine.mkdir(parents=True)
    (mine / "a.ipynb").write_text("from last year")
    run(source, mine)
    assert visible(mine)["a.ipynb"] == "from last year"
    assert visible(mine)["a.new.ipynb"] == "first text"


def test_a_folder_where_the_course_has_a_file_is_kept(source: Path, mine: Path) -> None:
    (mine / "a.ipynb").mkdir(parents=True)
    assert run(source, mine).returncode == 0
    assert (mine / "a.ipynb").is_dir()
    assert visible(mine)["a.new.ipynb"] == "first text"


def test_a_file_where_the_course_has_a_folder_is_kept_and_said(source: Path, mine: Path) -> None:
    mine.mkdir(parents=True)
    (mine / "data").write_text("mine")
    done = run(source, mine)
    assert done.returncode == 3
    assert done.stderr == "data/table.csv was left as it is: Not a directory.\n"
    assert visible(mine) == {"a.ipynb": "first text", "data": "mine"}


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"files": [1]}', '{"files": {"a.ipynb": 3}}', "\x00"])
def test_a_damaged_memory_costs_no_work(source: Path, mine: Path, damage: str) -> None:
    run(source, mine)
    (mine / "a.ipynb").write_text("my work")
    (mine / ".mlhpc" / "staged.json").write_text(damage)
    done = run(source, mine)
    assert done.returncode == 3
    assert "damaged" in done.stderr
    assert visible(mine)["a.ipynb"] == "my work"
    assert visible(mine)["a.new.ipynb"] == "first text"
    assert run(source, mine).returncode == 0


def test_links_inside_are_copied_and_links_outside_lead_to_the_shared_place(
    source: Path, mine: Path, tmp_path: Path
) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    (source / "again.ipynb").symlink_to("a.ipynb")
    (source / "large").symlink_to("../shared")
    assert run(source, mine).returncode == 0
    assert (mine / "again.ipynb").readlink() == Path("a.ipynb")
    assert (mine / "large").readlink() == shared.resolve()
    (source / "large").unlink()
    (source / "large").symlink_to("../course/data")
    assert run(source, mine).stdout == "refreshed: large\n"


def test_a_learners_link_is_not_written_through(source: Path, mine: Path, tmp_path: Path) -> None:
    run(source, mine)
    other = tmp_path / "other.txt"
    other.write_text("other")
    (mine / "a.ipynb").unlink()
    (mine / "a.ipynb").symlink_to(other)
    (source / "a.ipynb").write_text("mended text")
    run(source, mine)
    assert other.read_text() == "other"
    assert (mine / "a.new.ipynb").read_text() == "mended text"


def test_a_link_into_the_course_itself_never_changes_the_course(source: Path, mine: Path) -> None:
    mine.mkdir(parents=True)
    (mine / "data").symlink_to(source)
    done = run(source, mine)
    assert done.returncode == 3
    assert sorted(path.name for path in source.iterdir()) == ["a.ipynb", "data"]


def test_a_course_folder_that_was_moved_elsewhere_and_linked_works(
    source: Path, mine: Path, tmp_path: Path
) -> None:
    real = tmp_path / "scratch"
    real.mkdir()
    mine.parent.mkdir()
    mine.symlink_to(real)
    assert run(source, mine).returncode == 0
    assert (real / "a.ipynb").read_text() == "first text"
    assert mine.is_symlink()


def test_a_course_that_is_not_there_is_named(tmp_path: Path, mine: Path) -> None:
    done = run(tmp_path / "gone", mine)
    assert done.returncode == 1
    assert done.stderr == (
        f"The course's files in {tmp_path / 'gone'} are not there, or you may not read them.\n"
    )
    assert not mine.exists()


def test_folders_in_each_other_are_refused(source: Path) -> None:
    for folder in (source, source / "inside", source.parent):
        done = run(source, folder)
        assert done.returncode == 1
        assert "lie in each other" in done.stderr


def test_the_wrong_number_of_arguments_is_refused(source: Path) -> None:
    done = subprocess.run([sys.executable, str(PROGRAM)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, "usage: stage.py SOURCE FOLDER\n")


def test_read_only_course_files_become_writable_and_programs_stay_programs(source: Path, mine: Path) -> None:
    (source / "a.ipynb").chmod(0o444)
    (source / "tool.sh").write_text("#!/bin/sh\n")
    (source / "tool.sh").chmod(0o555)
    run(source, mine, umask=0o022)
    assert (mine / "a.ipynb").stat().st_mode & 0o777 == 0o644
    assert (mine / "tool.sh").stat().st_mode & 0o777 == 0o755


def test_an_old_course_file_arrives_with_todays_time(source: Path, mine: Path) -> None:
    os.utime(source / "a.ipynb", (0, 0))
    run(source, mine)
    assert time.time() - (mine / "a.ipynb").stat().st_mtime < 3600


def test_hidden_leftovers_of_the_course_are_not_copied(source: Path, mine: Path) -> None:
    for folder in (".ipynb_checkpoints", "__pycache__", ".git", ".mlhpc"):
        (source / folder).mkdir()
        (source / folder / "x").write_text("x")
    os.mkfifo(source / "pipe")
    done = run(source, mine)
    assert done.returncode == 3
    assert done.stderr == "pipe of the course is neither a file nor a folder.\n"
    assert sorted(visible(mine)) == ["a.ipynb", "data/table.csv"]


def test_names_that_are_no_text_are_copied(source: Path, mine: Path) -> None:
    name = os.fsencode(str(source)) + b"/n\xff\n.txt"
    with open(name, "wb") as stream:  # noqa: PTH123
        stream.write(b"x")
    assert run(source, mine, env={"LC_ALL": "C"}).returncode == 0
    assert run(source, mine, env={"LC_ALL": "C"}).stdout == ""
    assert b"n\xff\n.txt" in os.listdir(os.fsencode(str(mine)))  # noqa: PTH208


@pytest.fixture
def public() -> Iterator[Path]:
    """Return a folder that every user can reach, unlike pytest's."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o777)
    yield folder
    shutil.rmtree(folder)


SYSTEM_PYTHON = shutil.which("python3", path="/usr/bin:/bin")
"""A Python that every user can run; the one of the tests may lie in somebody's home folder."""


@pytest.mark.skipif(SYSTEM_PYTHON is None, reason="needs a Python in /usr/bin")
def test_what_the_learner_may_not_read_is_said_and_the_rest_is_staged(public: Path) -> None:
    source, folder = public / "course", public / "mine"
    (source / "locked").mkdir(parents=True)
    (source / "a.txt").write_text("a")
    (source / "b.txt").write_text("b")
    (source / "a.txt").chmod(0)
    (source / "locked").chmod(0)
    program = shutil.copy(PROGRAM, public)

    def run_as_nobody() -> subprocess.CompletedProcess[str]:
        command = [str(SYSTEM_PYTHON), "-I", str(program), str(source), str(folder)]
        user = NOBODY if os.geteuid() == 0 else None
        return subprocess.run(command, capture_output=True, text=True, check=False, cwd=public, user=user)

    done = run_as_nobody()
    assert done.returncode == 3
    assert "Cannot read a.txt of the course: Permission denied." in done.stderr
    assert "Cannot read locked of the course: Permission denied." in done.stderr
    assert visible(folder) == {"b.txt": "b"}
    (source / "a.txt").chmod(0o644)
    assert run_as_nobody().stdout == "copied: a.txt\n"


def test_a_full_disk_is_named_and_leaves_what_was_there(
    source: Path, mine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(source, mine)
    (source / "a.ipynb").write_text("mended text")
    before = visible(mine)
    monkeypatch.setattr(stage.os, "fsync", _full)
    with pytest.raises(stage.Refused, match=r"There is no room left .* delete what you no longer need"):
        stage.stage(str(source), str(mine))
    monkeypatch.undo()
    assert visible(mine) == before
    assert not list(mine.rglob("*.part"))
    assert run(source, mine).stdout == "refreshed: a.ipynb\n"


def _full(descriptor: int) -> None:
    raise OSError(errno.EDQUOT, "Disk quota exceeded")


def test_a_real_limit_on_the_size_of_files_leaves_no_part(source: Path, mine: Path) -> None:
    (source / "b.bin").write_bytes(b"x" * 200_000)

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    done = run(source, mine, preexec_fn=limit)
    assert done.returncode == 3
    assert "b.bin was left as it is: File too large." in done.stderr
    assert not list(mine.rglob("*.part"))
    assert sorted(visible(mine)) == ["a.ipynb", "data/table.csv"]


def test_a_session_that_is_ended_leaves_whole_files(source: Path, mine: Path) -> None:
    for number in range(40):
        (source / f"{number:02}.bin").write_bytes(bytes([number]) * 300_000)
    process = subprocess.Popen([sys.executable, "-I", str(PROGRAM), str(source), str(mine)])
    while not (mine / "00.bin").exists() and process.poll() is None:
        time.sleep(0.001)
    process.terminate()
    process.wait()
    assert not list(mine.rglob("*.part"))
    for path in mine.glob("*.bin"):
        assert path.read_bytes() == (source / path.name).read_bytes()
    assert run(source, mine).returncode == 0
    assert visible(mine).keys() == visible(source).keys()


def test_many_sessions_at_once_leave_a_valid_folder(source: Path, mine: Path) -> None:
    run(source, mine)
    (mine / "data" / "table.csv").write_text("my numbers")
    (source / "a.ipynb").write_text("mended text")
    (source / "data" / "table.csv").write_text("3,4\n")
    for number in range(20):
        (source / f"{number:02}.txt").write_text(str(number))
    command = [sys.executable, "-I", str(PROGRAM), str(source), str(mine)]
    processes = [subprocess.Popen(command, stdout=subprocess.DEVNULL) for _ in range(6)]
    assert [process.wait(timeout=120) for process in processes] == [0] * 6
    found = visible(mine)
    assert found["a.ipynb"] == "mended text"
    assert found["data/table.csv"] == "my numbers"
    assert found["data/table.new.csv"] == "3,4\n"
    assert len(found) == 23
    assert json.loads((mine / ".mlhpc" / "staged.json").read_text())["version"] == 1


@pytest.mark.parametrize("code", stage.NO_LOCKS)
def test_a_file_system_without_locks_is_no_obstacle(
    source: Path, mine: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    def refuse(descriptor: int, operation: int) -> None:
        raise OSError(code, "no locks")

    monkeypatch.setattr(stage.fcntl, "flock", refuse)
    assert stage.stage(str(source), str(mine)).copied == ["a.ipynb", "data/table.csv"]


def test_a_save_at_the_wrong_moment_is_not_overwritten(
    source: Path, mine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(source, mine)
    (source / "a.ipynb").write_text("mended text")
    real = os.fsync

    def save_meanwhile(descriptor: int) -> None:
        real(descriptor)
        (mine / "a.ipynb").write_text("saved this moment")

    monkeypatch.setattr(stage.os, "fsync", save_meanwhile)
    report = stage.stage(str(source), str(mine))
    monkeypatch.undo()
    assert report.troubles == ["a.ipynb was left as it is: it was written to meanwhile."]
    assert visible(mine)["a.ipynb"] == "saved this moment"


def test_it_runs_with_an_old_python() -> None:
    """Check the syntax for Python 3.6; where an old Python is installed, it was run with it, too."""
    import ast

    ast.parse(PROGRAM.read_text(), feature_version=(3, 6))


NAMES = st.sampled_from(["a.ipynb", "b.txt", "data/c.csv"])
TEXTS = st.text("xyz", max_size=2)


class Staging(RuleBasedStateMachine):
    """Course and learner do what they like; what the learner did must survive every session."""

    def __init__(self) -> None:
        super().__init__()
        self.root = Path(tempfile.mkdtemp())
        self.source, self.mine = self.root / "course", self.root / "mine"
        self.source.mkdir()
        self.edited: dict[str, str] = {}
        self.deleted: set[str] = set()
        self.arrived: set[str] = set()

    def teardown(self) -> None:
        shutil.rmtree(self.root)

    @rule(name=NAMES, text=TEXTS)
    def the_course_changes(self, name: str, text: str) -> None:
        (self.source / name).parent.mkdir(exist_ok=True)
        (self.source / name).write_text(text)

    @rule(name=NAMES)
    def the_course_drops_a_file(self, name: str) -> None:
        (self.source / name).unlink(missing_ok=True)

    @rule(name=NAMES, text=TEXTS)
    def the_learner_writes(self, name: str, text: str) -> None:
        (self.mine / name).parent.mkdir(parents=True, exist_ok=True)
        # A mark of its own, so that the text is never one of the course's.
        (self.mine / name).write_text(f"mine: {text}")
        self.edited[name] = f"mine: {text}"
        self.deleted.discard(name)

    @rule(name=NAMES)
    def the_learner_deletes(self, name: str) -> None:
        if (self.mine / name).exists():
            (self.mine / name).unlink()
            self.edited.pop(name, None)
            if name in self.arrived:
                self.deleted.add(name)

    @rule()
    def a_session_starts(self) -> None:
        report = stage.stage(str(self.source), str(self.mine))
        assert not report.troubles
        self.arrived |= set(report.copied)
        for path in self.source.rglob("*"):
            name = path.relative_to(self.source).as_posix()
            if path.is_file() and name not in self.edited and name not in self.deleted:
                assert (self.mine / name).read_text() == path.read_text()
        again = stage.stage(str(self.source), str(self.mine))
        assert (again.copied, again.refreshed, again.beside) == ([], [], [])

    @invariant()
    def the_learners_work_is_there(self) -> None:
        for name, text in self.edited.items():
            assert (self.mine / name).read_text() == text
        for name in self.deleted:
            assert not (self.mine / name).exists()


Staging.TestCase.settings = settings(max_examples=40, stateful_step_count=25, deadline=None)
test_whatever_happens_the_learners_work_survives = Staging.TestCase
