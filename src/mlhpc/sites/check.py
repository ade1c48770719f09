"""Faults that only show when rows are held against each other, and values that cannot be right."""

from collections.abc import Iterator
from dataclasses import dataclass

from mlhpc.sites.schema import Site


@dataclass(frozen=True)
class Fault:
    """What is wrong, and where in the document."""

    place: tuple[str | int, ...]
    """Keys and list positions from the top of the document."""
    reason: str


def faults(site: Site) -> tuple[Fault, ...]:
    """Return what is wrong across the rows of ``site``; empty for a sound profile."""
    return tuple(_unknown_sources(site))


def _unknown_sources(site: Site) -> Iterator[Fault]:
    for number, tier in enumerate(site.storage):
        for name in tier.source:
            if name not in site.sources:
                yield Fault(("storage", number, "source"), f"no source is called {name!r}")
