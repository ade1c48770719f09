"""Finding workloads: each module of ``mlhpc.bench.workloads`` that defines ``WORKLOAD`` is one."""

import difflib
from collections.abc import Iterable, Sequence
from importlib import import_module
from pkgutil import iter_modules

from mlhpc.bench import workloads
from mlhpc.bench.case import Request, Workload
from mlhpc.errors import UsageError


def all_workloads() -> dict[str, Workload]:
    """Return the workloads by name, in alphabetical order."""
    modules = (
        import_module(f"{workloads.__name__}.{module.name}") for module in iter_modules(workloads.__path__)
    )
    found: list[Workload] = [module.WORKLOAD for module in modules if hasattr(module, "WORKLOAD")]
    return {workload.name: workload for workload in sorted(found, key=lambda workload: workload.name)}


def find_workload(name: str) -> Workload:
    """Return the workload with that name.

    Raises:
        UsageError: for an unknown name; the sentence lists those that exist and the nearest.
    """
    known = all_workloads()
    if name not in known:
        raise UsageError(unknown("workload", name, known))
    return known[name]


def chosen_variants(
    known: Sequence[str], usual: Sequence[str], request: Request, *, listed: Sequence[str] = ()
) -> tuple[str, ...]:
    """Return the variants that a request selects: those it names, in its order, else the usual ones.

    Args:
        known: all names that can be asked for.
        usual: the names taken where the request names none.
        request: names any number of variants.
        listed: the names to list for a name that is not known; all of ``known`` where there are none.

    Raises:
        UsageError: for a name that is not known.
    """
    for name in request.variants:
        if name not in known:
            raise UsageError(unknown("variant", name, listed or known))
    return tuple(dict.fromkeys(request.variants)) or tuple(usual)


def unknown(kind: str, name: str, known: Iterable[str]) -> str:
    """Return the sentence for a name that does not exist: what was likely meant, and what there is."""
    names = list(known)
    near = difflib.get_close_matches(name, names, n=1)
    meant = f" Did you mean {near[0]}?" if near else ""
    return f"Unknown {kind} {name!r}.{meant} There are: {', '.join(names)}."
