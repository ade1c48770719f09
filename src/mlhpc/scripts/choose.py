"""Which cluster, which kind of GPU and which partition a request leads to, or why none does."""

import difflib
from collections.abc import Iterable, Sequence
from typing import TypeVar

from mlhpc.errors import UsageError
from mlhpc.scripts.request import ANY_GPU, JobRequest
from mlhpc.sites.clusters import Cloud, CondorPool, Gpu, JobCategory, Partition, SlurmCluster
from mlhpc.sites.quantities import Duration
from mlhpc.sites.schema import Site

Limited = TypeVar("Limited", Partition, JobCategory)


def choose_cluster(site: Site, request: JobRequest) -> SlurmCluster | CondorPool:
    """Return the cluster that the request names, or the only one that can run it.

    Raises:
        UsageError: if there is no such cluster, if it is a cloud, or if several fit.
    """
    if request.cluster is not None:
        found = next((one for one in site.clusters if one.id == request.cluster), None)
        if found is None:
            known = [one.id for one in site.clusters]
            raise UsageError(
                f"{site.site.name} has no cluster {request.cluster!r}; {nearest(request.cluster, known)}"
            )
        if isinstance(found, Cloud):
            raise UsageError(
                f"{found.name} is a cloud: it starts instances and takes no job scripts. Choose another "
                "cluster, or run the command on an instance."
            )
        return found
    batch = [one for one in site.clusters if not isinstance(one, Cloud)]
    fitting = [one for one in batch if request.gpu in (None, ANY_GPU) or _matching(one.gpus, request.gpu)]
    if len(batch) == 1:
        return batch[0]
    if len(fitting) == 1:
        return fitting[0]
    names = ", ".join(one.id for one in fitting or batch)
    if not batch:
        raise UsageError(f"{site.site.name} has no cluster that takes job scripts.")
    raise UsageError(f"{site.site.name} has several clusters ({names}): choose one with --cluster.")


def choose_gpu(cluster: SlurmCluster | CondorPool, request: JobRequest) -> Gpu | None:
    """Return the kind of GPU that the request names; None for ``any``, for none, or where none is known.

    ``a100`` also finds ``a100-40g`` where that is the only one that begins so.

    Raises:
        UsageError: if the cluster lacks it, or several kinds begin so.
    """
    if request.gpu in (None, ANY_GPU):
        if request.gpu and not cluster.gpus and cluster.queues:
            raise UsageError(f"{cluster.name} has no GPUs: choose another cluster, or leave --gpu out.")
        return None
    if not cluster.gpus and not cluster.queues:
        raise UsageError(
            f"The GPUs of {cluster.name} are not known: use --gpu any, or add the kind to the profile "
            "(mlhpc site probe lists them)."
        )
    found = _matching(cluster.gpus, request.gpu)
    if len(found) == 1:
        return found[0]
    names = [gpu.id for gpu in cluster.gpus]
    if found:
        raise UsageError(
            f"{cluster.name} has several kinds of {request.gpu}: "
            f"choose {' or '.join(one.id for one in found)}."
        )
    if not names:
        raise UsageError(f"{cluster.name} has no GPUs: choose another cluster, or leave --gpu out.")
    raise UsageError(f"{cluster.name} has no GPU {request.gpu!r}; {nearest(request.gpu or '', names)}")


def choose_partition(
    cluster: SlurmCluster, request: JobRequest, gpu: Gpu | None
) -> tuple[Partition | None, str]:
    """Return the partition for the request and a sentence that says why; None where none is known.

    Without ``--partition``, the first production partition in the profile that offers what is asked for and
    allows the time.

    Raises:
        UsageError: if no partition fits; names the nearest thing that works.
    """
    rows = cluster.partitions
    if request.partition is not None:
        named = next((row for row in rows if row.name == request.partition), None)
        if named is None and rows:
            known = [row.name for row in rows]
            raise UsageError(
                f"{cluster.name} has no partition {request.partition!r}; {nearest(request.partition, known)}"
            )
        if named is not None:
            _check_offer(cluster, named, request, gpu)
            _check_time(cluster, [named], request.time)
        return named, "it was asked for by name"
    if not rows:
        return None, ""
    offering = [row for row in rows if row.purpose == "production" and _offers(row, request, gpu)]
    if not offering:
        # Without a GPU any partition would do; with one, those that are not for production are left.
        others = [row.name for row in rows if request.gpu is None or _offers(row, request, gpu)]
        way = f"name one of {', '.join(others)} with --partition" if others else "choose another cluster"
        raise UsageError(f"{cluster.name} has no production partition with {_wanted(request, gpu)}: {way}.")
    fitting = _check_time(cluster, offering, request.time)
    time = f" and allows {request.time}" if request.time and fitting[0].max_time else ""
    return fitting[0], f"the first one for production that has {_wanted(request, gpu)}{time}"


def choose_category(pool: CondorPool, request: JobRequest) -> JobCategory | None:
    """Return the class of jobs: the named one, the default if it allows the time, else the next that does.

    Raises:
        UsageError: if there is no such class, or none allows the time.
    """
    rows = pool.categories
    if request.category is not None:
        named = next((row for row in rows if row.name == request.category), None)
        if named is None:
            known = [row.name for row in rows]
            raise UsageError(
                f"{pool.name} has no category {request.category!r}; {nearest(request.category, known)}"
            )
        _check_time(pool, [named], request.time)
        return named
    standard = sorted((row for row in rows if row.max_time is not None), key=lambda row: not row.default)
    return _check_time(pool, standard, request.time)[0] if standard else None


def nearest(word: str, known: Sequence[str]) -> str:
    """Return a hint for a name that is not known."""
    close = difflib.get_close_matches(word, known, n=1)
    return f"did you mean {close[0]}?" if close else f"known are {', '.join(known) or 'none'}."


def _matching(gpus: Iterable[Gpu], wanted: str | None) -> list[Gpu]:
    rows = list(gpus)
    exact = [gpu for gpu in rows if gpu.id == wanted]
    return exact or [gpu for gpu in rows if wanted and gpu.id.startswith(f"{wanted}-")]


def _offers(row: Partition, request: JobRequest, gpu: Gpu | None) -> bool:
    if request.gpu is None:
        return not row.gpus
    return bool(row.gpus) if gpu is None else gpu.id in row.gpus


def _wanted(request: JobRequest, gpu: Gpu | None) -> str:
    if request.gpu is None:
        return "nodes without GPUs"
    return f"the GPU {gpu.id}" if gpu else "GPUs"


def _check_offer(cluster: SlurmCluster, row: Partition, request: JobRequest, gpu: Gpu | None) -> None:
    if request.gpu is not None and not _offers(row, request, gpu):
        offering = [one.name for one in cluster.partitions if _offers(one, request, gpu)]
        raise UsageError(
            f"The partition {row.name} of {cluster.name} has no {gpu.id if gpu else 'GPUs'}: "
            f"{' or '.join(offering) or 'no other partition either'}{' has' if offering else ''}."
        )


def _check_time(
    cluster: SlurmCluster | CondorPool, rows: Sequence[Limited], time: Duration | None
) -> Sequence[Limited]:
    """Return the rows that allow ``time``; a limit that is not known forbids nothing."""
    fitting = [
        row for row in rows if time is None or not isinstance(row.max_time, Duration) or row.max_time >= time
    ]
    if fitting:
        return fitting
    longest = max(rows, key=lambda row: row.max_time.seconds if isinstance(row.max_time, Duration) else 0)
    others = [
        f"{row.name} allows {row.max_time}"
        for row in cluster.queues
        if row not in rows
        and (not isinstance(row.max_time, Duration) or (time and row.max_time >= time))
        and row.max_time is not None
    ]
    way = f"; {others[0]}" if others else ""
    raise UsageError(
        f"{time} is longer than {cluster.name} allows: {longest.name} ends jobs after {longest.max_time}"
        f"{way}. Ask for less time and continue from a checkpoint."
    )
