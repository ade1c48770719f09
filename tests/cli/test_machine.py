"""``mlhpc machine`` as people and programs call it."""

import json
import subprocess
import sys

import pytest
from pydantic import TypeAdapter

from mlhpc.machine import Machine, inspect
from mlhpc.machine.storage import StorageTier


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "mlhpc", "machine", *arguments], capture_output=True, text=True, check=False
    )


def test_listing_has_two_columns_and_the_warnings_last() -> None:
    done = run()
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    names = [line[:18].strip() for line in lines]
    assert names[:4] == ["processor", "instruction sets", "cores to use", "memory to use"]
    first_warning = names.index("warning") if "warning" in names else len(names)
    assert set(names[first_warning:]) <= {"warning"}
    assert str(inspect().cpu.cores_usable) in lines[2]


def test_json_is_the_model() -> None:
    done = run("--json")
    assert done.returncode == 0, done.stderr
    assert Machine.model_validate(json.loads(done.stdout)).cpu == inspect().cpu


def test_no_heavy_import() -> None:
    code = (
        "import sys, mlhpc.cli; mlhpc.cli.build()(['machine'], standalone_mode=False);"
        "print(sorted({'torch', 'xgboost', 'scipy', 'pandas', 'sklearn'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_unknown_option_is_refused() -> None:
    assert run("--gpu").returncode == 2


def test_storage_lists_places_and_says_that_a_quota_is_another_thing() -> None:
    done = run("--storage")
    assert done.returncode == 0, done.stderr
    header, *rows = done.stdout.splitlines()
    assert header.split()[:3] == ["place", "path", "kind"]
    assert any(row.startswith("home") for row in rows)
    assert "quota" in rows[-1]


def test_storage_as_json_is_the_model() -> None:
    done = run("--storage", "--json")
    assert done.returncode == 0, done.stderr
    tiers = TypeAdapter(tuple[StorageTier, ...]).validate_json(done.stdout)
    assert "temporary" in [tier.role for tier in tiers]


def test_storage_tells_of_a_folder_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", "/no/such/folder")
    done = run("--storage")
    assert done.returncode == 0, done.stderr
    assert "$TMPDIR (/no/such/folder): No such file or directory" in done.stdout
