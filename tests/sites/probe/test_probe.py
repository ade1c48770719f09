"""`mlhpc site probe` on two real clusters' answers, on a machine without Slurm, and with odd answers."""

from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from mlhpc.errors import MlhpcError
from mlhpc.sites.check import faults
from mlhpc.sites.clusters import SlurmCluster
from mlhpc.sites.probe.profile import probe
from mlhpc.sites.probe.slurm_text import duration_text, gpus_of, settings, time_limit
from mlhpc.sites.quantities import Duration
from mlhpc.sites.schema import Site

Put = Callable[[str, str], None]


def cluster(site: Site, name: str) -> SlurmCluster:
    found = next(one for one in site.clusters if one.id == name)
    assert isinstance(found, SlurmCluster)
    return found


@pytest.mark.usefixtures("login_node")
class TestLoginNode:
    def test_reads_the_local_cluster(self) -> None:
        _, site, _ = probe()
        pitzer = cluster(site, "pitzer")
        partitions = {one.name: one for one in pitzer.partitions}
        assert pitzer.version == "24.11.5"
        assert str(partitions["gpu"].max_time) == "7 days"
        assert str(partitions["gpudebug"].max_time) == "1 h"
        assert str(partitions["idle"].max_time) == "unlimited"
        assert str(partitions["cpu"].memory_per_core) == "4096 MiB"
        assert (partitions["gpu"].gpus, partitions["gpu"].gpus_per_node) == (("v100",), 2)
        assert partitions["cpu"].gpus == ()
        assert pitzer.gpus[0].count == 4
        assert pitzer.gpus[0].request.options(2) == ("--gres=gpu:v100:2",)
        assert (pitzer.limits.max_array_size, pitzer.limits.max_gpus_per_user) == (1001, 3)

    def test_the_text_is_the_profile_and_passes_the_check(self) -> None:
        text, site, _ = probe()
        assert Site.model_validate(yaml.safe_load(text)) == site
        assert faults(site) == ()

    def test_reads_several_clusters_of_one_database(self) -> None:
        _, site, _ = probe(["pitzer", "cardinal"], identifier="osc-like")
        assert (site.id, [one.id for one in site.clusters]) == ("osc-like", ["pitzer", "cardinal"])
        assert cluster(site, "cardinal").partitions[0].allocation == "node"

    def test_nodes_that_differ_are_unknown_and_not_averaged(self) -> None:
        _, site, _ = probe()
        assert (
            next(one for one in cluster(site, "pitzer").partitions if one.name == "idle").cores_per_node
            is None
        )
        asked = {one.what: one.ask for one in site.unknown}
        assert asked["clusters.pitzer.partitions.idle.cores_per_node"] == "its nodes differ: 40 or 48"

    def test_lists_what_no_command_tells(self) -> None:
        _, site, _ = probe()
        asked = {one.what for one in site.unknown}
        assert {"clusters.pitzer.ondemand", "clusters.pitzer.two_factor", "storage.home.quota"} <= asked

    def test_the_login_name_is_not_written(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        home = tmp_path / "ada"
        home.mkdir()
        monkeypatch.setenv("HOME", str(home))
        monkeypatch.setenv("LOGNAME", "ada")
        text, site, _ = probe()
        assert site.storage[0].path == f"{tmp_path}/{{user}}"
        assert "ada" not in text.replace("cardinal", "")

    def test_says_which_commands_were_silent(self, monkeypatch: pytest.MonkeyPatch, command: Put) -> None:
        command("nvidia-smi", "#!/bin/sh\necho 'NVIDIA-SMI has failed' >&2\nexit 9\n")
        _, _, silent = probe()
        assert any("nvidia-smi" in sentence and "has failed" in sentence for sentence in silent)

    def test_inside_a_job_it_learns_the_gpu_and_the_job_folder(
        self, monkeypatch: pytest.MonkeyPatch, command: Put, tmp_path: Path
    ) -> None:
        # nvidia-smi is a stand-in here: no GPU is fitted to the machines that run the tests.
        command("nvidia-smi", "#!/bin/sh\necho 'Tesla V100-PCIE-16GB, 16384, 7.0'\n")
        monkeypatch.setenv("SLURM_JOB_ID", "41230001")
        (tmp_path / "41230001").mkdir()
        monkeypatch.setenv("TMPDIR", str(tmp_path / "41230001"))
        _, site, _ = probe()
        gpu = cluster(site, "pitzer").gpus[0]
        assert (gpu.model, str(gpu.reported_memory), gpu.capability, gpu.bf16) == (
            "Tesla V100-PCIE-16GB", "16384 MiB", "7.0", False,
        )  # fmt: skip
        tier = next(one for one in site.storage if one.role == "job-local")
        assert tier.path == f"{tmp_path}/{{job_id}}"
        assert "clusters.pitzer.gpus.v100.memory" not in {one.what for one in site.unknown}

    def test_an_unknown_cluster_is_one_sentence_with_slurms_reason(self) -> None:
        with pytest.raises(MlhpcError, match=r"Could not get cluster information.*mlhpc site new"):
            probe(["nosuch"])


def test_without_slurm_it_says_where_to_run_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(MlhpcError, match=r"scontrol is not on this machine.*login node"):
        probe()


class TestSlurmsOwnForms:
    @pytest.mark.parametrize(
        ("written", "read"),
        [
            ("7-00:00:00", "7 days"), ("1-12:00:00", "36 h"), ("1:00:00", "1 h"), ("30:00", "30 min"),
            ("0:45", "45 s"), ("infinite", "unlimited"), ("UNLIMITED", "unlimited"), ("n/a", None),
            ("", None),
        ],
    )  # fmt: skip
    def test_time_limits(self, written: str, read: str | None) -> None:
        assert time_limit(written) == read

    @pytest.mark.parametrize(
        ("written", "read"),
        [
            ("gpu:a100:4(S:0-1),lustre:1", [("a100", 4)]),
            ("gpu:a100:2,gpu:l40s:4", [("a100", 2), ("l40s", 4)]),
            ("gpu:2", [(None, 2)]),
            ("gpu:h100:4(S:0,2),shard:h100:16(S:0)", [("h100", 4)]),
            ("(null)", []),
        ],
    )
    def test_gpus_of_a_node(self, written: str, read: list[tuple[str | None, int]]) -> None:
        assert [(one.type, one.count) for one in gpus_of(written)] == read

    def test_a_value_with_blanks_does_not_hide_the_next_name(self) -> None:
        told = settings("PartitionName=gpu AllowGroups=a b,c MaxTime=1:00:00 TRES=cpu=4,gres/gpu=2")
        assert (told["AllowGroups"], told["MaxTime"]) == ("a b,c", "1:00:00")
        assert told["TRES"] == "cpu=4,gres/gpu=2"

    @given(st.integers(min_value=1, max_value=10**8))
    def test_each_span_is_read_back_by_the_profile(self, seconds: int) -> None:
        text = duration_text(seconds)
        assert text is not None
        assert Duration.parse(text).seconds == seconds

    @given(st.text())
    def test_any_text_is_read_without_a_crash(self, text: str) -> None:
        time_limit(text)
        settings(text)
        assert all(one.count >= 0 for one in gpus_of(text))
