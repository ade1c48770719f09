"""What stands in a script: the site's spelling, refusals with a way out, and nothing invented."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlhpc.errors import UsageError
from mlhpc.scripts import JobRequest, Script, write_script
from mlhpc.scripts.slurm import slurm_time
from mlhpc.scripts.units import read_memory, read_time
from mlhpc.sites.clusters import Cloud
from mlhpc.sites.load import load_site, site_ids
from mlhpc.sites.quantities import Duration, Size


def script(site: str, *command: str, **options: Any) -> Script:
    for key, read in (("time", read_time), ("memory", read_memory)):
        if key in options:
            options[key] = read(options[key])
    return write_script(load_site(site), JobRequest(command or ("python", "train.py"), **options))


def options_of(found: Script) -> set[str]:
    return {line.removeprefix("#SBATCH ") for line in found.text.splitlines() if line.startswith("#SBATCH")}


class TestSlurm:
    def test_a_gpu_in_each_sites_spelling(self) -> None:
        assert "--gres=gpu:l40s:1" in options_of(script("sagehen", gpu="l40s"))
        assert "--gpus-per-node=v100-quad:4" in options_of(
            script("osc", cluster="pitzer", gpu="v100-quad", gpus=4, account="x")
        )
        ascend = options_of(script("osc", cluster="ascend", gpu="a100-80g", account="x"))
        assert {"--partition=quad", "--gpus-per-node=1"} <= ascend

    def test_time_memory_and_cores(self) -> None:
        found = options_of(script("sagehen", time="36 h", memory="32 GiB", cores=8))
        assert {"--time=1-12:00:00", "--mem=32768M", "--cpus-per-task=8", "--partition=amd"} <= found

    def test_a_time_picks_a_partition_that_allows_it(self) -> None:
        assert "--partition=amd" in options_of(script("sagehen", time="100 h"))

    def test_debug_and_preemptible_partitions_only_by_name(self) -> None:
        assert "--partition=gpu" in options_of(
            script("osc", cluster="pitzer", gpu="v100", account="x", time="1 h")
        )
        named = script("osc", cluster="pitzer", gpu="v100", account="x", time="1 h", partition="gpubackfill")
        assert "--partition=gpubackfill" in options_of(named)
        assert any("interrupted" in remark for remark in named.remarks)

    def test_the_signal_goes_to_the_batch_shell(self) -> None:
        assert "--signal=B:USR1@120" in options_of(script("sagehen", signal="USR1"))

    def test_a_percent_sign_in_the_folder_stays_one(self) -> None:
        assert '--output="a 5%% b/%x-%j.out"' in options_of(script("sagehen", output="a 5% b"))

    def test_memory_that_becomes_cores_is_told(self) -> None:
        found = script("osc", cluster="pitzer", gpu="v100", account="x", memory="72 GiB", cores=1)
        assert any("turns into 8 cores" in remark for remark in found.remarks)

    def test_facts_that_sources_disagree_about_are_told(self) -> None:
        found = script("sagehen", gpu="a100", stage_in=("x",))
        assert any("storage.scratch.path" in remark for remark in found.remarks)

    def test_a_program_that_is_not_staged_is_told(self) -> None:
        found = script("generic", "python", "train.py", cluster="slurm", stage_in=("data",))
        assert any("--stage-in train.py" in remark for remark in found.remarks)

    @given(st.integers(min_value=1, max_value=10**8))
    def test_slurm_never_gets_less_time_than_was_asked_for(self, seconds: int) -> None:
        written = slurm_time(Duration(seconds, "x"))
        found = read_time(written)
        assert found is not None
        assert seconds <= found.seconds < seconds + 60


REFUSED = [
    ("osc", {"cluster": "pitzer", "gpu": "h100", "account": "x"}, r"no GPU 'h100'.*v100"),
    ("osc", {"cluster": "ascend", "gpu": "a100", "account": "x"}, "a100-40g or a100-80g"),
    ("osc", {"cluster": "cardinal", "gpu": "h100", "account": "x", "time": "200 h"}, "168 h"),
    ("osc", {"cluster": "pitzer", "gpu": "v100", "gpus": 3, "account": "x"}, r"2 GPUs.*--gpu v100-quad"),
    ("osc", {"cluster": "pitzer", "gpu": "v100", "account": "x", "memory": "1 TB"}, "371680 MiB"),
    ("osc", {"cluster": "pitzer", "account": "x", "cores": 41}, "40 cores"),
    ("osc", {"cluster": "pitzer"}, r"needs an account.*PAS1234.*--account"),
    ("osc", {"account": "x"}, r"several clusters \(pitzer, ascend, cardinal\).*--cluster"),
    ("osc", {"cluster": "pitzr", "account": "x"}, "did you mean pitzer"),
    ("osc", {"cluster": "pitzer", "account": "x", "partition": "gpuu"}, "did you mean gpu"),
    (
        "osc",
        {"cluster": "pitzer", "account": "x", "partition": "cpu", "gpu": "v100"},
        r"cpu .* has no v100: gpu or",
    ),
    ("sagehen", {"gpu": "a100", "gpus": 5}, r"4 GPUs"),
    ("nairr", {"cluster": "jetstream2"}, "cloud"),
    ("sagehen", {"output": "a\nb"}, "printable"),
    ("sagehen", {"name": "a b"}, "job name"),
    ("sagehen", {"account": "a b"}, "account"),
    ("sagehen", {"signal": "KILL"}, "USR1"),
    ("sagehen", {"stage_in": ("a/x", "b/x")}, "both called x"),
    ("sagehen", {"stage_out": ("../x",)}, "inside"),
    ("sagehen", {"cores": 0}, "from 1"),
    ("ospool-chtc", {"cluster": "ospool", "account": "x", "time": "41 h"}, "40 h"),
    ("ospool-chtc", {"cluster": "ospool", "account": "x", "signal": "USR1"}, "85"),
    ("ospool-chtc", {"cluster": "ospool", "account": "x", "stage_in": ("a,b",)}, "commas"),
]


@pytest.mark.parametrize(("site", "options", "reason"), REFUSED)
def test_refusals_give_the_reason_and_the_way_out(site: str, options: dict[str, Any], reason: str) -> None:
    with pytest.raises(UsageError, match=f"(?s){reason}"):
        script(site, **options)


def test_a_command_is_needed() -> None:
    with pytest.raises(UsageError, match="--command"):
        JobRequest(())


class TestHTCondor:
    def test_units_and_minimums(self) -> None:
        text = script("ospool-chtc", cluster="ospool", account="P", gpu="a10", memory="16 GiB").text
        assert "request_memory = 16384 MB\n" in text
        assert "gpus_minimum_memory = 22000\n" in text
        assert '+ProjectName = "P"\n' in text
        assert '+JobDurationCategory = "Medium"\n' in text
        assert text.rstrip().endswith("queue")

    def test_a_long_job_takes_the_category_that_allows_it(self) -> None:
        text = script("ospool-chtc", cluster="ospool", account="P", time="25 h").text
        assert '+JobDurationCategory = "Long"\n' in text

    def test_lines_that_belong_to_a_category_come_with_it(self) -> None:
        text = script("ospool-chtc", cluster="chtc", gpu="a100-80").text
        assert "+WantGPULab = true\n" in text
        assert "gpus_minimum_memory = 80000\n" in text


def test_generic_invents_nothing() -> None:
    found = script("generic", cluster="slurm", gpu="any")
    assert options_of(found) == {
        "--job-name=job", "--ntasks=1", "--gpus-per-node=1", "--cpus-per-task=1", "--output=logs/%x-%j.out",
    }  # fmt: skip
    assert sum(remark.startswith("Not known") for remark in found.remarks) >= 3


@pytest.mark.skipif(shutil.which("shellcheck") is None, reason="shellcheck is not installed")
def test_shellcheck_finds_nothing_in_any_sites_script(tmp_path: Path) -> None:
    staged = {"stage_in": ("a b.py", "data"), "stage_out": ("o u",), "time": "10 min", "memory": "1 GiB"}
    for name in site_ids():
        site = load_site(name)
        for cluster in (one for one in site.clusters if not isinstance(one, Cloud)):
            for more in ({}, staged, {**staged, "signal": "USR1"}):
                if "signal" in more and cluster.scheduler == "htcondor":
                    continue
                gpu = "any" if cluster.gpus else None
                command = ("python", "it's", "$x")
                found = script(name, *command, cluster=cluster.id, gpu=gpu, placeholders=True, **more)
                for number, text in enumerate((found.text, *found.companions.values())):
                    if text.startswith("#!"):
                        (tmp_path / f"{name}-{cluster.id}-{len(more)}-{number}.sh").write_text(text)
    files = [str(path) for path in tmp_path.glob("*.sh")]
    done = subprocess.run(["shellcheck", *files], capture_output=True, text=True, check=False)
    assert (len(files) > 20, done.stdout) == (True, "")


class TestUnits:
    @pytest.mark.parametrize(
        ("text", "seconds"),
        [("4 h", 14400), ("90min", 5400), ("2 days", 172800), ("1-12:00:00", 129600), ("00:30:00", 1800)],
    )
    def test_times(self, text: str, seconds: int) -> None:
        found = read_time(text)
        assert found is not None
        assert found.seconds == seconds

    @pytest.mark.parametrize("text", ["30", "30:00", "", "1 fortnight", "-1 h", "0 s", "1e3 h", "٣ h"])
    def test_times_that_people_read_differently_are_refused(self, text: str) -> None:
        with pytest.raises(UsageError, match="--time"):
            read_time(text)

    @pytest.mark.parametrize("text", ["32", "32G", "1 kB", "", "GB", "1,5 GB"])
    def test_memory_without_a_clear_unit_is_refused(self, text: str) -> None:
        with pytest.raises(UsageError, match="--memory"):
            read_memory(text)

    @given(st.text(max_size=20))
    def test_any_text_is_read_or_refused(self, text: str) -> None:
        for read in (read_time, read_memory):
            try:
                found = read(text)
            except UsageError:
                continue
            assert isinstance(found, Duration | Size)


class TestCommandLine:
    def run(self, *arguments: str, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "mlhpc", "script", *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)

    def test_prints_the_script_and_keeps_remarks_apart(self) -> None:
        done = self.run("--site", "sagehen", "--gpu", "a100", "--command", "python 'a b.py'")
        assert done.stdout.startswith("#!/bin/bash\n")
        assert done.stdout.endswith("python 'a b.py'\n")
        assert "note: to submit it: mkdir -p -- logs && sbatch job.sh" in done.stderr

    def test_writes_files_once_and_makes_the_logs_folder(self, tmp_path: Path) -> None:
        arguments = ("--site", "sagehen", "--out", ".", "--name", "train", "--", "python", "train.py")
        assert self.run(*arguments, folder=tmp_path).returncode == 0
        assert (tmp_path / "train.sh").stat().st_mode & 0o111
        assert (tmp_path / "logs").is_dir()
        again = self.run(*arguments, folder=tmp_path)
        assert (again.returncode, "--force" in again.stderr) == (2, True)

    def test_json_holds_everything(self) -> None:
        done = self.run("--site", "generic", "--cluster", "htcondor", "--json", "--", "python", "x.py")
        data = json.loads(done.stdout)
        assert data["kind"] == "htcondor"
        assert "exec python x.py" in data["companions"]["job.sh"]

    @pytest.mark.parametrize(
        "arguments",
        [
            ("--site", "nowhere", "--", "a"),
            ("--command", "a 'b"),
            ("--command", "a", "--", "b"),
            (),
            ("--time", "30", "--", "a"),
        ],
    )
    def test_faults_are_one_sentence(self, arguments: tuple[str, ...]) -> None:
        done = self.run(*arguments)
        assert done.returncode == 2
        assert re.fullmatch(r"mlhpc: [^\n]+\n", done.stderr), done.stderr
