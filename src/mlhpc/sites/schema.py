"""A site's profile as it stands in ``data/sites/NAME.yml``: where one can run, and what the rules are.

A fact that is left out is *not known*; pages show that, scripts leave the line out and say so. Nothing here
guesses. Facts that sources disagree about stand under ``conflicts`` with all values.
"""

from collections.abc import Iterator
from datetime import date
from typing import Annotated, Literal

from pydantic import Field

from mlhpc.sites.base import Identifier, Model, PathTemplate, Row, Words
from mlhpc.sites.clusters import Cluster
from mlhpc.sites.quantities import Duration, Size


class About(Model):
    """Who the site is and whom to ask."""

    id: Identifier
    name: str
    short: str | None = None
    """Name on tabs and in tables, where the name is long."""
    documentation: str | None = None
    """Address of the site's own documentation."""
    support: str
    """Whom a user asks: an address of mail or a page."""
    confirmed_by: str | None = None
    """Role of the member of staff who confirmed the profile, for instance ``research computing``."""
    confirmed_on: date | None = None

    @property
    def label(self) -> str:
        """The short name, or the only one."""
        return self.short or self.name


class Source(Model):
    """Where facts of the profile come from, with at least one date."""

    title: str
    where: str
    """Repository and commit, page, or command."""
    url: str | None = None
    published: date | None = None
    """The date that the source bears itself, or that of its commit."""
    read: date | None = None
    """When someone last looked the facts up in it for this profile."""
    taken_over: date | None = None
    """When the facts came from another collection that names this source, without being looked up again."""

    @property
    def dates(self) -> str:
        """What is known of its dates, as a phrase."""
        known = (
            ("published", self.published),
            ("read", self.read),
            ("taken over, not read again,", self.taken_over),
        )
        return ", ".join(f"{word} {day.isoformat()}" for word, day in known if day)


class Purge(Model):
    """When files disappear by themselves."""

    basis: Literal["never", "job-end", "access-time", "modification-time"] | None = None
    """What decides; left out means not known."""
    after: Duration | None = None


class Tier(Row):
    """One storage tier."""

    id: Identifier
    role: Literal["home", "project", "scratch", "job-local", "memory", "transfer"]
    clusters: tuple[Identifier, ...] = ()
    """Clusters that have it; empty for all of the site."""
    path: PathTemplate | None = None
    variable: Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")] | None = None
    """Environment variable that holds the path, where the site sets one."""
    file_system: str | None = None
    quota: Size | None = None
    quota_files: Annotated[int, Field(ge=1)] | None = None
    quota_scope: str | None = None
    """Whose quota it is, where it is not each user's own."""
    speed: Literal["memory", "node-local", "parallel", "nfs", "wide-area"] | None = None
    backed_up: Literal["yes", "snapshots", "no"] | None = None
    purge: Purge = Purge()
    visible: tuple[Literal["login", "compute", "ondemand", "job"], ...] = ()
    """Where it can be read: ``job`` means only inside the job that it belongs to."""
    sqlite: Literal["safe", "one-writer", "unsafe"] | None = None
    """Whether a SQLite database may live there."""

    @property
    def place(self) -> str | None:
        """How a person names it: the variable where there is one, else the path."""
        return f"${self.variable}" if self.variable else self.path


class Python(Model):
    """How the site wants Python to be set up."""

    how: str
    """One sentence for a person."""
    modules: Words = ()
    """Modules that a script loads first."""
    avoid: tuple[str, ...] = ()


class Software(Model):
    """What a script does before it can use Python."""

    module_setup: str | None = None
    """File to source where ``module`` is not there in a batch script."""
    python: Python
    cuda_modules: tuple[str, ...] = ()
    container: Literal["apptainer", "singularity", "podman-hpc"] | None = None
    source: Words = ()
    """Keys of the sources for what stands here."""


class Course(Model):
    """Where this course lives at the site."""

    root: PathTemplate | None = None
    """Folder that all learners can read, with the checkout and its environment ``.venv``."""
    account: str | None = None
    reservation: str | None = None
    partition: str | None = None


class Conflict(Model):
    """A fact that sources disagree about."""

    fact: str
    """Its place, for instance ``storage.scratch.purge.after``; rows are named by their id or name."""
    values: Annotated[tuple["SaidValue", ...], Field(min_length=2)]
    ask: str
    """Whom to ask, or the command that tells."""

    @property
    def said(self) -> str:
        """All values, as a phrase."""
        return " or ".join(str(one.value) for one in self.values)

    @property
    def sentence(self) -> str:
        """What a user should know of it."""
        return f"Sources disagree about {self.fact}: {self.said}. To find out: {self.ask}."


class SaidValue(Model):
    """One of the values in a conflict."""

    value: str | int | float | bool
    source: str


class Unknown(Model):
    """A fact that nobody could find out yet."""

    what: str
    """A place such as ``clusters.pitzer.limits.max_array_size``, or a sentence where there is no place."""
    ask: str | None = None
    """Whom to ask, or the command that tells; left out: the site's support."""

    @property
    def is_place(self) -> bool:
        """Whether ``what`` is a place in the profile, not a sentence."""
        return "." in self.what and not any(character.isspace() for character in self.what)


class Site(Model):
    """A whole profile."""

    profile_version: Literal[1]
    site: About
    sources: Annotated[dict[Identifier, Source], Field(min_length=1)]
    clusters: Annotated[tuple[Cluster, ...], Field(min_length=1)]
    storage: tuple[Tier, ...] = ()
    software: Software
    course: Course = Course()
    conflicts: tuple[Conflict, ...] = ()
    unknown: tuple[Unknown, ...] = ()

    @property
    def id(self) -> str:
        """The name of its file and of its pages."""
        return self.site.id

    def tiers(self, cluster: str, role: str | None = None) -> Iterator[Tier]:
        """Yield the storage tiers of a cluster, or those with one role."""
        for tier in self.storage:
            if (not tier.clusters or cluster in tier.clusters) and role in (None, tier.role):
                yield tier
