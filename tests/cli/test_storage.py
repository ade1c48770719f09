"""``mlhpc storage at-risk`` as people and programs call it."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.running import Runner

RULE = ("--basis", "mtime", "--days", "60")


def put(folder: Path, name: bytes | str, age_days: float) -> None:
    path = folder / os.fsdecode(name)
    path.write_bytes(b"x" * 1000)
    then = time.time() - age_days * 86_400
    os.utime(path, (then, then))


def test_the_plan(mlhpc: Runner, tmp_path: Path) -> None:
    put(tmp_path, "old", 100)
    put(tmp_path, "soon", 57)
    put(tmp_path, "new", 0)
    done = mlhpc("storage", "at-risk", str(tmp_path), *RULE)
    assert done.status == 0
    lines = [line.split() for line in done.output.splitlines()]
    assert ["now", "1", "1.00", "kB"] in lines
    assert ["within", "7", "days", "1", "1.00", "kB"] in lines
    assert ["later", "1", "1.00", "kB"] in lines
    assert [line[-1] for line in lines[-2:]] == ["old", "soon"]


def test_nothing_there_is_no_fault(mlhpc: Runner, tmp_path: Path) -> None:
    done = mlhpc("storage", "at-risk", str(tmp_path), *RULE)
    assert done.status == 0
    assert "FILE\n" not in done.output


def test_names_that_would_break_the_terminal_are_written_as_escapes(mlhpc: Runner, tmp_path: Path) -> None:
    names = (b"two\nlines", b"\x1b[31mred", b"not-utf8-\xff", "größe".encode())
    for name in names:
        put(tmp_path, name, 100)
    done = mlhpc("storage", "at-risk", str(tmp_path), *RULE)
    for shown in (r"two\nlines", r"\x1b[31mred", r"not-utf8-\xff", "größe"):
        assert shown in done.output
    assert "\x1b" not in done.output
    told = json.loads(mlhpc("storage", "at-risk", str(tmp_path), *RULE, "--json").output)
    assert {os.fsencode(one["path"]) for one in told["soonest"]} == set(names)


def test_json_holds_what_the_text_says(mlhpc: Runner, tmp_path: Path) -> None:
    put(tmp_path, "old", 100)
    told = json.loads(mlhpc("storage", "at-risk", str(tmp_path), "--site", "osc", "--json").output)
    assert (told["basis"], told["days"], told["complete"]) == ("atime", 60, True)
    assert told["now"] == {"files": 1, "bytes": 1000}
    assert told["soonest"][0]["path"] == "old"
    assert told["soonest"][0]["due"] < told["counted_at"]
    assert "90 days" in told["remarks"][0]


def test_the_limit_says_how_many_it_hides(mlhpc: Runner, tmp_path: Path) -> None:
    for number in range(4):
        put(tmp_path, str(number), 100)
    assert "and 3 more" in mlhpc("storage", "at-risk", str(tmp_path), *RULE, "--limit", "1").output
    assert "more" not in mlhpc("storage", "at-risk", str(tmp_path), *RULE, "--limit", "0").output


@pytest.mark.parametrize(
    "arguments",
    [
        ("--days", "60"),
        ("--basis", "mtime"),
        ("--basis", "birth", "--days", "60"),
        ("--basis", "mtime", "--days", "0"),
        ("--basis", "mtime", "--days", "60", "--limit", "-1"),
        ("--site", "nowhere"),
    ],
)
def test_a_wrong_request_is_refused(mlhpc: Runner, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    done = mlhpc("storage", "at-risk", str(tmp_path), *arguments)
    assert done.status == 2
    assert done.output == ""
    assert done.messages


@pytest.mark.skipif(os.geteuid() == 0, reason="no mode keeps root out")
def test_a_closed_folder_makes_the_list_incomplete(mlhpc: Runner, tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir(mode=0)
    done = mlhpc("storage", "at-risk", str(tmp_path), *RULE)
    assert done.status == 1
    assert "not looked into: closed: Permission denied" in done.output


def test_ctrl_c_shows_what_was_found(tmp_path: Path) -> None:
    put(tmp_path, "old", 100)
    (tmp_path / "slow").mkdir()
    # The walk is held up in the second folder, as by a slow file server, until the signal comes.
    code = (
        "import os, sys, time; from mlhpc.cli import main; real = os.scandir\n"
        "def slow(path):\n"
        "    if str(path).endswith('slow'): print('waiting', flush=True); time.sleep(60)\n"
        "    return real(path)\n"
        "from mlhpc.storage import walk; walk.os.scandir = slow\n"
        "sys.argv = ['mlhpc', 'storage', 'at-risk', sys.argv[1], '--basis', 'mtime', '--days', '60']; main()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "waiting\n"
    process.send_signal(signal.SIGINT)
    output, messages = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "Interrupted" in output
    assert "old" in output
    assert "Traceback" not in messages


def test_no_heavy_import() -> None:
    code = (
        "import sys, mlhpc.cli; command = ['storage', 'at-risk', '.', '--basis', 'mtime', '--days', '9']\n"
        "mlhpc.cli.build()(command, standalone_mode=False)\n"
        "print(sorted({'torch', 'xgboost', 'scipy', 'pandas'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
