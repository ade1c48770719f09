"""`mlhpc site ...` from the command line."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from mlhpc.sites.load import sites_folder


def site(*arguments: str, sites: Path | None = None) -> subprocess.CompletedProcess[str]:
    import os

    environment = {**os.environ, **({"MLHPC_SITES": str(sites)} if sites else {})}
    command = [sys.executable, "-m", "mlhpc", "site", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


def test_list_names_every_site() -> None:
    done = site("list")
    assert done.returncode == 0
    assert [line.split()[0] for line in done.stdout.splitlines()[1:]] == [
        "generic", "nairr", "osc", "ospool-chtc", "practice", "sagehen",
    ]  # fmt: skip


def test_list_as_json_can_be_read() -> None:
    found = {one["id"]: one for one in json.loads(site("list", "--json").stdout)}
    assert found["osc"]["clusters"] == ["pitzer", "ascend", "cardinal"]
    assert found["generic"]["gpu_kinds"] == 0


def test_show_tells_conflicts_unknowns_and_sources() -> None:
    done = site("show", "sagehen")
    for part in ("SOURCES DISAGREE", "NOT KNOWN", "SOURCES", "l40s", "/bigdata/{lab}", "its-hpc@pomona.edu"):
        assert part in done.stdout


def test_show_as_json_can_be_read_back() -> None:
    assert json.loads(site("show", "osc", "--json").stdout)["site"]["id"] == "osc"


def test_check_of_all_is_clean() -> None:
    done = site("check")
    assert (done.returncode, done.stderr) == (0, "")


def test_check_tells_doubts_and_does_not_fail(tmp_path: Path) -> None:
    path = tmp_path / "mine.yml"
    text = (sites_folder() / "osc.yml").read_text()
    path.write_text(text.replace("max_time: 168 h", "max_time: 168 days", 1))
    done = site("check", str(path))
    assert done.returncode == 0
    assert "clusters.pitzer.partitions.cpu.max_time: 168 days is unusually long: right unit?" in done.stderr


def test_show_says_how_to_ask_for_a_gpu_and_what_a_session_may_use() -> None:
    assert "--gpus-per-node=v100:1" in site("show", "osc").stdout
    assert "a session of the portal has at most time: 4 h" in site("show", "ospool-chtc").stdout


def test_check_names_faults_of_each_file_and_fails(tmp_path: Path) -> None:
    good = tmp_path / "good.yml"
    shutil.copy(sites_folder() / "generic.yml", good)
    bad = tmp_path / "bad.yml"
    bad.write_text(good.read_text().replace("role: scratch", "rolle: scratch"))
    done = site("check", str(bad), str(good), str(tmp_path / "none.yml"))
    assert done.returncode == 1
    assert "did you mean role" in done.stderr
    assert f"Cannot read {tmp_path / 'none.yml'}" in done.stderr
    assert f"{good}: sound" in done.stdout


def test_new_starts_a_sound_profile_and_never_replaces_one(tmp_path: Path) -> None:
    shutil.copy(sites_folder() / "generic.yml", tmp_path)
    first = site("new", "my-cluster", sites=tmp_path)
    assert first.returncode == 0, first.stderr
    text = (tmp_path / "my-cluster.yml").read_text()
    assert site("check", "my-cluster", sites=tmp_path).returncode == 0
    assert "id: my-cluster" in text
    again = site("new", "my-cluster", sites=tmp_path)
    assert (again.returncode, "exists already" in again.stderr) == (2, True)
    assert (tmp_path / "my-cluster.yml").read_text() == text


@pytest.mark.parametrize("name", ["", "A", "a b", "../a", "a_b", "-a"])
def test_new_refuses_what_is_no_name(name: str, tmp_path: Path) -> None:
    shutil.copy(sites_folder() / "generic.yml", tmp_path)
    assert site("new", "--", name, sites=tmp_path).returncode == 2
    assert [path.name for path in tmp_path.iterdir()] == ["generic.yml"]


def test_an_unknown_site_is_one_sentence() -> None:
    done = site("show", "sagehn")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "did you mean sagehen" in done.stderr
