"""The list of packages, the lock and the conda environment say the same."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def lock() -> ModuleType:
    """Return the script ``setup/lock.py`` as a module."""
    spec = importlib.util.spec_from_file_location("lock", ROOT / "setup" / "lock.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_three_files_agree(lock: ModuleType) -> None:
    found = lock.differences(lock.read_packages(), lock.LOCK.read_text(), lock.ENVIRONMENT.read_text())
    assert found == []


def test_a_changed_version_is_named(lock: ModuleType) -> None:
    data = lock.read_packages()
    data["packages"][0]["version"] = "0.0.1"
    found = lock.differences(data, lock.LOCK.read_text(), lock.ENVIRONMENT.read_text())
    assert found[0].startswith("requirements.lock lacks torch==0.0.1")
    assert found[1].startswith("environment.yml is not")


def test_the_cluster_gets_an_xgboost_that_shares_nccl_with_torch(lock: ModuleType) -> None:
    environment = yaml.safe_load(lock.ENVIRONMENT.read_text())
    pip = next(entry["pip"] for entry in environment["dependencies"] if isinstance(entry, dict))
    assert "python=3.12" in environment["dependencies"]
    assert any(line.startswith("xgboost==3.4") for line in pip)
    assert not any(line.startswith("xgboost-cpu") for line in pip)
    assert "xgboost-cpu==3.2.0" in lock.LOCK.read_text()
    assert "nvidia-nccl-cu12" not in lock.LOCK.read_text()


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (None, "lock: Cannot read"),
        ("packages: [\n", "packages.yml:2: not valid YAML"),
        ("packages: [{name: torch}]\n", "needs python (lock, cluster) and packages"),
        ("- 1\n", "needs python (lock, cluster) and packages"),
    ],
)
def test_a_faulty_list_is_one_sentence_and_changes_nothing(
    lock: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    content: str | None,
    sentence: str,
) -> None:
    packages = tmp_path / "packages.yml"
    if content is not None:
        packages.write_text(content)
    monkeypatch.setattr(lock.read_packages, "__defaults__", (packages,))
    monkeypatch.setattr(lock, "ENVIRONMENT", tmp_path / "environment.yml")
    monkeypatch.setattr(sys, "argv", ["lock.py"])
    assert lock.main() == 1
    message = capsys.readouterr().err
    assert sentence in message
    assert len(message.splitlines()) == 1
    assert not (tmp_path / "environment.yml").exists()


def test_a_lock_that_is_not_there_is_one_sentence(
    lock: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(lock, "LOCK", tmp_path / "requirements.lock")
    monkeypatch.setattr(sys, "argv", ["lock.py", "--check"])
    assert lock.main() == 1
    assert capsys.readouterr().err == f"lock: {tmp_path}/requirements.lock: No such file or directory.\n"


def test_a_step_of_pip_that_fails_is_one_sentence_and_leaves_the_lock(
    lock: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The environment that the list is installed into is a program that refuses."""
    import venv

    def create(folder: str, *, with_pip: bool) -> None:
        (Path(folder) / "bin").mkdir(parents=True)
        (Path(folder) / "bin" / "python").symlink_to("/bin/false")

    monkeypatch.setattr(venv, "create", create)
    old = tmp_path / "requirements.lock"
    old.write_text("the old lock\n")
    monkeypatch.setattr(lock, "LOCK", old)
    monkeypatch.setattr(lock, "ENVIRONMENT", tmp_path / "environment.yml")
    monkeypatch.setattr(sys, "argv", ["lock.py", "--resolve"])
    data = lock.read_packages()
    data["python"]["lock"] = ".".join(map(str, sys.version_info[:2]))
    monkeypatch.setattr(lock, "read_packages", lambda: data)
    assert lock.main() == 1
    assert "lock: -m pip install failed with status 1" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["requirements.lock"]
    assert old.read_text() == "the old lock\n"


def test_each_package_has_a_reason(lock: ModuleType) -> None:
    for package in lock.read_packages()["packages"]:
        assert package["why"], package["name"]


def test_the_package_asks_for_nothing_that_the_list_lacks(lock: ModuleType) -> None:
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    asked = {name.split(">")[0].strip().lower() for name in project["dependencies"]}
    listed = {package["name"].lower() for package in lock.read_packages()["packages"]}
    assert asked <= listed
