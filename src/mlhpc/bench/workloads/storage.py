"""Storage tiers: how fast each place for files is, by layout and by the state of the cache.

Reading in order, by one process and one thread. A written pass ends when the file system says that it has
taken over everything (``syncfs``), so that two tiers are compared at the same point.
"""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal, get_args

from mlhpc.bench.case import Case, CaseUnavailable, Prepared, Request
from mlhpc.bench.device import common_parameters
from mlhpc.bench.page_cache import OWN_CACHE, make_cold, read_all
from mlhpc.bench.registry import chosen_variants
from mlhpc.bench.sample_store import (
    LAYOUTS,
    SAMPLE_BYTES,
    EmptyStore,
    Layout,
    Samples,
    SampleStore,
    flush,
    read_samples,
    require_layout,
    write_samples,
)
from mlhpc.errors import MlhpcError
from mlhpc.machine.storage import Role, StorageTier, distinct, find_storage
from mlhpc.records.schema import Tier

Action = Literal["warm", "cold", "write"]

SAMPLES: dict[Tier, int] = {"smoke": 200, "quick": 2_000, "full": 20_000}
SECONDS: dict[Tier, float] = {"smoke": 0.2, "quick": 2.0, "full": 30.0}
"""Most seconds for each case: a cluster node has four tiers and more, with nine cases each."""


@dataclass(frozen=True)
class _Variant:
    role: Role
    layout: Layout
    action: Action


VARIANTS = {
    f"{role}-{layout}-{action}": _Variant(role, layout, action)
    for role in get_args(Role)
    for action in get_args(Action)
    for layout in LAYOUTS
}


class StorageWorkload:
    """The cases of ``mlhpc bench storage``."""

    name = "storage"
    title = "Storage tiers"
    summary = (
        "Small samples in files, a tar file and Parquet on every storage tier found here; warm and cold."
    )

    def variants(self, device: str) -> Sequence[str]:
        """Return all variants, whether this machine has their place or not."""
        return tuple(VARIANTS)

    def maximum_seconds(self, tier: Tier) -> float:
        """Return the most seconds that the samples of one case may take together."""
        return SECONDS[tier]

    def cases(self, request: Request) -> Sequence[Case]:
        """Return the cases of two groups, reading and writing.

        Without names, each file system is measured once, at the first of the places that lie on it.

        Raises:
            UsageError: for a variant that does not exist.
        """
        tiers = find_storage()
        measurable = distinct(tiers)
        # The first of each role counts, and before all others one that can be written.
        places = {tier.role: tier for tier in reversed((*measurable, *tiers))}
        usual = [
            name for role in dict.fromkeys(tier.role for tier in measurable) for name in _usual(places[role])
        ]
        names = chosen_variants(self.variants(request.device), usual, request, listed=usual)
        samples = Samples(SAMPLES[request.tier], seed=request.seed)
        stores: dict[tuple[Role, Layout], SampleStore] = {}
        cases = []
        for name in sorted(names, key=lambda name: VARIANTS[name].action == "write"):
            variant = VARIANTS[name]
            place = places.get(variant.role) or _absent(variant.role)
            store = SampleStore(samples, variant.layout, Path(place.path))
            store = stores.setdefault((variant.role, variant.layout), store)
            cases.append(_case(request, name, place, store))
        return cases


WORKLOAD = StorageWorkload()


def _usual(place: StorageTier) -> list[str]:
    """Return the variants of a place; no cold ones where memory is all there is."""
    actions = [
        action for action in get_args(Action) if action != "cold" or place.file_system not in OWN_CACHE
    ]
    return [f"{place.role}-{layout}-{action}" for action in actions for layout in LAYOUTS]


def _absent(role: Role) -> StorageTier:
    return StorageTier(role=role, name=role, path="", fault="nothing here names such a place")


def _case(request: Request, name: str, place: StorageTier, store: SampleStore) -> Case:
    variant = VARIANTS[name]
    writes = variant.action == "write"
    return Case(
        label=name,
        variant=name,
        parameters={
            **common_parameters(request),
            "place": variant.role,
            "kind": place.kind,
            "filesystem": place.file_system,
            "operation": "write" if writes else "read",
            "layout": variant.layout,
            "cache": "none" if writes else variant.action,
            "samples": store.samples.count,
            "sample_bytes": SAMPLE_BYTES,
        },
        prepare=partial(_prepare, place, variant, store, request.processes),
        metric="write_time" if writes else "pass_time",
        group="writing" if writes else "reading",
        packages=("numpy", "pyarrow") if variant.layout == "parquet" else ("numpy",),
    )


def _prepare(place: StorageTier, variant: _Variant, store: SampleStore, processes: int) -> Prepared:
    """Make the files of a case, or say why this place cannot show what it is about."""
    if processes > 1:
        raise CaseUnavailable("Storage is measured by one process: leave --gpus and --processes out.")
    _require_place(place, store.samples.count)
    require_layout(variant.layout)
    if variant.action == "cold" and place.file_system in OWN_CACHE:
        raise CaseUnavailable(
            f"No cold read in {place.name}: {place.file_system} keeps its data in memory of its own, "
            "which cannot be emptied."
        )
    try:
        if variant.action == "write":
            return _prepare_write(place, variant.layout, store.samples)
        return _prepare_read(place, variant.action, store)
    except CaseUnavailable:
        raise
    except (MlhpcError, OSError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise CaseUnavailable(f"{place.name} cannot take the files: {reason}") from error


def _require_place(place: StorageTier, count: int) -> None:
    if place.fault is not None:
        raise CaseUnavailable(f"Nothing to measure for {place.name}: {place.fault}.")
    if not place.writable:
        raise CaseUnavailable(f"{place.name} may not be written by this user.")
    # Each layout of a place has its files at the same time, and writing makes as many once more.
    if place.free_bytes is not None and place.free_bytes < 8 * count * SAMPLE_BYTES:
        raise CaseUnavailable(f"{place.name} has too few bytes free for {count:,} samples in three layouts.")
    if place.free_inodes is not None and place.free_inodes < 4 * count:
        raise CaseUnavailable(f"{place.name} has too few inodes free for {count:,} small files.")


def _prepare_read(place: StorageTier, cache: Action, store: SampleStore) -> Prepared:
    store.open()
    try:
        paths = store.paths()
        ready = partial(make_cold, paths, place.file_system) if cache == "cold" else partial(read_all, paths)
        ready()
        return Prepared(
            step=lambda: _discard(store.read()),
            before_step=ready,
            items_per_step=store.samples.count,
            item="samples",
            gates=(store.samples.gate(store.read()),),
            bytes_per_step=float(store.samples.count * SAMPLE_BYTES),
            close=store.close,
        )
    except BaseException:
        store.close()
        raise


def _discard(samples: list[bytes]) -> None:
    """Let go of what was read."""


def _prepare_write(place: StorageTier, layout: Layout, samples: Samples) -> Prepared:
    target = EmptyStore(Path(place.path))
    target.open()
    written = target.folder / "written"

    def clear() -> None:
        shutil.rmtree(written, ignore_errors=True)
        written.mkdir()

    def write() -> None:
        try:
            write_samples(written, layout, samples.data)
            flush(written)
        except OSError as error:
            raise CaseUnavailable(f"{place.name} takes no more files: {error.strerror}.") from error

    try:
        clear()
        write()
        return Prepared(
            step=write,
            before_step=clear,
            items_per_step=samples.count,
            item="samples",
            gates=(samples.gate(read_samples(written, layout, samples.count)),),
            bytes_per_step=float(samples.count * SAMPLE_BYTES),
            close=target.close,
        )
    except BaseException:
        target.close()
        raise
