import os
import resource
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from mlhpc.bench.scratch import SharedFolder, filesystem_kind, scratch_parent
from mlhpc.bench.small_files import SmallFiles
from mlhpc.errors import MlhpcError, UsageError


@pytest.fixture
def parent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MLHPC_DATA", str(tmp_path))
    return tmp_path


def test_the_setting_names_the_folder(parent: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert scratch_parent() == parent
    monkeypatch.delenv("MLHPC_DATA")
    assert scratch_parent() == Path(tempfile.gettempdir())


def test_a_missing_folder_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLHPC_DATA", "/no/such/folder")
    with pytest.raises(UsageError, match=r"/no/such/folder \(MLHPC_DATA\) is not a folder: create it"):
        scratch_parent()


def test_a_folder_that_cannot_be_written_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLHPC_DATA", "/proc/self")  # not even root can make a file there
    with pytest.raises(UsageError, match="cannot be written"):
        scratch_parent()


def test_kinds_of_file_systems(tmp_path: Path) -> None:
    assert filesystem_kind(Path("/proc/self")) == "proc"
    assert filesystem_kind(tmp_path / "not" / "there" / "yet") == filesystem_kind(tmp_path)


def test_the_folder_lives_from_its_first_user_to_its_last(parent: Path) -> None:
    store = SmallFiles(5, seed=0)
    store.open()
    store.open()
    folder = store.folder
    store.close()
    assert folder.is_dir()
    store.close()
    assert list(parent.iterdir()) == []
    store.open()
    assert store.folder != folder
    store.close()


def test_a_full_disk_is_one_sentence_and_leaves_nothing(parent: Path) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, before[1]))
    try:
        with pytest.raises(MlhpcError, match=r"Cannot write the files of the benchmark \(File too large\)"):
            SmallFiles(100, seed=0).open()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)
    assert list(parent.iterdir()) == []


def test_a_fault_while_filling_leaves_nothing(parent: Path) -> None:
    class Broken(SharedFolder):
        def _fill(self) -> None:
            (self.folder / "half").touch()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Broken().open()
    assert list(parent.iterdir()) == []


def test_ctrl_c_removes_the_folder(parent: Path) -> None:
    code = (
        "import time; from mlhpc.bench.small_files import SmallFiles\n"
        "store = SmallFiles(50, seed=0); store.open(); print('ready', flush=True); time.sleep(60)"
    )
    environment = {**os.environ, "MLHPC_DATA": str(parent)}
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        assert len(list(parent.iterdir())) == 1
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=20)
    assert process.returncode != 0
    assert list(parent.iterdir()) == []
