"""A written profile against a probed one: what differs, what is missing, and what is left alone."""

from pathlib import Path
from typing import Any

import pytest

from mlhpc.errors import UsageError
from mlhpc.sites.diff import Difference, differences
from mlhpc.sites.schema import Site


def profile(**partition: Any) -> Site:
    row = {"name": "gpu", "source": "x", "gpus": ["a100"], **partition}
    gpu = {"id": "a100", "model": "A100", "source": "x", "request": {"option": "gres", "type": "a100"}}
    return Site.model_validate(
        {
            "profile_version": 1,
            "site": {"id": "here", "name": "Here", "support": "help@example.org"},
            "sources": {"x": {"title": "x", "where": "x", "read": "2026-12-01"}},
            "clusters": [
                {"id": "one", "name": "One", "scheduler": "slurm", "partitions": [row], "gpus": [gpu]}
            ],
            "software": {"python": {"how": "module load python"}},
        }
    )


def test_a_profile_agrees_with_itself() -> None:
    assert differences(profile(max_time="7 days"), profile(max_time="168 h")) == ()


def test_names_place_and_both_values() -> None:
    found = differences(profile(max_time="7 days"), profile(max_time="2 days"))
    assert found == (Difference("clusters.one.partitions.gpu.max_time", "7 days", "2 days", "differs"),)


def test_what_the_profile_does_not_know_is_told() -> None:
    found = differences(profile(), profile(nodes=4))
    assert found == (Difference("clusters.one.partitions.gpu.nodes", None, "4", "not known to the profile"),)


def test_what_the_machine_does_not_tell_is_no_difference() -> None:
    assert differences(profile(nodes=4), profile()) == ()


def test_rounded_memory_is_the_same() -> None:
    assert differences(profile(memory_per_node="178 GiB"), profile(memory_per_node="182000 MiB")) == ()
    assert differences(profile(memory_per_node="178 GiB"), profile(memory_per_node="187000 MiB"))


def test_partitions_on_one_side_only() -> None:
    found = differences(profile(name="old"), profile(name="new"))
    assert {(one.place, one.kind) for one in found} == {
        ("clusters.one.partitions.old", "not on the machine"),
        ("clusters.one.partitions.new", "not in the profile"),
    }


def test_a_path_that_is_not_here(tmp_path: Path) -> None:
    tier = {"id": "lab", "role": "project", "path": f"{tmp_path}/none/{{lab}}", "source": "x"}
    written = profile().model_dump(mode="json", exclude_none=True) | {"storage": [tier]}
    found = differences(Site.model_validate(written), profile())
    assert [(one.place, one.kind) for one in found] == [("storage.lab.path", "not on the machine")]


def test_no_cluster_in_common_is_one_sentence() -> None:
    other = profile().model_dump(mode="json", exclude_none=True)
    other["clusters"][0]["id"] = "two"
    with pytest.raises(UsageError, match="describes one, this machine is two"):
        differences(profile(), Site.model_validate(other))
