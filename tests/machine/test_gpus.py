"""GPUs: what CUDA_VISIBLE_DEVICES leaves, and NVML through the real nvidia-ml-py."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlhpc.machine import inspect
from mlhpc.machine.gpus import Device, select

ALL = (
    Device("GPU-aa11", "A", 1, "8.0"),
    Device("GPU-aa22", "B", 2, "8.0"),
    Device("GPU-bb33", "C", 3, "8.0"),
)
INSTANCES = (
    Device("MIG-1111", "M1", 1, "8.0", is_instance=True),
    Device("MIG-2222", "M2", 2, "8.0", is_instance=True),
)
CUT = Device("GPU-cc44", "D", 4, "8.0", in_multi_instance_mode=True, instances=INSTANCES)


@pytest.mark.parametrize(
    ("setting", "names"),
    [
        (None, "ABC"),
        ("", ""),
        ("-1", ""),
        ("2,0", "CA"),
        ("0, 1", "AB"),
        ("0,7,1", "A"),
        ("0,-1,1", "A"),
        ("1,x,0", "B"),
        ("GPU-bb33", "C"),
        ("GPU-bb,GPU-aa1", "CA"),
        ("GPU-aa", ""),
        ("NoDevFiles", ""),
    ],
)
def test_visible_devices_of_whole_gpus(setting: str | None, names: str) -> None:
    assert "".join(device.name for device in select(ALL, setting)) == names


@pytest.mark.parametrize(
    ("setting", "names"),
    [
        (None, ["A", "M1"]),
        ("1", ["M1"]),
        ("GPU-cc44", ["M1"]),
        ("MIG-2222", ["M2"]),
        ("MIG-1111,MIG-2222", ["M1"]),
        ("MIG-9", []),
    ],
)
def test_visible_devices_with_instances(setting: str | None, names: list[str]) -> None:
    assert [device.name for device in select((ALL[0], CUT), setting)] == names


def test_gpu_in_instance_mode_without_instances_cannot_be_used() -> None:
    empty = Device("GPU-ee55", "E", 5, "8.0", in_multi_instance_mode=True)
    assert [device.name for device in select((empty, ALL[0]), None)] == ["A"]


@given(setting=st.text(alphabet="0123-,GPUMIabc ", max_size=30))
def test_any_setting_selects_a_subset_and_never_fails(setting: str) -> None:
    chosen = select((*ALL, CUT), setting)
    assert set(chosen) <= {*ALL, *INSTANCES}
    assert sum(device.is_instance for device in chosen) <= 1


@pytest.mark.skipif(shutil.which("nvidia-smi") is not None, reason="this machine has an NVIDIA driver")
def test_machine_without_the_library_has_no_gpu_and_no_fault() -> None:
    machine = inspect()
    assert machine.gpus == ()
    assert not [warning for warning in machine.warnings if "GPU" in warning or "NVIDIA" in warning]


@pytest.fixture(scope="module")
def fake_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a compiled stand-in for the NVIDIA library."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler to build the stand-in for the NVIDIA library")
    folder = tmp_path_factory.mktemp("nvml")
    source = Path(__file__).with_name("fake_nvml.c")
    command = [compiler, "-shared", "-fPIC", "-o", str(folder / "libnvidia-ml.so.1"), str(source)]
    subprocess.run(command, check=True)
    return folder


def inspect_with(library: Path, **variables: str) -> Any:
    """Return the inspection of a fresh process that loads the stand-in."""
    code = "from mlhpc.machine import inspect; print(inspect().model_dump_json())"
    kept = {name: value for name, value in os.environ.items() if name != "CUDA_VISIBLE_DEVICES"}
    environment = {**kept, "LD_LIBRARY_PATH": str(library), **variables}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def test_devices_instances_and_a_lost_gpu(fake_library: Path) -> None:
    machine = inspect_with(fake_library, CUDA_DEVICE_ORDER="PCI_BUS_ID")
    whole, part = machine["gpus"]
    assert whole == {
        "index": 0,
        "name": "NVIDIA A100-SXM4-80GB",
        "memory_bytes": 80 * 2**30,
        "compute_capability": "8.0",
        "driver": "570.86.15",
        "multi_instance": False,
    }
    assert (part["index"], part["name"], part["multi_instance"]) == (
        1,
        "NVIDIA A100-SXM4-80GB MIG 1g.10gb",
        True,
    )
    assert part["compute_capability"] == "8.0"
    assert any("GPU 2 does not answer (GPU is lost)" in warning for warning in machine["warnings"])
    assert "GPU-aaaa" not in json.dumps(machine)


def test_instance_chosen_by_name(fake_library: Path) -> None:
    machine = inspect_with(fake_library, CUDA_VISIBLE_DEVICES="MIG-eeee4444-0000-0000-0000-000000000000")
    assert [gpu["name"] for gpu in machine["gpus"]] == ["NVIDIA A100-SXM4-80GB MIG 3g.40gb"]


def test_unlike_gpus_need_a_fixed_order(fake_library: Path) -> None:
    assert any("CUDA_DEVICE_ORDER" in warning for warning in inspect_with(fake_library)["warnings"])


def test_driver_that_does_not_answer_is_a_warning(fake_library: Path) -> None:
    machine = inspect_with(fake_library, FAKE_NVML_INIT="18")
    assert machine["gpus"] == []
    assert any("The NVIDIA driver does not answer" in warning for warning in machine["warnings"])
