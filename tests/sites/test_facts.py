"""A fact by its place: value, sources, conflict, and whom to ask."""

import pytest

from mlhpc.errors import UsageError
from mlhpc.sites.facts import fact, locate
from mlhpc.sites.load import load_site


def test_a_fact_brings_its_source_and_the_conflict_about_it() -> None:
    found = fact(load_site("osc"), "storage.scratch.purge.after")
    assert found.text == "60 days"
    assert [one.title for one in found.sources] == [load_site("osc").sources["lab-guide"].title]
    assert found.conflict is not None
    assert [one.value for one in found.conflict.values] == ["60 days", "90 days"]


def test_what_is_not_known_says_whom_to_ask() -> None:
    sagehen = load_site("sagehen")
    assert fact(sagehen, "clusters.sagehen.limits.max_array_size").ask.startswith("scontrol")
    assert fact(sagehen, "clusters.sagehen.limits.max_submitted_jobs").ask == sagehen.site.support
    assert fact(sagehen, "clusters.sagehen.limits.max_submitted_jobs").text is None


@pytest.mark.parametrize(
    ("place", "text"),
    [
        ("site.support", "oschelp@osc.edu"),
        ("clusters.pitzer.partitions.gpu.memory_per_node", "371680 MiB (363.0 GiB)"),
        ("clusters.pitzer.account.required", "yes"),
        ("clusters.pitzer.partitions.gpu-quad.max_time", "168 h"),
        ("clusters.pitzer.partitions.gpu.gpus", "v100"),
        ("storage.scratch.quota_files", "25,000,000"),
        ("storage.home.visible", "login, compute, ondemand"),
        (
            "clusters.pitzer.partitions",
            "cpu, cpu-exp, gpu, gpu-exp, gpu-quad, gpudebug, gpubackfill, debug-cpu",
        ),
    ],
)
def test_values_are_shown_as_people_read_them(place: str, text: str) -> None:
    assert fact(load_site("osc"), place).text == text


def test_a_name_with_a_dot_is_one_step() -> None:
    assert fact(load_site("nairr"), "clusters.jetstream2.flavors.g3.small.cores").text == "4"


def test_the_parts_of_something_unknown_are_unknown() -> None:
    assert fact(load_site("generic"), "clusters.slurm.ondemand.url").text is None


@pytest.mark.parametrize("place", ["clusters.slurm.ondemand.urll", "storage.scratch.purge.after.days"])
def test_a_misspelt_part_of_something_unknown_is_refused(place: str) -> None:
    with pytest.raises(UsageError, match="no fact"):
        fact(load_site("generic"), place)


def test_what_stands_in_no_row_has_the_sources_of_its_cluster() -> None:
    found = fact(load_site("osc"), "clusters.pitzer.login_host")
    assert [one.title for one in found.sources] == [load_site("osc").sources["lab-guide"].title]


@pytest.mark.parametrize(
    ("place", "hint"),
    [
        ("storage.scrach.quota", "did you mean scratch"),
        ("clusters.pitzer.partition", "did you mean partitions"),
        ("site.support.phone", "no fact site.support.phone"),
        ("nothing", "no fact nothing"),
        ("", "no fact"),
    ],
)
def test_a_place_that_does_not_exist_is_refused(place: str, hint: str) -> None:
    with pytest.raises(UsageError, match=hint):
        fact(load_site("osc"), place)


def test_a_place_leads_into_the_document() -> None:
    assert locate(load_site("osc"), "clusters.ascend.gpus.a100-80g.count") == (
        "clusters",
        1,
        "gpus",
        1,
        "count",
    )
