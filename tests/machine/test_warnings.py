"""Disagreements: each is one sentence with the way out, and none appears without a reason."""

import pytest

from mlhpc.machine import inspect
from tests.machine.fake_tree import FakeTree

GIBIBYTE = 2**30


def warnings(tree: FakeTree) -> str:
    return "\n".join(inspect(tree.sources()).warnings)


def test_more_cores_shown_than_usable(tree: FakeTree) -> None:
    tree.write("/proc/self/status", "Cpus_allowed_list:\t5\n")
    assert "os.cpu_count() says 64, but 1 core may be used here: set" in warnings(tree)


def test_slurm_grants_more_than_the_affinity(tree: FakeTree) -> None:
    tree.environment |= {"SLURM_JOB_ID": "1", "SLURM_CPUS_ON_NODE": "16"}
    tree.write("/proc/self/status", "Cpus_allowed_list:\t5\n")
    assert "Slurm granted 16 cores, but this process may use 1: start" in warnings(tree)
    assert "srun --cpus-per-task" in warnings(tree)


def test_slurm_grants_less_than_the_affinity(tree: FakeTree) -> None:
    tree.environment |= {"SLURM_JOB_ID": "1", "SLURM_CPUS_ON_NODE": "4"}
    assert "Slurm granted 4 cores and does not hold the job to it (64 can be used)" in warnings(tree)
    assert "no more than 4 threads" in warnings(tree)


def test_agreement_gives_no_warning_about_slurm(tree: FakeTree) -> None:
    tree.environment |= {"SLURM_JOB_ID": "1", "SLURM_CPUS_ON_NODE": "64"}
    assert warnings(tree) == ""


def test_too_many_threads(tree: FakeTree) -> None:
    tree.environment["OMP_NUM_THREADS"] = "128,4"
    assert "OMP_NUM_THREADS is 128, but 64 cores may be used here: set it to 64" in warnings(tree)


@pytest.mark.parametrize("value", ["all", "0", "-3", "4.5"])
def test_thread_count_that_is_none(tree: FakeTree, value: str) -> None:
    tree.environment["OMP_NUM_THREADS"] = value
    assert f"OMP_NUM_THREADS is '{value}', no number of threads: set it to 64" in warnings(tree)


@pytest.mark.parametrize(("policy", "said"), [(None, "is not set"), ("ACTIVE", "is ACTIVE")])
def test_spinning_threads_on_shared_cores(tree: FakeTree, policy: str | None, said: str) -> None:
    tree.write("/proc/loadavg", "70.25 1 1 1/200 4242\n")
    if policy:
        tree.environment["OMP_WAIT_POLICY"] = policy
    assert f"(load average 70.2 on 64) and OMP_WAIT_POLICY {said}" in warnings(tree)
    assert "set it to PASSIVE before Python starts" in warnings(tree)


def test_passive_threads_may_share(tree: FakeTree) -> None:
    tree.write("/proc/loadavg", "70.25 1 1 1/200 4242\n")
    tree.environment["OMP_WAIT_POLICY"] = "passive"
    assert warnings(tree) == ""


def test_memory_limit_below_the_total(tree: FakeTree) -> None:
    tree.write("/sys/fs/cgroup/memory.max", f"{12 * GIBIBYTE}\n")
    assert "shows 256.0 GiB of memory, but this process is killed above 12.0 GiB" in warnings(tree)


@pytest.mark.parametrize(
    "variables", [{"SLURM_MEM_PER_NODE": "16384"}, {"SLURM_MEM_PER_CPU": "1024", "SLURM_CPUS_ON_NODE": "16"}]
)
def test_granted_memory_that_nothing_enforces(tree: FakeTree, variables: dict[str, str]) -> None:
    tree.environment |= {"SLURM_JOB_ID": "1", **variables}
    assert "granted 16.0 GiB of memory, but nothing stops this process" in warnings(tree)


def test_granted_memory_that_is_enforced_needs_no_second_warning(tree: FakeTree) -> None:
    tree.environment |= {"SLURM_JOB_ID": "1", "SLURM_MEM_PER_NODE": "16384"}
    tree.write("/sys/fs/cgroup/memory.max", f"{16 * GIBIBYTE}\n")
    assert "nothing stops" not in warnings(tree)


def test_slurm_s_zero_for_all_memory_is_no_limit(tree: FakeTree) -> None:
    tree.environment |= {"SLURM_JOB_ID": "1", "SLURM_CPUS_ON_NODE": "64", "SLURM_MEM_PER_NODE": "0"}
    assert warnings(tree) == ""
