"""The app's files for each site: rendered with real Ruby as the portal does, held against the profile."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mlhpc.errors import UsageError
from mlhpc.ondemand.build import app_files
from mlhpc.ondemand.folder import write_folder
from mlhpc.ondemand.request import AppRequest, ClassVariant, app_request
from mlhpc.sites.clusters import SlurmCluster
from mlhpc.sites.load import check_text, load_site, load_sites
from tests.ondemand.conftest import PROFILE, small_request
from tests.ondemand.portal import dashboard, form, refusal, stage, submit

COURSE = "/shared/ml-on-hpc"
ALL_FIXED = ClassVariant(
    "bio410", account="ABC123", reservation="class_1", hours=1, cores=1, memory=1, gpus=1
)


def portals() -> Iterator[tuple[str, str, str]]:
    """Yield each Slurm cluster of each profile, with the name that its portal gives it."""
    for site in load_sites():
        for cluster in site.clusters:
            if isinstance(cluster, SlurmCluster):
                known = cluster.ondemand.cluster_id if cluster.ondemand else None
                yield site.id, cluster.id, known or "some-cluster"


def request_for(site: str, cluster: str, portal: str, variant: ClassVariant | None = None) -> AppRequest:
    """Return a request for one of the course's profiles."""
    return app_request(
        load_site(site), cluster=cluster, portal_cluster=portal, course_root=COURSE, variant=variant
    )


def written(request: AppRequest, folder: Path) -> Path:
    """Write the app and return its folder."""
    write_folder(folder, app_files(request))
    return folder


@pytest.mark.parametrize(("site", "cluster", "portal"), list(portals()))
def test_each_cluster_of_each_profile_gives_an_app_that_the_portal_reads(
    site: str, cluster: str, portal: str, tmp_path: Path
) -> None:
    request = request_for(site, cluster, portal, ALL_FIXED)
    app = written(request, tmp_path / "app")
    found = form(app)
    assert (found["cluster"], found["cacheable"]) == (portal, False)
    assert list(found["attributes"]) == found["form"]
    keys = [option[1] for option in found["attributes"]["mlhpc_resources"]["options"]]
    assert len(set(keys)) == len(keys) > 0
    assert found["attributes"]["mlhpc_resources"]["value"] in keys
    for row in request.choices:
        script = submit(app, mlhpc_resources=row.key, mlhpc_gpus=1, bc_num_hours=1, mlhpc_cores=1)
        assert script["native"][:2] == ["--nodes=1", "--ntasks=1"]
        assert script.get("queue_name") == row.partition
        assert ("--cpus-per-task=1" in script["native"]) != row.fixed_share
        expected = _expected_gpu_options(request, row.gpu)
        assert [
            option for option in script["native"] if "gpu" in option or "constraint" in option
        ] == expected
    fixed = submit(app, "bio410")
    assert (fixed["accounting_id"], fixed["reservation_id"], fixed["wall_time"]) == (
        "ABC123",
        "class_1",
        3600,
    )


def _expected_gpu_options(request: AppRequest, kind: str | None) -> list[str]:
    if kind is None:
        return []
    if kind == "any":
        return ["--gpus-per-node=1"]
    return list(next(gpu.request.options(1) for gpu in request.cluster.gpus if gpu.id == kind))


@pytest.mark.parametrize(("site", "cluster", "portal"), list(portals()))
def test_shellcheck_finds_nothing_in_the_rendered_scripts(
    site: str, cluster: str, portal: str, tmp_path: Path
) -> None:
    program = shutil.which("shellcheck")
    assert program, "no shellcheck found: run setup/system.sh shellcheck"
    app = written(request_for(site, cluster, portal), tmp_path / "app")
    stage(app, tmp_path / "session")
    scripts = sorted(map(str, (tmp_path / "session").glob("*.sh")))
    assert len(scripts) == 4
    done = subprocess.run([program, *scripts], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert os.access(tmp_path / "session" / "script.sh", os.X_OK)


def test_the_limits_of_a_profile_are_the_forms(tmp_path: Path) -> None:
    app = written(request_for("sagehen", "sagehen", "pomona"), tmp_path / "app")
    fields = form(app)["attributes"]
    assert (fields["bc_num_hours"]["max"], fields["mlhpc_cores"]["max"]) == (720, 128)
    assert (fields["mlhpc_memory"]["max"], fields["mlhpc_gpus"]["max"]) == (500, 1)
    assert fields["bc_num_hours"]["help"] == "At most 720 in amd, 720 in gpu, 2 in short."
    options = {option[1]: option[2] for option in fields["mlhpc_resources"]["options"]}
    assert options["short"] == {"data-hide-mlhpc-gpus": True, "data-max-bc-num-hours": 2}
    assert "bc_account" not in fields


def test_more_than_a_partition_allows_is_refused_with_the_limit(tmp_path: Path) -> None:
    app = written(request_for("sagehen", "sagehen", "pomona"), tmp_path / "app")
    assert "3 hours are more than the 2 that the partition short allows." in refusal(
        app, mlhpc_resources="short", bc_num_hours=3
    )
    assert "129 cores are more than the 128" in refusal(app, mlhpc_cores=129)
    assert "501 GiB of memory are more than the 500" in refusal(app, mlhpc_memory=501)
    assert "2 GPUs are more than the 1" in refusal(app, mlhpc_resources="gpu a100", mlhpc_gpus=2)
    assert submit(app, mlhpc_resources="amd", mlhpc_gpus=2)["queue_name"] == "amd"


@pytest.mark.parametrize("value", ["", "0", "-1", "2.5", "two", "1; scancel", "9999999", "1\n2"])
def test_what_is_no_number_is_refused(value: str, app: Path) -> None:
    assert "must be a whole number of at least 1" in refusal(app, mlhpc_cores=value)


def test_an_unknown_choice_is_refused(app: Path) -> None:
    assert "Unknown resources: gpu h100. Reload the form." in refusal(app, mlhpc_resources="gpu h100")


def test_a_profile_that_knows_nothing_invents_no_limit(tmp_path: Path) -> None:
    app = written(request_for("generic", "slurm", "some-cluster"), tmp_path / "app")
    fields = form(app)["attributes"]
    for name in ("bc_num_hours", "mlhpc_cores", "mlhpc_memory", "mlhpc_gpus"):
        assert "max" not in fields[name]
        assert "Not known: the limit. Ask your centre's support." in fields[name]["help"]
    assert "Not known: the partitions" in fields["mlhpc_partition_name"]["help"]
    assert "Not known: whether" in fields["bc_account"]["help"]
    assert submit(app, mlhpc_cores=500, mlhpc_partition_name="", bc_account=" ") == {
        "wall_time": 7200,
        "native": ["--nodes=1", "--ntasks=1", "--cpus-per-task=500"],
    }
    chosen = submit(app, mlhpc_resources="any", mlhpc_gpus=2, mlhpc_partition_name="gpu", mlhpc_memory=8)
    assert chosen["queue_name"] == "gpu"
    assert chosen["native"][-2:] == ["--mem=8G", "--gpus-per-node=2"]
    assert "is no name of a partition" in refusal(app, mlhpc_partition_name="gpu --exclusive")


def test_a_limit_that_only_some_partitions_have_is_no_limit_of_the_field(tmp_path: Path) -> None:
    row = "  - {name: cpu, max_time: 24 h, cores_per_node: 8, memory_per_node: 64 GiB, source: us}\n"
    text = PROFILE.replace(", max_time: 8 h, max_cores: 16", "").replace(
        row,
        row + "  - {name: other, source: us}\n  - {name: long, max_time: unlimited, source: us}\n"
        "  - {name: tiny, max_time: 30 min, source: us}\n",
    )
    app = written(small_request(tmp_path, text=text), tmp_path / "app")
    fields = form(app)["attributes"]
    assert [option[1] for option in fields["mlhpc_resources"]["options"]] == ["cpu", "other", "long"]
    assert "max" not in fields["bc_num_hours"]
    expected = "At most 24 in cpu. Not known: the limit of the others. To find out: help@small.example."
    assert fields["bc_num_hours"]["help"] == expected
    assert submit(app, mlhpc_resources="long", bc_num_hours=9000)["wall_time"] == 9000 * 3600
    assert "more than the 24" in refusal(app, mlhpc_resources="cpu", bc_num_hours=25)


def test_a_gpu_that_brings_its_share_is_asked_for_alone(tmp_path: Path) -> None:
    text = PROFILE.replace(
        "  partitions:\n",
        "  gpus:\n"
        "  - {id: h100, model: H100, request: {option: gpus, type: h100, constraint: sxm}, source: us}\n"
        "  partitions:\n  - {name: ai, gpus: [h100], gpus_per_node: 4, allocation: per-gpu, source: us}\n",
    )
    app = written(small_request(tmp_path, text=text), tmp_path / "app")
    script = submit(app, mlhpc_resources="ai h100", mlhpc_gpus=3, mlhpc_memory=5)
    assert script["native"] == ["--nodes=1", "--ntasks=1", "--gpus=h100:3", "--constraint=sxm"]


def test_a_class_fixes_what_it_names_and_nothing_else(tmp_path: Path) -> None:
    variant = ClassVariant("bio410", account="ABC", reservation="r1", hours=3, partition="gpu", gpu="a100")
    app = written(request_for("sagehen", "sagehen", "pomona", variant), tmp_path / "app")
    found = form(app, "bio410")
    assert found["title"] == "ML on HPC: bio410"
    fixed = {name: value for name, value in found["attributes"].items() if not isinstance(value, dict)}
    assert fixed["mlhpc_resources"] == "gpu a100"
    assert (fixed["bc_account"], fixed["mlhpc_reservation"], fixed["bc_num_hours"]) == ("ABC", "r1", 3)
    assert isinstance(found["attributes"]["mlhpc_cores"], dict)
    script = submit(app, "bio410", mlhpc_cores=8, mlhpc_resources="short", bc_num_hours=500)
    assert script == {
        "wall_time": 3 * 3600,
        "accounting_id": "ABC",
        "queue_name": "gpu",
        "reservation_id": "r1",
        "native": ["--nodes=1", "--ntasks=1", "--cpus-per-task=8", "--gres=gpu:a100:1"],
    }
    assert "reservation_id" not in submit(app)


@pytest.mark.parametrize(
    ("fixed", "sentence"),
    [
        ({"hours": 721}, "--hours 721: sessions there may have at most 720 hours."),
        ({"partition": "short", "hours": 3}, "--hours 3: sessions there may have at most 2 hours."),
        ({"cores": 129}, "at most 128 cores"),
        ({"memory": 501}, "at most 500 GiB"),
        ({"gpu": "a100", "gpus": 2}, "at most 1 GPUs"),
        ({"gpu": "h100"}, "cannot have --gpu h100; there are: amd with no GPU, gpu with a100 GPU"),
        ({"partition": "gpu", "gpu": "none"}, "cannot have --partition gpu --gpu none"),
        (
            {"partition": "gpu"},
            "--partition gpu leaves several choices: name one of --partition gpu --gpu a100",
        ),
        ({"partition": "a b"}, "--partition 'a b': use letters"),
        ({"name": "../evil"}, "becomes the name of a file"),
        ({"account": "a b"}, "--account 'a b': use letters"),
        ({"reservation": "$(x)"}, "--reservation '$(x)'"),
        ({"hours": 0}, "--hours 0: name a number from 1"),
    ],
)
def test_a_class_that_asks_for_what_is_not_there_is_refused(fixed: Mapping[str, Any], sentence: str) -> None:
    with pytest.raises(UsageError) as refused:
        app_files(request_for("sagehen", "sagehen", "pomona", ClassVariant(**{"name": "bio410", **fixed})))
    assert sentence in str(refused.value)


def test_a_class_at_a_site_without_known_partitions_may_name_one(tmp_path: Path) -> None:
    variant = ClassVariant("c", partition="teaching", gpu="any", gpus=1)
    app = written(request_for("generic", "slurm", "some-cluster", variant), tmp_path / "app")
    script = submit(app, "c")
    assert script["queue_name"] == "teaching"
    assert script["native"][-1] == "--gpus-per-node=1"


@pytest.mark.parametrize(
    ("site", "options", "sentence"),
    [
        ("osc", {}, "has several such clusters (pitzer, ascend, cardinal): choose one with --cluster."),
        ("osc", {"cluster": "pitzr"}, "has no cluster 'pitzr'; did you mean pitzer?"),
        ("ospool-chtc", {}, "runs Slurm, which the app is written for. Use the notebooks"),
        ("ospool-chtc", {"cluster": "chtc"}, "CHTC does not run Slurm"),
        ("practice", {"cluster": "pitzer"}, "knows no Open OnDemand portal"),
        ("generic", {}, "If there is one, name the cluster as the portal's clusters.d/NAME.yml does"),
        ("generic", {"portal_cluster": "x y"}, "--cluster-id 'x y'"),
        ("sagehen", {"course_root": None}, "(the profile says /bigdata/{lab}/ml-on-hpc)"),
        (
            "generic",
            {"portal_cluster": "x", "course_root": None},
            "Where is the course at Your cluster? Name",
        ),
        ("sagehen", {"course_root": "course"}, "--course-root 'course': write the whole path"),
        ("sagehen", {"course_root": "/a/../b"}, "write the whole path"),
        ("sagehen", {"course_root": "/"}, "write the whole path"),
        ("sagehen", {"environment": "/a'b"}, '--environment "/a\'b": use ASCII letters'),
        ("sagehen", {"files": "../x"}, "--files '../x' must be a folder inside the course's."),
        ("sagehen", {"files": ""}, "--files '' must be"),
        ("sagehen", {"learner_folder": "~"}, "name a folder as seen from the home folder"),
        ("sagehen", {"learner_folder": ""}, "name a folder as seen from the home folder"),
        ("sagehen", {"learner_folder": "/scratch/{lab}/x"}, "only {user} can stand for something"),
    ],
)
def test_what_cannot_be_built_is_refused_with_the_way_out(
    site: str, options: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(UsageError) as refused:
        app_request(load_site(site), **{"course_root": COURSE, **options})
    assert sentence in str(refused.value)


def test_a_portal_that_allows_no_partition_is_refused() -> None:
    text = PROFILE.replace("max_time: 24 h", "max_time: 30 min")
    with pytest.raises(UsageError, match="use none of its partitions"):
        small_request(Path("/course"), Path("/environment"), text)


def test_the_readme_names_the_places_and_what_is_not_known(tmp_path: Path) -> None:
    text = (written(request_for("osc", "pitzer", "pitzer"), tmp_path / "app") / "README.md").read_text()
    assert "@@" not in text
    for part in (COURSE, f"{COURSE}/.venv", "~/ml-on-hpc", "/var/www/ood/apps/sys/", "~/ondemand/dev/"):
        assert part in text
    assert "Not known: clusters.pitzer.ondemand.max_time." in text


def test_the_files_are_plain_ascii_and_carry_no_anchor(tmp_path: Path) -> None:
    app = written(request_for("sagehen", "sagehen", "pomona", ALL_FIXED), tmp_path / "app")
    for path in app.rglob("*"):
        if path.is_file():
            assert path.read_bytes().isascii(), path
    assert not re.search(r"[&*]id\d", (app / "form.yml.erb").read_text())
    assert yaml.safe_load((app / "manifest.yml").read_text())["role"] == "batch_connect"


HARD_TEXT = st.text(min_size=1, max_size=30) | st.sampled_from(
    [
        "<%= raise %>",
        "<%",
        "%>",
        "<%%",
        "#{raise}",
        "01:30",
        ":symbol",
        "yes",
        "~",
        "é&*!|>'\"%@`",
        "a: b # c",
        "TABLE",
    ]
)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(model=HARD_TEXT, note=HARD_TEXT, support=HARD_TEXT)
def test_any_text_of_a_profile_arrives_in_the_form_as_it_is(
    model: str, note: str, support: str, tmp_path: Path
) -> None:
    profile = yaml.safe_load(PROFILE.replace("read: 2026-12-01", "read: '2026-12-01'"))
    cluster = profile["clusters"][0]
    cluster["gpus"] = [
        {"id": "k", "model": model, "note": note, "request": {"option": "gres"}, "source": "us"}
    ]
    cluster["partitions"][0] |= {"gpus": ["k"]}
    profile["site"]["support"] = support
    site = check_text(yaml.safe_dump(profile), Path("hard.yml"))
    request = app_request(site, course_root="/c<% x", environment="/e %>")
    app = tmp_path / "app"
    shutil.rmtree(app, ignore_errors=True)
    found = form(written(request, app))["attributes"]
    assert found["mlhpc_resources"]["options"][0][0] == f"{model}; partition cpu"
    assert found["mlhpc_resources"]["help"] == f"- {model}: {note}"
    assert (found["mlhpc_support"], found["mlhpc_course_root"]) == (support, "/c<% x")
    assert submit(app)["native"][-1] == "--gres=gpu:1"


def test_the_card_of_a_session_that_ran_says_nothing(app: Path, tmp_path: Path) -> None:
    assert dashboard("completed", str(app), str(tmp_path)).strip() == ""
    (tmp_path / "reason.txt").write_bytes(b"b\xffroken <b>" + b"x" * 5000)
    card = dashboard("completed", str(app), str(tmp_path))
    assert "roken &lt;b&gt;" in card
    assert len(card) < 2500
