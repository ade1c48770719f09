"""Load, throttling and stolen time around a block."""

import pytest

from mlhpc.machine import watch_contention
from tests.machine.fake_tree import VERSION_1, FakeTree


def test_differences_of_the_counters(tree: FakeTree) -> None:
    tree.write("/proc/self/cgroup", "0::/job\n")
    tree.write("/sys/fs/cgroup/job/cpu.stat", "usage_usec 5\nthrottled_usec 1000000\n")
    tree.environment |= {"OMP_WAIT_POLICY": "PASSIVE", "OMP_NUM_THREADS": "2"}
    with watch_contention(tree.sources()) as watch:
        tree.write("/proc/loadavg", "3.50 1 1 1/2 3\n")
        tree.write("/proc/stat", "cpu  160 0 110 810 0 0 0 20 60 0\n")
        tree.write("/sys/fs/cgroup/job/cpu.stat", "throttled_usec 3500000\n")
    result = watch.result()
    assert (result.load_average_before, result.load_average_after) == (0.10, 3.50)
    assert result.throttled_seconds == pytest.approx(2.5)
    assert result.stolen_share == pytest.approx(20 / 100)
    assert (result.omp_wait_policy, result.omp_num_threads) == ("PASSIVE", "2")


def test_version_1_counts_nanoseconds(tree: FakeTree) -> None:
    tree.write("/proc/self/cgroup", "1:cpu,cpuacct:/\n")
    tree.write("/proc/self/mountinfo", VERSION_1)
    tree.write("/sys/fs/cgroup/cpu,cpuacct/cpu.stat", "nr_throttled 1\nthrottled_time 0\n")
    with watch_contention(tree.sources()) as watch:
        tree.write("/sys/fs/cgroup/cpu,cpuacct/cpu.stat", "nr_throttled 9\nthrottled_time 1500000000\n")
    assert watch.result().throttled_seconds == pytest.approx(1.5)


def test_what_nothing_counts_is_none(tree: FakeTree) -> None:
    tree.write("/proc/stat", "intr 5\n")
    with watch_contention(tree.sources()) as watch:
        pass
    result = watch.result()
    assert (result.throttled_seconds, result.stolen_share, result.omp_wait_policy) == (None, None, None)


def test_no_tick_in_between_is_none_and_not_zero(tree: FakeTree) -> None:
    with watch_contention(tree.sources()) as watch:
        pass
    assert watch.result().stolen_share is None


def test_result_is_refused_inside_the_block(tree: FakeTree) -> None:
    with watch_contention(tree.sources()) as watch, pytest.raises(RuntimeError, match="block has ended"):
        watch.result()


def test_result_is_known_after_an_interruption(tree: FakeTree) -> None:
    with pytest.raises(KeyboardInterrupt), watch_contention(tree.sources()) as watch:
        raise KeyboardInterrupt
    assert watch.result().load_average_after == 0.10


def test_on_this_machine() -> None:
    with watch_contention() as watch:
        sum(range(200_000))
    result = watch.result()
    assert result.load_average_before >= 0
    assert result.stolen_share is None or 0 <= result.stolen_share <= 1
