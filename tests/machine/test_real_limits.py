"""The real thing: a restricted process and a real control group, with nothing stood in for."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

REPORT = "from mlhpc.machine import inspect; print(inspect().model_dump_json())"
SPIN = """
import json, os, sys, time
from pathlib import Path
Path(sys.argv[1], "cgroup.procs").write_text(str(os.getpid()))
from mlhpc.machine import inspect, watch_contention
with watch_contention() as watch:
    end = time.monotonic() + 1.0
    while time.monotonic() < end:
        pass
print(json.dumps([inspect().cpu.model_dump(), watch.result().model_dump()]))
"""


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system has no processor affinity")
@pytest.mark.skipif(shutil.which("taskset") is None, reason="taskset is not installed")
def test_restricted_process_sees_one_core() -> None:
    core = min(os.sched_getaffinity(0))
    done = subprocess.run(
        ["taskset", "-c", str(core), sys.executable, "-c", REPORT], capture_output=True, text=True, check=True
    )
    machine = json.loads(done.stdout)
    assert (machine["cpu"]["cores_in_affinity"], machine["cpu"]["cores_usable"]) == (1, 1)
    assert machine["cpu"]["cores_present"] == os.cpu_count()
    if os.cpu_count() != 1:
        assert any("1 core may be used here" in warning for warning in machine["warnings"])


@pytest.fixture
def throttled_group() -> Iterator[Path]:
    """A real control group that allows a fifth of a processor, removed afterwards."""
    name = f"mlhpc-test-{os.getpid()}"
    candidates = [
        (Path("/sys/fs/cgroup/cpu"), {"cpu.cfs_period_us": "50000", "cpu.cfs_quota_us": "10000"}),
        (Path("/sys/fs/cgroup"), {"cpu.max": "10000 50000"}),
    ]
    for parent, settings in candidates:
        group = parent / name
        try:
            group.mkdir()
        except OSError:
            continue
        if all((group / setting).exists() for setting in settings):
            for setting, value in settings.items():
                (group / setting).write_text(value)
            yield group
            group.rmdir()
            return
        group.rmdir()
    pytest.skip("no control group with a processor quota can be made by this user here")


def test_real_quota_is_read_and_its_throttling_counted(throttled_group: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SPIN, str(throttled_group)], capture_output=True, text=True, check=True
    )
    cpu, contention = json.loads(done.stdout)
    assert (cpu["cores_in_quota"], cpu["cores_usable"]) == (pytest.approx(0.2), 1)
    assert contention["throttled_seconds"] > 0
