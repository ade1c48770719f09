"""What the makers say that GPUs can do at most: ``data/hardware.yml``, typed."""

import re
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from mlhpc.errors import MlhpcError
from mlhpc.paths import course_root
from mlhpc.yaml_lines import load_yaml, validate

Precision = Literal["fp32", "tf32", "fp16", "bf16"]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class HardwareSource(_Model):
    """A document that figures come from."""

    title: str
    url: str
    read_in: str | None = None
    """Where the figures were read, if not in the document itself."""


class Link(_Model):
    """A connection of the GPU; both directions together, as data sheets count."""

    kind: str
    bytes_per_second: float = Field(gt=0)


class PeakFlops(_Model):
    """Floating-point operations per second at most, dense matrices; None where the GPU lacks the precision or
    no figure was found. ``fp32`` is without tensor cores, the others are with them, summing in fp32."""

    fp32: float | None = Field(gt=0)
    tf32: float | None = Field(gt=0)
    fp16: float | None = Field(gt=0)
    bf16: float | None = Field(gt=0)


class GpuSpec(_Model):
    """One GPU model as its data sheet has it."""

    id: str = Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")
    name: str
    matches: tuple[str, ...] = Field(min_length=1)
    """Regular expressions for the name that NVML gives, ``NVIDIA`` or ``Tesla`` in front left out."""
    architecture: str
    compute_capability: str = Field(pattern=r"^\d+\.\d$")
    memory_bytes: int = Field(gt=0)
    """What a data sheet calls GB are binary gigabytes; NVML shows a little less, as some is reserved."""
    memory_bytes_per_second: float = Field(gt=0)
    peak_flops: PeakFlops
    gpu_link: Link | None
    """Between GPUs of a node; None where only the host link joins them."""
    host_link: Link
    source: str
    unverified: tuple[str, ...] = ()
    """Fields or precisions that could not be checked against the maker's document or a copy of it."""
    note: str | None = None

    @field_validator("matches")
    @classmethod
    def _compile(cls, patterns: tuple[str, ...]) -> tuple[str, ...]:
        for pattern in patterns:
            try:
                re.compile(pattern)
            except (re.error, OverflowError, RecursionError) as error:
                raise ValueError(f"{pattern!r} is no regular expression ({error})") from error
        return patterns

    @field_validator("unverified")
    @classmethod
    def _name_fields(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        known = {*cls.model_fields, *PeakFlops.model_fields}
        if unknown := set(names) - known:
            raise ValueError(f"there is no field {', '.join(sorted(unknown))}")
        return names

    def peak(self, precision: str) -> float | None:
        """Return the dense peak in FLOP/s for ``fp32``, ``tf32``, ``fp16`` or ``bf16``; None if not known.

        Raises:
            ValueError: for another precision.
        """
        if precision not in PeakFlops.model_fields:
            raise ValueError(f"no precision {precision}: use one of {', '.join(PeakFlops.model_fields)}")
        peak: float | None = getattr(self.peak_flops, precision)
        return peak


class Hardware(_Model):
    """All GPU models that the course knows."""

    version: Literal[1]
    sources: dict[str, HardwareSource]
    gpus: tuple[GpuSpec, ...]

    def find_gpu(self, name: str) -> GpuSpec | None:
        """Return the model behind the name that NVML gives; None for an unknown one and for a part of a GPU.

        A MIG instance has a name of its own (``... MIG 1g.5gb``): the peaks of the whole do not hold for it.
        """
        bare = re.sub(r"^(NVIDIA|Tesla)\s+", "", " ".join(name.split()), flags=re.IGNORECASE)
        for gpu in self.gpus:
            if any(re.fullmatch(pattern, bare, flags=re.IGNORECASE) for pattern in gpu.matches):
                return gpu
        return None

    def faults(self) -> list[tuple[tuple[str | int, ...], str]]:
        """Return place and reason of each fault between entries: ids twice, sources missing or unused."""
        found: list[tuple[tuple[str | int, ...], str]] = []
        seen: set[str] = set()
        for number, gpu in enumerate(self.gpus):
            if gpu.id in seen:
                found.append((("gpus", number, "id"), f"the id {gpu.id} is taken already."))
            if gpu.source not in self.sources:
                found.append((("gpus", number, "source"), f"there is no source {gpu.source} under sources."))
            seen.add(gpu.id)
        used = {gpu.source for gpu in self.gpus}
        found += [
            (("sources", name), "no GPU uses this source.") for name in self.sources if name not in used
        ]
        return found


def load_hardware(path: Path | None = None) -> Hardware:
    """Return the GPU models in ``path``, by default ``data/hardware.yml`` of the checkout.

    Raises:
        MlhpcError: one sentence per fault with file, line and key.
    """
    located = load_yaml(path or course_root() / "data" / "hardware.yml")
    hardware = validate(Hardware, located)
    if faults := hardware.faults():
        raise MlhpcError("\n".join(located.fault(place, reason) for place, reason in faults))
    return hardware
