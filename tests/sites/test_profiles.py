"""The profiles of the course, and what the check says about profiles that are wrong."""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from mlhpc.errors import MlhpcError, UsageError
from mlhpc.sites.doubts import doubts
from mlhpc.sites.json_schema import schema_text
from mlhpc.sites.load import check_text, find_profile, load_site, load_sites, site_ids, sites_folder
from mlhpc.sites.schema import Site

OSC = yaml.safe_load((sites_folder() / "osc.yml").read_text(encoding="utf-8"))
Change = Callable[[dict[str, Any]], Any]


def test_all_profiles_of_the_issue_are_there_and_sound() -> None:
    assert {site.id for site in load_sites()} == {
        "generic",
        "nairr",
        "osc",
        "ospool-chtc",
        "practice",
        "sagehen",
    }
    assert [site.id for site in load_sites() if doubts(site)] == []


def test_a_profiles_id_is_its_files_name() -> None:
    assert [load_site(name).id for name in site_ids()] == list(site_ids())


def test_every_source_has_a_date() -> None:
    assert all(source.dates for site in load_sites() for source in site.sources.values())


def test_generic_has_no_number() -> None:
    data = load_site("generic").model_dump(mode="json", exclude_none=True)
    for key in ("profile_version", "sources"):
        del data[key]
    assert not any(character.isdigit() for character in json.dumps(data))


def test_the_schema_for_editors_is_current() -> None:
    assert (sites_folder() / "schema.json").read_text(encoding="utf-8") == schema_text(), (
        "run: mlhpc site schema --out data/sites/schema.json"
    )


def test_profiles_follow_the_schema_for_editors() -> None:
    validator = jsonschema.Draft202012Validator(json.loads(schema_text()))
    for path in sorted(sites_folder().glob("*.yml")):
        # Editors read the file as JSON, where a date is text.
        plain = json.loads(json.dumps(yaml.safe_load(path.read_text(encoding="utf-8")), default=str))
        assert [error.message for error in validator.iter_errors(plain)] == []
    wrong = copy.deepcopy(OSC)
    pitzer(wrong)["partitions"][0]["max_time"] = 168
    assert not validator.is_valid(json.loads(json.dumps(wrong, default=str)))


def test_a_profile_survives_being_written_as_json() -> None:
    for site in load_sites():
        assert Site.model_validate_json(site.model_dump_json(exclude_none=True)) == site


def pitzer(data: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = data["clusters"][0]
    return found


def tier(data: dict[str, Any], name: str) -> dict[str, Any]:
    found: dict[str, Any] = next(row for row in data["storage"] if row["id"] == name)
    return found


FAULTS: dict[str, tuple[Change, str]] = {
    "unknown source": (
        lambda data: pitzer(data)["partitions"][0].update(source="hearsay"),
        "no source is called",
    ),
    "source without date": (
        lambda data: (
            data["sources"]["sinfo"].clear() or data["sources"]["sinfo"].update(title="x", where="y")
        ),
        "no date",
    ),
    "GPU that is not there": (
        lambda data: pitzer(data)["partitions"][2].update(gpus=["a100"]),
        "no GPU of this cluster",
    ),
    "GPU nobody offers": (lambda data: pitzer(data)["partitions"].pop(4), "no partition offers"),
    "too few GPUs": (lambda data: pitzer(data)["gpus"][0].update(count=3), "32 nodes with 2"),
    "bf16 on a V100": (lambda data: pitzer(data)["gpus"][0].update(bf16=True), "from 8.0 on"),
    "same name twice": (lambda data: pitzer(data)["partitions"][1].update(name="cpu"), "there already"),
    "default over maximum": (
        lambda data: pitzer(data)["partitions"][0].update(default_time="200 h"),
        "longer than",
    ),
    "node-local seen at login": (
        lambda data: tier(data, "tmpdir").update(visible=["login"]),
        "cannot be seen",
    ),
    "node-local kept": (lambda data: tier(data, "tmpdir").update(purge={"basis": "never"}), "ends with it"),
    "days without a purge": (
        lambda data: tier(data, "home")["purge"].update(after="3 days"),
        "number of days",
    ),
    "cluster that is not there": (
        lambda data: tier(data, "home").update(clusters=["owens"]),
        "no cluster has the id",
    ),
    "conflict about nothing": (
        lambda data: data["conflicts"][0].update(fact="storage.scratch.purg.after"),
        "did you mean purge",
    ),
    "unknown about nothing": (
        lambda data: data["unknown"][0].update(what="clusters.pitzer.limit"),
        "did you mean limits",
    ),
    "limits without a source": (
        lambda data: pitzer(data).update(limits={"max_array_size": 1001}),
        "limits need a source",
    ),
    "more memory for a core than a node has": (
        lambda data: pitzer(data)["partitions"][2].update(memory_per_core="1 TB"),
        "more than a whole node has",
    ),
    "the job's number in a path that all jobs see": (
        lambda data: tier(data, "scratch").update(path="/scratch/{job_id}"),
        "the role is job-local",
    ),
    "a partition of the portal that is not there": (
        lambda data: pitzer(data)["ondemand"].update(partitions=["serial"]),
        "no partition is called",
    ),
    "GPUs per node without GPUs": (
        lambda data: pitzer(data)["partitions"][0].update(gpus_per_node=2),
        "names no GPUs",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_each_fault_across_rows_is_one_line_with_file_line_and_key(name: str) -> None:
    change, reason = FAULTS[name]
    data = copy.deepcopy(OSC)
    change(data)
    with pytest.raises(MlhpcError, match=reason) as caught:
        check_text(yaml.safe_dump(data, sort_keys=False), Path("mine.yml"))
    for line in str(caught.value).splitlines():
        assert line.startswith("mine.yml:")
        assert line.split(":")[1].isdigit()


@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [
        ("max_time", 168, "no unit"),
        ("max_time", "168", "not a time with a unit"),
        ("memory_per_node", "178", "not a size with a unit"),
        ("nodes", -1, "greater than or equal to 0"),
        ("nodez", 3, "did you mean nodes"),
        ("purpose", "gpu", "production"),
    ],
)
def test_each_fault_in_a_row_names_the_key_and_the_way_out(key: str, value: Any, reason: str) -> None:
    data = copy.deepcopy(OSC)
    pitzer(data)["partitions"][0][key] = value
    with pytest.raises(MlhpcError, match=reason) as caught:
        check_text(yaml.safe_dump(data, sort_keys=False), Path("mine.yml"))
    assert len(str(caught.value).splitlines()) == 1
    assert key in str(caught.value)


def test_units_that_are_hardly_right_are_doubted() -> None:
    data = copy.deepcopy(OSC)
    pitzer(data)["gpus"][0]["memory"] = "16 MB"
    pitzer(data)["partitions"][0]["max_time"] = "168 days"
    pitzer(data)["partitions"][2]["memory_per_core"] = "92.92 GiB"
    tier(data, "scratch")["purge"]["after"] = "60 min"
    found = doubts(Site.model_validate(data))
    assert [one.place[-1] for one in found if one.reason.endswith("right unit?")] == [
        "memory", "max_time", "memory_per_core", "after",
    ]  # fmt: skip


def test_lists_that_were_not_kept_up_are_doubted() -> None:
    data = copy.deepcopy(OSC)
    tier(data, "scratch")["purge"]["after"] = "30 days"
    pitzer(data)["limits"] = {"max_array_size": 1001, "source": "sinfo"}
    data["sources"]["spare"] = {"title": "x", "where": "y", "read": "2026-12-01"}
    reasons = [one.reason for one in doubts(Site.model_validate(data))]
    assert reasons == [
        "the profile uses 30 days, which is none of these (60 days; 90 days): add it?",
        "the profile knows it (1001): delete this entry?",
        "nothing in the profile names this source: delete it?",
    ]


def test_two_defaults_of_a_pool_are_refused() -> None:
    data = yaml.safe_load((sites_folder() / "ospool-chtc.yml").read_text(encoding="utf-8"))
    data["clusters"][0]["categories"][1]["default"] = True
    with pytest.raises(
        MlhpcError, match=r"clusters\.ospool\.categories\.long\.default: medium is the default already"
    ):
        check_text(yaml.safe_dump(data, sort_keys=False), Path("mine.yml"))


def test_a_gpu_that_no_flavor_of_a_cloud_has_is_refused() -> None:
    data = yaml.safe_load((sites_folder() / "nairr.yml").read_text(encoding="utf-8"))
    data["clusters"][4]["flavors"][0]["gpus"] = []
    with pytest.raises(
        MlhpcError, match=r"clusters\.jetstream2\.gpus\.a100-slice\.id: no flavor offers the GPU"
    ):
        check_text(yaml.safe_dump(data, sort_keys=False), Path("mine.yml"))


def test_rows_are_named_by_their_name() -> None:
    data = copy.deepcopy(OSC)
    pitzer(data)["partitions"][2]["max_time"] = 7
    with pytest.raises(MlhpcError, match=r"clusters\.pitzer\.partitions\.gpu\.max_time: 7 has no unit"):
        check_text(yaml.safe_dump(data, sort_keys=False), Path("mine.yml"))


LEAVES = st.one_of(
    st.none(), st.booleans(), st.integers(-5, 10**6), st.text(max_size=8), st.just([]), st.just({})
)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_a_profile_with_one_value_replaced_is_sound_or_refused(draw: st.DataObject) -> None:
    data = copy.deepcopy(OSC)
    around: Any = data
    while True:
        keys = list(around) if isinstance(around, dict) else list(range(len(around)))
        key = draw.draw(st.sampled_from(keys))
        inner = around[key]
        if not isinstance(inner, dict | list) or not inner or draw.draw(st.integers(0, 4)) == 0:
            around[key] = draw.draw(LEAVES)
            break
        around = inner
    try:
        check_text(yaml.safe_dump(data, sort_keys=False, allow_unicode=True), Path("mine.yml"))
    except MlhpcError as error:
        assert all(line.startswith("mine.yml") for line in str(error).splitlines())  # noqa: PT017


def test_an_unknown_name_gives_the_nearest() -> None:
    with pytest.raises(UsageError, match="did you mean sagehen"):
        find_profile("sagehn")


def test_a_file_is_taken_by_its_path(tmp_path: Path) -> None:
    path = tmp_path / "mine.yml"
    path.write_text((sites_folder() / "generic.yml").read_text(encoding="utf-8"), encoding="utf-8")
    assert load_site(str(path)).id == "generic"
