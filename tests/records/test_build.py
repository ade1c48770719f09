"""A record says what, where and how, and nothing about whose folders it was measured in."""

import platform
import subprocess
from importlib import metadata
from pathlib import Path

import pytest

from mlhpc.records.build import checkout_state, software_versions, strip_paths
from mlhpc.records.schema import Quantity, record_id
from mlhpc.records.store import decode, encode
from tests.records.sample import record


def test_the_id_belongs_to_the_content() -> None:
    made = record(batch=8)
    assert made.id == record_id(made.model_dump(mode="json"))
    assert len(made.id) == 16
    assert made.measured_at.tzinfo is not None


def test_a_number_that_json_cannot_write_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match=r"record\.quantities\.energy\.value is nan"):
        record(items=None, quantities={"energy": Quantity(value=float("nan"), unit="J")})


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (["/home/jo/.venv/bin/mlhpc", "bench", "dense"], ("mlhpc", "bench", "dense")),
        (["/home/jo/src/mlhpc/__main__.py", "bench"], ("mlhpc", "bench")),
        (["mlhpc", "--records", "/scratch/jo/mine"], ("mlhpc", "--records", "PATH")),
        (["mlhpc", "--records=/scratch/jo/mine"], ("mlhpc", "--records=PATH")),
        (["mlhpc", "--records=~jo/mine"], ("mlhpc", "--records=PATH")),
        (["mlhpc", "--variant=bf16/nchw"], ("mlhpc", "--variant=bf16/nchw")),
        ([], ()),
    ],
)
def test_paths_leave_the_command(given: list[str], kept: tuple[str, ...]) -> None:
    assert strip_paths(given) == kept


def test_an_argument_that_is_not_utf8_still_makes_a_record() -> None:
    made = record(command=["mlhpc", b"caf\xe9".decode("utf-8", "surrogateescape")])
    assert decode(encode(made).encode()) == made


def test_versions_are_those_of_the_installed_distributions() -> None:
    software = software_versions(["numpy", "yaml", "no-such-distribution"])
    assert software.python == platform.python_version()
    assert software.packages == {
        "numpy": metadata.version("numpy"),
        "PyYAML": metadata.version("PyYAML"),
        "no-such-distribution": "not found",
    }


def _git(folder: Path, *arguments: str) -> str:
    settings = ["-c", "user.name=Test", "-c", "user.email=test@example.org"]
    done = subprocess.run(
        ["git", "-C", str(folder), *settings, *arguments], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty course that the package takes for its own."""
    (tmp_path / "data").mkdir()
    (tmp_path / "src").mkdir()
    monkeypatch.setenv("MLHPC_COURSE", str(tmp_path))
    checkout_state.cache_clear()
    return tmp_path


@pytest.fixture(autouse=True)
def _forget_the_checkout() -> None:
    checkout_state.cache_clear()


def test_commit_and_changes_come_from_git(course: Path) -> None:
    (course / "src" / "code.py").write_text("1\n")
    _git(course, "init", "--quiet")
    _git(course, "add", "src")
    _git(course, "commit", "--quiet", "--message", "first")
    (course / "notes.txt").write_text("outside src and notebooks")
    assert checkout_state() == (_git(course, "rev-parse", "HEAD"), False)
    checkout_state.cache_clear()
    (course / "src" / "code.py").write_text("2\n")
    assert checkout_state() == (_git(course, "rev-parse", "HEAD"), True)


def test_no_checkout_and_no_course_are_no_faults(course: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert checkout_state() == (None, False)
    checkout_state.cache_clear()
    _git(course, "init", "--quiet")
    assert checkout_state()[0] is None
    checkout_state.cache_clear()
    monkeypatch.setenv("MLHPC_COURSE", str(course / "missing"))
    assert checkout_state() == (None, False)


def test_a_machine_without_git_is_no_fault(course: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _git(course, "init", "--quiet")
    monkeypatch.setenv("PATH", str(course))
    assert checkout_state() == (None, False)
