"""The sites that this build shows: all of the course, or the one that ``SITE`` names."""

import os
from collections.abc import Sequence
from functools import lru_cache

from mlhpc.errors import UsageError
from mlhpc.sites.load import load_site, site_ids
from mlhpc.sites.schema import Site

FIRST = "generic"
"""Stands first among several: it is the one that holds for a reader of whom nothing is known."""
ON_REQUEST = frozenset({"practice"})
"""Shown in a directive only where it is named: no reader's own cluster."""


def one_site() -> str | None:
    """Return the site that this build is for; None if it is for all."""
    return os.environ.get("MLHPC_SITE_ONLY") or None


@lru_cache(maxsize=1)
def shown_sites() -> tuple[Site, ...]:
    """Return the profiles that pages show, the generic one first.

    Raises:
        MlhpcError: if a profile is faulty, or there is none of the name.
    """
    only = one_site()
    names = [only] if only else sorted(site_ids(), key=lambda name: (name != FIRST, name))
    return tuple(site_named(name) for name in names)


def chosen_sites(names: Sequence[str] = ()) -> tuple[Site, ...]:
    """Return the shown sites with these names, or all that are nobody's exception.

    A build for one site shows that one everywhere.

    Raises:
        UsageError: if a name is of no profile.
    """
    unknown = [name for name in names if name not in site_ids()]
    if unknown:
        raise UsageError(f"there is no site {unknown[0]!r}; known are {', '.join(site_ids())}.")
    if one_site():
        return shown_sites()
    return tuple(site for site in shown_sites() if (site.id in names if names else site.id not in ON_REQUEST))


@lru_cache
def site_named(name: str) -> Site:
    """Return one profile, read once per build, whether the build shows its page or not.

    Raises:
        UsageError: if there is none of the name.
        MlhpcError: if it is faulty.
    """
    return load_site(name)
