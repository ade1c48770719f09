"""Cores and memory: affinity, control groups of both versions, and what is broken or missing."""

import os
from pathlib import Path

import psutil
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mlhpc.machine import Sources, inspect
from tests.machine.fake_tree import UNIFIED, VERSION_1, FakeTree

GIBIBYTE = 2**30


def test_a_node_without_limits_gives_everything(tree: FakeTree) -> None:
    machine = inspect(tree.sources())
    cpu = machine.cpu
    assert (cpu.cores_present, cpu.cores_in_affinity, cpu.cores_in_quota, cpu.cores_usable) == (
        64,
        64,
        None,
        64,
    )
    assert cpu.model == "AMD EPYC 9654 96-Core Processor"
    assert cpu.instruction_sets == ("avx2", "avx512f", "avx512_bf16")
    assert machine.memory.total_bytes == machine.memory.usable_bytes == 256 * GIBIBYTE
    assert machine.memory.limit_bytes is None
    assert machine.warnings == ()


def test_affinity_counts_ranges_and_single_cores(tree: FakeTree) -> None:
    tree.write("/proc/self/status", "Cpus_allowed_list:\t0-3,8,16-17\n")
    assert inspect(tree.sources()).cpu.cores_usable == 7


def test_tightest_quota_on_the_way_up_counts(tree: FakeTree) -> None:
    tree.write("/proc/self/cgroup", "0::/job/step/task\n")
    tree.write("/sys/fs/cgroup/job/cpu.max", "400000 100000\n")
    tree.write("/sys/fs/cgroup/job/step/cpu.max", "250000 100000\n")
    tree.write("/sys/fs/cgroup/job/step/task/cpu.max", "max 100000\n")
    cpu = inspect(tree.sources()).cpu
    assert (cpu.cores_in_quota, cpu.cores_usable) == (2.5, 2)


def test_less_than_one_core_still_gives_one_thread(tree: FakeTree) -> None:
    tree.write("/sys/fs/cgroup/cpu.max", "20000 100000\n")
    cpu = inspect(tree.sources()).cpu
    assert (cpu.cores_in_quota, cpu.cores_usable) == (0.2, 1)


def test_version_1_groups(tree: FakeTree) -> None:
    tree.write("/proc/self/cgroup", "4:memory:/user/42\n1:cpu,cpuacct:/user/42\n")
    tree.write("/proc/self/mountinfo", VERSION_1)
    tree.write("/sys/fs/cgroup/cpu,cpuacct/user/42/cpu.cfs_quota_us", "-1\n")
    tree.write("/sys/fs/cgroup/cpu,cpuacct/user/42/cpu.cfs_period_us", "100000\n")
    tree.write("/sys/fs/cgroup/cpu,cpuacct/user/cpu.cfs_quota_us", "300000\n")
    tree.write("/sys/fs/cgroup/cpu,cpuacct/user/cpu.cfs_period_us", "100000\n")
    tree.write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n")
    tree.write("/sys/fs/cgroup/memory/user/42/memory.limit_in_bytes", f"{8 * GIBIBYTE}\n")
    machine = inspect(tree.sources())
    assert (machine.cpu.cores_in_quota, machine.cpu.cores_usable) == (3.0, 3)
    assert machine.memory.limit_bytes == machine.memory.usable_bytes == 8 * GIBIBYTE


def test_version_1_without_limit_shows_none(tree: FakeTree) -> None:
    tree.write("/proc/self/cgroup", "4:memory:/\n")
    tree.write("/proc/self/mountinfo", VERSION_1)
    tree.write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n")
    memory = inspect(tree.sources()).memory
    assert (memory.limit_bytes, memory.usable_bytes) == (None, 256 * GIBIBYTE)


@pytest.mark.parametrize("path", ["/docker/abc", "/docker/abc/inner", "/../../elsewhere", "/other"])
def test_container_reads_its_own_mount(tree: FakeTree, path: str) -> None:
    tree.write("/proc/self/cgroup", f"0::{path}\n")
    tree.write("/proc/self/mountinfo", UNIFIED.replace(" / /sys", " /docker/abc /sys"))
    tree.write("/sys/fs/cgroup/cpu.max", "200000 100000\n")
    tree.write("/sys/fs/cgroup/memory.max", f"{4 * GIBIBYTE}\n")
    machine = inspect(tree.sources())
    assert (machine.cpu.cores_usable, machine.memory.limit_bytes) == (2, 4 * GIBIBYTE)


@pytest.mark.parametrize("content", ["", "max", "max 100000", "100000", "100000 0", "abc def", "-1 100000"])
def test_quota_that_is_none_or_unreadable_is_no_quota(tree: FakeTree, content: str) -> None:
    tree.write("/sys/fs/cgroup/cpu.max", content)
    assert inspect(tree.sources()).cpu.cores_in_quota is None


def test_empty_tree_falls_back_to_what_the_system_answers(tmp_path: Path) -> None:
    machine = inspect(Sources(root=tmp_path, environment={}))
    assert machine.cpu.cores_present == os.cpu_count()
    assert machine.memory.total_bytes == psutil.virtual_memory().total


def test_arm_processor_is_named_by_its_parts(tree: FakeTree) -> None:
    tree.write(
        "/proc/cpuinfo",
        "processor : 0\nFeatures : fp asimd sve bf16 i8mm\nCPU implementer : 0x41\nCPU part : 0xd4f\n",
    )
    cpu = inspect(tree.sources()).cpu
    assert cpu.model == "Arm implementer 0x41 part 0xd4f"
    assert cpu.instruction_sets == ("asimd", "sve", "bf16", "i8mm")


def test_operating_system_names_no_site(tree: FakeTree) -> None:
    name = inspect(tree.sources()).operating_system
    assert name.endswith("6.1, Rocky Linux 9.4")
    assert "site" not in name


WORDS = st.text(alphabet="0123456789-,/:. max\n", max_size=40)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(status=WORDS, online=WORDS, membership=WORDS, mounts=WORDS, quota=WORDS, memory=WORDS)
def test_no_content_of_these_files_breaks_the_inspection(
    tree: FakeTree, status: str, online: str, membership: str, mounts: str, quota: str, memory: str
) -> None:
    tree.write("/proc/self/status", f"Cpus_allowed_list:\t{status}")
    tree.write("/sys/devices/system/cpu/online", online)
    tree.write("/proc/self/cgroup", f"0::/{membership}")
    tree.write("/proc/self/mountinfo", UNIFIED + mounts)
    tree.write("/sys/fs/cgroup/cpu.max", quota)
    tree.write("/sys/fs/cgroup/memory.max", memory)
    machine = inspect(tree.sources())
    assert 1 <= machine.cpu.cores_usable <= max(machine.cpu.cores_present, 1)
    assert 0 <= machine.memory.usable_bytes <= machine.memory.total_bytes
