"""The scheduler's job and the kind of session."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlhpc.machine import Sources, inspect
from tests.machine.fake_tree import FakeTree

SLURM = {
    "SLURM_JOB_ID": "4711",
    "SLURM_CLUSTER_NAME": "cardinal",
    "SLURM_JOB_PARTITION": "gpu",
    "SLURM_CPUS_ON_NODE": "16",
}
SESSION_FOLDER = (
    "/home/me/ondemand/data/sys/dashboard/batch_connect/sys/jupyter/output"
    "/0a1b2c3d-1111-2222-3333-444455556666"
)


def test_slurm_job(tree: FakeTree) -> None:
    tree.environment |= SLURM
    machine = inspect(tree.sources())
    job = machine.scheduler
    assert job is not None
    assert (job.kind, job.job_id, job.cluster, job.partition, job.cores) == (
        *("slurm", "4711", "cardinal"),
        *("gpu", 16),
    )
    assert machine.session == "batch"
    assert machine.cpu.cores_usable == 16


@pytest.mark.parametrize(
    ("text", "node", "cores"),
    [("72(x2),36", "0", 72), ("72(x2),36", "1", 72), ("72(x2),36", "2", 36), ("8", "0", 8)],
)
def test_compressed_core_counts(tree: FakeTree, text: str, node: str, cores: int) -> None:
    tree.environment |= {"SLURM_JOB_ID": "1", "SLURM_JOB_CPUS_PER_NODE": text, "SLURM_NODEID": node}
    job = inspect(tree.sources()).scheduler
    assert job is not None
    assert job.cores == cores


@given(text=st.text(max_size=20), node=st.text(max_size=4))
def test_any_core_count_text_gives_a_number_or_none(text: str, node: str) -> None:
    environment = {"SLURM_JOB_ID": "1", "SLURM_JOB_CPUS_PER_NODE": text, "SLURM_NODEID": node}
    job = inspect(Sources(root=Path("/nonexistent"), environment=environment)).scheduler
    assert job is not None
    assert job.cores is None or job.cores >= 0


def test_a_task_among_several_gets_its_own_cores(tree: FakeTree) -> None:
    tree.environment |= {**SLURM, "SLURM_STEP_NUM_TASKS": "4", "SLURM_CPUS_PER_TASK": "4"}
    assert inspect(tree.sources()).cpu.cores_usable == 4


def test_tasks_without_a_core_count_are_not_blamed(tree: FakeTree) -> None:
    tree.environment |= {**SLURM, "SLURM_STEP_NUM_TASKS": "16"}
    tree.write("/proc/self/status", "Cpus_allowed_list:\t3\n")
    assert not [warning for warning in inspect(tree.sources()).warnings if "Slurm granted" in warning]


def test_htcondor_job_reads_both_files(tree: FakeTree) -> None:
    tree.write("/scratch/dir_1/.job.ad", 'ClusterId = 991\nProcId = 7\nOwner = "someone"\n')
    tree.write("/scratch/dir_1/.machine.ad", 'CPUS = 4\nMemory = 8192\nGLIDEIN_Site = "CHTC"\n')
    tree.environment["_CONDOR_SCRATCH_DIR"] = "/scratch/dir_1"
    machine = inspect(tree.sources())
    job = machine.scheduler
    assert job is not None
    assert (job.kind, job.job_id, job.cluster, job.cores) == ("htcondor", "991.7", "CHTC", 4)
    assert machine.cpu.cores_usable == 4
    assert any("HTCondor granted 4 cores and does not hold" in warning for warning in machine.warnings)
    assert any("granted 8.0 GiB of memory" in warning for warning in machine.warnings)
    assert "someone" not in machine.model_dump_json()


def test_htcondor_files_may_be_named_by_variables(tree: FakeTree) -> None:
    tree.write("/ads/job", "ClusterId = 5\nProcId = 0\n")
    tree.environment |= {"_CONDOR_JOB_AD": "/ads/job", "_CONDOR_MACHINE_AD": "/ads/missing"}
    job = inspect(tree.sources()).scheduler
    assert job is not None
    assert (job.job_id, job.cores) == ("5.0", None)


def test_htcondor_slot_inside_a_slurm_job_is_the_innermost(tree: FakeTree) -> None:
    tree.write("/ads/job", "ClusterId = 5\nProcId = 0\n")
    tree.environment |= {**SLURM, "_CONDOR_JOB_AD": "/ads/job"}
    job = inspect(tree.sources()).scheduler
    assert job is not None
    assert job.kind == "htcondor"


def test_condor_configuration_override_is_no_job(tree: FakeTree) -> None:
    tree.environment["_CONDOR_CONDOR_HOST"] = "localhost"
    assert inspect(tree.sources()).scheduler is None


@pytest.mark.parametrize(
    "variables",
    [
        {"SLURM_JOB_NAME": "ondemand/sys/dashboard/sys/bc_osc_jupyter"},
        {"SLURM_JOB_NAME": "sys/dashboard/dev/jupyter"},
        {"SLURM_JOB_NAME": "ondemand-sys-dashboard-usr-me-jupyter"},
        {"SLURM_SUBMIT_DIR": SESSION_FOLDER},
    ],
)
def test_ondemand_session(tree: FakeTree, variables: dict[str, str]) -> None:
    tree.environment |= SLURM | variables
    assert inspect(tree.sources()).session == "ondemand"


def test_job_submitted_from_a_notebook_is_a_batch_job(tree: FakeTree) -> None:
    tree.environment |= SLURM | {
        "SLURM_JOB_NAME": "train",
        "SLURM_SUBMIT_DIR": "/home/me/course",
        "PWD": SESSION_FOLDER,
        "OOD_PORTAL": "ondemand",
    }
    assert inspect(tree.sources()).session == "batch"


def test_ondemand_session_without_a_job(tree: FakeTree) -> None:
    tree.environment["PWD"] = SESSION_FOLDER
    assert inspect(tree.sources()).session == "ondemand"


@pytest.mark.parametrize(
    ("value", "kind"), [("true", "continuous-integration"), ("0", "laptop"), ("", "laptop")]
)
def test_continuous_integration(tree: FakeTree, value: str, kind: str) -> None:
    tree.environment["CI"] = value
    assert inspect(tree.sources()).session == kind


def test_login_node_has_submit_commands_but_no_job(tree: FakeTree) -> None:
    tree.write("/bin/sbatch", "#!/bin/sh\n")
    (tree.root / "bin/sbatch").chmod(0o755)
    tree.environment["PATH"] = str(tree.root / "bin")
    machine = inspect(tree.sources())
    assert machine.session == "login"
    assert "login node" in machine.warnings[0]


def test_nothing_of_the_above_is_a_laptop(tree: FakeTree) -> None:
    assert inspect(tree.sources()).session == "laptop"
