"""The data sheets: the file of the course, and faults that name file, line and key."""

import re
from pathlib import Path

import pytest

from mlhpc.errors import MlhpcError
from mlhpc.machine.hardware import load_hardware

NVML_NAMES = {
    "Tesla V100-SXM2-16GB": "v100-sxm2-16gb",
    "Tesla V100-SXM2-32GB": "v100-sxm2-32gb",
    "Tesla V100-PCIE-16GB": "v100-pcie-16gb",
    "Tesla V100-PCIE-32GB": "v100-pcie-32gb",
    "A100-SXM4-40GB": "a100-sxm4-40gb",
    "NVIDIA A100-SXM4-40GB": "a100-sxm4-40gb",
    "NVIDIA A100-SXM4-80GB": "a100-sxm4-80gb",
    "NVIDIA A100-PCIE-40GB": "a100-pcie-40gb",
    "NVIDIA A100 80GB PCIe": "a100-pcie-80gb",
    "NVIDIA L40S": "l40s",
    "NVIDIA RTX 6000 Ada Generation": "rtx-6000-ada",
    "NVIDIA RTX PRO 6000 Blackwell Workstation Edition": "rtx-pro-6000-workstation",
    "NVIDIA RTX PRO 6000 Blackwell Server Edition": "rtx-pro-6000-server",
    "NVIDIA H100 80GB HBM3": "h100-sxm5-80gb",
    "NVIDIA H100 PCIe": "h100-pcie-80gb",
    "NVIDIA H200": "h200-sxm5",
    "NVIDIA B200": "b200-sxm",
}
TEXT = """version: 1
sources:
  sheet: {title: A sheet, url: "https://example.org"}
gpus:
  - id: one
    name: One
    matches: ["One"]
    architecture: Ampere
    compute_capability: "8.0"
    memory_bytes: 100
    memory_bytes_per_second: 1.0e+9
    peak_flops: {fp32: 1.0e+12, tf32: null, fp16: null, bf16: null}
    gpu_link: null
    host_link: {kind: PCIe 4 x16, bytes_per_second: 64.0e+9}
    source: sheet
"""


@pytest.mark.parametrize(("name", "identifier"), NVML_NAMES.items())
def test_driver_s_names_lead_to_their_rows(name: str, identifier: str) -> None:
    found = load_hardware().find_gpu(name)
    assert found is not None
    assert found.id == identifier


def test_no_name_fits_two_rows_and_every_row_is_reached() -> None:
    gpus = load_hardware().gpus
    for name, identifier in NVML_NAMES.items():
        bare = re.sub("^(NVIDIA|Tesla) ", "", name)
        fits = [gpu.id for gpu in gpus if any(re.fullmatch(p, bare, re.IGNORECASE) for p in gpu.matches)]
        assert fits == [identifier]
    assert {gpu.id for gpu in gpus} == set(NVML_NAMES.values())


@pytest.mark.parametrize(
    "name",
    ["", "NVIDIA A100", "NVIDIA A100-SXM4-40GB MIG 1g.5gb", "NVIDIA H200 NVL", "NVIDIA L40", "Tesla T4"],
)
def test_unknown_names_and_parts_of_gpus_have_no_peaks(name: str) -> None:
    assert load_hardware().find_gpu(name) is None


def test_peaks_are_dense_and_in_plain_units() -> None:
    """Tensor cores halve their rate from bf16 to tf32; a sparse figure among dense ones would break that."""
    for gpu in load_hardware().gpus:
        tf32, bf16 = gpu.peak("tf32"), gpu.peak("bf16")
        if tf32 is not None and bf16 is not None:
            assert bf16 / tf32 == pytest.approx(2, rel=0.02), gpu.id
        assert gpu.peak("fp32") is not None
        assert 1e11 < gpu.memory_bytes_per_second < 1e13


def test_precision_that_does_not_exist() -> None:
    with pytest.raises(ValueError, match="no precision fp8: use one of fp32"):
        load_hardware().gpus[0].peak("fp8")


def fault_of(tmp_path: Path, old: str, new: str) -> str:
    assert old in TEXT
    path = tmp_path / "hardware.yml"
    path.write_text(TEXT.replace(old, new))
    with pytest.raises(MlhpcError) as caught:
        load_hardware(path)
    return str(caught.value).replace(str(tmp_path), "")


@pytest.mark.parametrize(
    ("old", "new", "line", "said"),
    [
        ("    name: One", "    name: One\n    memory_byte: 1", 7, "unknown key; did you mean memory_bytes"),
        ("    source: sheet", "    source: shet", 15, "no source shet"),
        ("    source: sheet", "", 5, "source: this key is missing"),
        ('["One"]', '["One("]', 7, "no regular expression"),
        ("memory_bytes: 100", "memory_bytes: none", 10, "memory_bytes"),
        ("fp32: 1.0e+12", "fp32: -1.0", 12, "greater than 0"),
        ("    source: sheet", "    source: sheet\n    unverified: [fp8]", 16, "no field fp8"),
        ("gpus:", "  other: {title: B, url: c}\ngpus:", 4, "no GPU uses this source"),
        ("gpus:", "gpus: [", 5, "not valid YAML"),
    ],
)
def test_faults_name_file_line_and_key(tmp_path: Path, old: str, new: str, line: int, said: str) -> None:
    message = fault_of(tmp_path, old, new)
    assert message.startswith(f"/hardware.yml:{line}:")
    assert said in message


def test_row_that_stands_twice(tmp_path: Path) -> None:
    row = TEXT[TEXT.index("  - id") :]
    assert "hardware.yml:16: gpus[1].id: the id one is taken" in fault_of(tmp_path, row, row * 2)


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(MlhpcError, match=r"Cannot read .*missing\.yml"):
        load_hardware(tmp_path / "missing.yml")
