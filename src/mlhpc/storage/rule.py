"""What a purge goes by: which of a file's times, and after how many days. Given, or from a site's profile."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from mlhpc.errors import UsageError
from mlhpc.sites.facts import fact
from mlhpc.sites.load import load_site
from mlhpc.sites.quantities import Duration
from mlhpc.sites.schema import Conflict, Site, Tier

Basis = Literal["mtime", "atime", "ctime"]
"""Time of the last change of the content, of the last read, of the last change of content or attributes."""

NAMES: Mapping[Basis, str] = {
    "mtime": "modification time",
    "atime": "access time",
    "ctime": "status-change time",
}
_OF_PROFILE: Mapping[str, Basis] = {"modification-time": "mtime", "access-time": "atime"}
DAY = 86_400.0
"""Seconds."""


@dataclass(frozen=True)
class PurgeRule:
    """A purge that takes files whose time is at least so many days ago."""

    basis: Basis
    days: float
    source: str = "as given"
    """Where the rule comes from, as a phrase."""
    remarks: tuple[str, ...] = ()
    """What a reader has to know about it, for instance that sources disagree."""


def make_rule(
    basis: Basis | None, days: float | None, site: str | None = None, tier: str | None = None
) -> PurgeRule:
    """Return the rule that was given, or that of a site's profile where a part of it was left out.

    Args:
        basis: which time counts; None takes the profile's.
        days: after how many days; None takes the profile's, of several disputed values the shortest.
        site: name or file of a profile.
        tier: the storage tier's id, where the site purges more than one by age.

    Raises:
        UsageError: if basis or days are neither given nor known, or if the profile leaves a choice open.
        MlhpcError: if the profile cannot be read.
    """
    if site is None:
        if tier is not None:
            raise UsageError("--tier names a storage tier of a site: give --site as well.")
        if basis is None or days is None:
            raise UsageError(
                "What does the purge go by? Give --basis and --days, or --site to take them from a profile."
            )
        return PurgeRule(basis, days)
    profile = load_site(site)
    if basis is not None and days is not None and tier is None:
        return PurgeRule(basis, days)
    chosen = _tier(profile, tier, given=basis is not None or days is not None)
    found_basis = _basis(profile, chosen) if basis is None else basis
    found_days, remarks = _days(profile, chosen) if days is None else (days, ())
    given = [name for name, value in (("basis", basis), ("days", days)) if value is not None]
    source = f"tier {chosen.id} of the profile {profile.id}"
    if given:
        source += f", {' and '.join(given)} as given"
    return PurgeRule(found_basis, found_days, source, remarks)


def _tier(site: Site, name: str | None, *, given: bool) -> Tier:
    """Return the tier named, or the only one that is purged by age."""
    if name is not None:
        found = next((tier for tier in site.storage if tier.id == name), None)
        if found is None:
            known = ", ".join(tier.id for tier in site.storage) or "none"
            raise UsageError(f"The profile {site.id} has no storage tier {name!r}; it has: {known}.")
        return found
    purged = [tier for tier in site.storage if tier.purge.basis in _OF_PROFILE]
    # With a part of the rule given, a scratch of which nothing is known is a candidate as well.
    candidates = purged or [
        tier for tier in site.storage if given and tier.role == "scratch" and tier.purge.basis is None
    ]
    if len(candidates) == 1:
        return candidates[0]
    if candidates:
        names = ", ".join(tier.id for tier in candidates)
        raise UsageError(f"The site {site.id} purges more than one tier by age: choose --tier from {names}.")
    said = ", ".join(f"{tier.id}: {tier.purge.basis or 'not known'}" for tier in site.storage) or "no tier"
    raise UsageError(
        f"The profile {site.id} knows of no tier that is purged by age ({said}). If yours is one, ask "
        f"{site.site.support}, then give --basis and --days."
    )


def _basis(site: Site, tier: Tier) -> Basis:
    place = f"storage.{tier.id}.purge.basis"
    found = fact(site, place)
    if found.conflict is not None:
        raise UsageError(
            f"Sources disagree on what the purge of {tier.id} at {site.id} goes by: "
            f"{_values(found.conflict)}. To find out: {found.ask}. Then give --basis."
        )
    if tier.purge.basis is None:
        raise UsageError(
            f"The profile {site.id} does not know what the purge of {tier.id} goes by. "
            f"To find out: {found.ask}. Then give --basis."
        )
    if tier.purge.basis not in _OF_PROFILE:
        raise UsageError(
            f"The tier {tier.id} of {site.id} is not purged by age but: {tier.purge.basis}. Files at risk "
            "can only be told for a purge by age."
        )
    return _OF_PROFILE[tier.purge.basis]


def _days(site: Site, tier: Tier) -> tuple[float, tuple[str, ...]]:
    """Return the days after which the tier is purged, and remarks."""
    place = f"storage.{tier.id}.purge.after"
    found = fact(site, place)
    values = [value.value for value in found.conflict.values] if found.conflict else []
    durations = [one for value in values if (one := _duration(value)) is not None]
    durations += [tier.purge.after] if tier.purge.after is not None else []
    if not durations:
        raise UsageError(
            f"The profile {site.id} does not know after how long {tier.id} is purged. "
            f"To find out: {found.ask}. Then give --days."
        )
    shortest = min(durations)
    days = shortest.seconds / DAY
    if found.conflict is None:
        return days, ()
    remark = (
        f"Sources disagree on the days: {_values(found.conflict)}. The shortest, {shortest}, is used here. "
        f"To find out: {found.ask}."
    )
    return days, (remark,)


def _values(conflict: Conflict) -> str:
    return ", ".join(f"{value.value} ({value.source})" for value in conflict.values)


def _duration(value: object) -> Duration | None:
    """Return a disputed value as a span of time; None for one that is a phrase."""
    try:
        return Duration.read(value)
    except ValueError:
        return None
