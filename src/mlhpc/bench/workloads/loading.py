"""Loading data: how fast a training loop can be fed, by format, decoder, workers and state of the cache."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from mlhpc.bench import ranks as launched
from mlhpc.bench.case import Case, CaseUnavailable, Prepared, Request
from mlhpc.bench.device import common_parameters, threads_per_process
from mlhpc.bench.page_cache import make_cold, read_all
from mlhpc.bench.registry import chosen_variants
from mlhpc.bench.scratch import filesystem_kind, scratch_parent
from mlhpc.bench.small_files import FILE_BYTES, SmallFileReader, SmallFiles
from mlhpc.records.schema import Scalar, Tier

if TYPE_CHECKING:
    from mlhpc.bench.image_reader import ImageReader
    from mlhpc.bench.image_store import ImageStore


@dataclass(frozen=True)
class _Size:
    images: int
    batch: int
    small_files: int


SIZES: dict[Tier, _Size] = {
    "smoke": _Size(images=16, batch=8, small_files=200),
    "quick": _Size(images=128, batch=32, small_files=2_000),
    "full": _Size(images=2_048, batch=64, small_files=20_000),
}


@dataclass(frozen=True)
class _Variant:
    method: str
    workers: str = "none"
    """``none`` (the training process itself loads), ``one``, or ``all``: one for each usable core."""
    cold: bool = False


VARIANTS = {
    "pil": _Variant("pil"),
    "pil-workers": _Variant("pil", "all"),
    "torchvision": _Variant("torchvision"),
    "torchvision-workers": _Variant("torchvision", "all"),
    "tar": _Variant("tar"),
    "prebatched": _Variant("prebatched"),
    "torchvision-cold": _Variant("torchvision", cold=True),
    "tar-cold": _Variant("tar", cold=True),
    "prebatched-cold": _Variant("prebatched", cold=True),
    "tiny-files": _Variant("tiny-files"),
    "one-file": _Variant("one-file"),
    "tiny-files-cold": _Variant("tiny-files", cold=True),
    "one-file-cold": _Variant("one-file", cold=True),
    "pil-one-worker": _Variant("pil", "one"),
    "torchvision-one-worker": _Variant("torchvision", "one"),
    "pil-cold": _Variant("pil", cold=True),
    "torchvision-workers-cold": _Variant("torchvision", "all", cold=True),
}
USUAL = tuple(VARIANTS)[:13]
USUAL_AT_SMOKE = (
    *("pil", "torchvision", "torchvision-workers", "tar", "prebatched"),
    *("tiny-files", "tiny-files-cold"),
)
PHOTOGRAPH_PACKAGES: tuple[str, ...] = ("torch", "torchvision", "pillow", "numpy")
SMALL_FILE_PACKAGES: tuple[str, ...] = ("numpy",)
SMALL_FILE_METHODS = ("tiny-files", "one-file")


class LoadingWorkload:
    """The cases of ``mlhpc bench loading``."""

    name = "loading"
    title = "Loading images and small files"
    summary = (
        "Photographs from files, a tar file or ready batches, and tiny files; warm, and cold where verified."
    )

    def variants(self, device: str) -> Sequence[str]:
        """Return all variants: loading is work for CPUs, whatever the device that it feeds."""
        return tuple(VARIANTS)

    def cases(self, request: Request) -> Sequence[Case]:
        """Return the cases of two groups: photographs, and small files.

        Raises:
            UsageError: for a variant that does not exist, or a folder for the data that cannot be used.
        """
        from mlhpc.bench.image_store import ImageStore

        usual = USUAL_AT_SMOKE if request.tier == "smoke" else USUAL
        names = chosen_variants(self.variants(request.device), usual, request)
        size = SIZES[request.tier]
        # Ranks that read the same photographs would warm the cache for each other.
        seed = request.seed + launched.current().rank
        images = ImageStore(size.images, batch=size.batch, seed=seed)
        small = SmallFiles(size.small_files, seed=seed)
        filesystem = filesystem_kind(scratch_parent())
        ordered = sorted(names, key=lambda name: VARIANTS[name].method in SMALL_FILE_METHODS)
        return [_case(request, name, filesystem, images, small) for name in ordered]


WORKLOAD = LoadingWorkload()


def _case(request: Request, name: str, filesystem: str, images: "ImageStore", small: SmallFiles) -> Case:
    from mlhpc.bench.image_loading import IMAGE_SIZE
    from mlhpc.bench.image_reader import ImageReader

    variant = VARIANTS[name]
    workers = {"none": 0, "one": 1, "all": threads_per_process(request)}[variant.workers]
    reader: ImageReader | SmallFileReader
    size: dict[str, Scalar]
    if variant.method in SMALL_FILE_METHODS:
        reader = SmallFileReader(small, many=variant.method == "tiny-files")
        size = {"files": small.count, "file_bytes": FILE_BYTES}
        group, packages = "small files", SMALL_FILE_PACKAGES
    else:
        reader = ImageReader(images, variant.method, workers=workers, device=request.device)
        size = {"images": images.count, "batch": images.batch, "image_size": IMAGE_SIZE}
        group, packages = "photographs", PHOTOGRAPH_PACKAGES
    return Case(
        label=name,
        variant=name,
        parameters={
            **common_parameters(request),
            "method": variant.method,
            "cache": "cold" if variant.cold else "warm",
            "workers": workers,
            "filesystem": filesystem,
            **size,
        },
        prepare=partial(_prepare, reader, filesystem, variant.cold, request.processes),
        metric="pass_time",
        group=group,
        packages=packages,
    )


def _prepare(
    reader: "ImageReader | SmallFileReader", filesystem: str, cold: bool, processes: int
) -> Prepared:
    if cold and processes > 1:
        raise CaseUnavailable(
            "Cold reads are measured with one process: ranks would wait for each other's evictions."
        )
    reader.open()
    try:
        paths = reader.paths()
        if cold:
            make_cold(paths, filesystem)
        return Prepared(
            step=reader.read,
            before_step=partial(make_cold, paths, filesystem) if cold else partial(read_all, paths),
            items_per_step=reader.items * processes,
            item=reader.item,
            gates=reader.gates(),
            bytes_per_step=float(sum(path.stat().st_size for path in paths) * processes),
            close=reader.close,
        )
    except BaseException:
        reader.close()
        raise
