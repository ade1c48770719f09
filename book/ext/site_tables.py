"""Tables of profiles: ``{site-table}`` for all sites in tabs, ``{site-rows}`` for one, ``{site-list}``."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from book.ext import parts
from book.ext.course import CourseDirective
from book.ext.site_cluster import names_option
from book.ext.site_data import chosen_sites, shown_sites, site_named
from book.ext.site_facts import fact_nodes, not_known, not_known_here
from book.ext.site_tabs import SITES, MarkdownDirective, Tab, tab_set
from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx

from mlhpc.errors import UsageError
from mlhpc.sites.facts import fact, name_of, text_of
from mlhpc.sites.schema import Site, Source

Column = tuple[str, str]
"""Heading, and key of the row (keys inside are joined by dots)."""

PARTITIONS: tuple[Column, ...] = (
    ("Partition", "name"),
    ("For", "purpose"),
    ("Longest time", "max_time"),
    ("Nodes", "nodes"),
    ("Cores per node", "cores_per_node"),
    ("Memory per node", "memory_per_node"),
    ("GPUs", "gpus"),
    ("GPUs per node", "gpus_per_node"),
    ("A job gets", "allocation"),
)
CATEGORIES: tuple[Column, ...] = (
    ("Class", "name"),
    ("Attribute", "attribute"),
    ("Value", "value"),
    ("Default", "default"),
    ("Longest time", "max_time"),
    ("May be interrupted", "preemptible"),
)
FLAVORS: tuple[Column, ...] = (("Flavor", "name"), ("Cores", "cores"), ("Memory", "memory"), ("GPUs", "gpus"))
QUEUES: Mapping[str, tuple[Column, ...]] = {
    "slurm": PARTITIONS,
    "htcondor": CATEGORIES,
    "cloud": FLAVORS,
}
GPUS: tuple[Column, ...] = (
    ("GPU", "id"),
    ("Model", "model"),
    ("Memory", "memory"),
    ("Compute capability", "capability"),
    ("bf16", "bf16"),
    ("How many", "count"),
)
STORAGE: tuple[Column, ...] = (
    ("Tier", "id"),
    ("Role", "role"),
    ("Place", "place"),
    ("File system", "file_system"),
    ("Quota", "quota"),
    ("Files", "quota_files"),
    ("Backed up", "backed_up"),
    ("Purged by", "purge.basis"),
    ("After", "purge.after"),
    ("Visible from", "visible"),
    ("SQLite", "sqlite"),
)
LIMITS: tuple[Column, ...] = (
    ("Login", "login_host"),
    ("Two factors", "two_factor"),
    ("Account needed", "account.required"),
    ("Largest array", "limits.max_array_size"),
    ("Jobs submitted", "limits.max_submitted_jobs"),
    ("GPUs for one user", "limits.max_gpus_per_user"),
    ("Portal", "ondemand.url"),
    ("Longest session", "ondemand.max_time"),
    ("Cores in a session", "ondemand.max_cores"),
    ("GPUs in a session", "ondemand.max_gpus"),
)


def _cell(site: Site, place: str, row: Any, key: str) -> list[nodes.Node]:
    """Return one fact; what cannot be asked of this row is a dash."""
    if key == "place":
        key = "variable" if row.variable else "path"
    elif key in ("gpus", "gpus_per_node") and not row.gpus:
        return [nodes.Text("none" if key == "gpus" else "–")]
    elif key == "purge.after" and row.purge.basis in ("never", "job-end"):
        return [nodes.Text("–")]
    elif key == "id":
        return [nodes.strong(text=str(row.id))]
    if key == "variable":
        return [
            nodes.literal(text=f"${row.variable}"),
            *([parts.small(f" ({row.path})")] if row.path else []),
        ]
    found = fact(site, f"{place}.{key}")
    if key == "path" and found.text is not None:
        aside = fact_nodes(found)[1:]
        return [nodes.literal(text=found.text), *aside]
    return fact_nodes(found)


def _facts_table(
    site: Site, place: str, rows: Sequence[Any], columns: Sequence[Column], *, caption: str = ""
) -> list[nodes.Node]:
    """Return a table with one row for each row of the profile, and its notes below."""
    if not rows:
        return [nodes.paragraph("", "", not_known(fact(site, place).ask))]
    body = []
    notes = nodes.bullet_list(classes=["site-notes"])
    missing: dict[str, list[str]] = {}
    for row in rows:
        where = f"{place}.{name_of(row)}"
        cells = [_cell(site, where, row, key) for _, key in columns]
        for (heading, key), cell in zip(columns, cells, strict=True):
            if isinstance(cell[0], nodes.inline) and "not-known" in cell[0]["classes"]:
                ask = fact(site, f"{where}.{'path' if key == 'place' else key}").ask
                missing.setdefault(ask, []).append(f"{name_of(row)}: {heading.lower()}")
                cell[:] = [not_known_here()]
        marks = ", ".join(row.source)
        body.append([*cells, [parts.small(marks)]])
        if row.note:
            text = f"{name_of(row)}: {row.note}"
            notes += nodes.list_item("", nodes.paragraph(text, text))
    table = parts.table([*(heading for heading, _ in columns), "Source"], body, caption=caption)
    return [table, *_asks(site, missing), *([notes] if notes.children else [])]


def _asks(site: Site, missing: Mapping[str, Sequence[str]]) -> list[nodes.Node]:
    """Return a line that says whom to ask for what is not known in the table above it."""
    lines = []
    for ask, what in missing.items():
        about = nodes.Text("" if ask == site.site.support else f" ({'; '.join(what)})")
        lines.append(nodes.paragraph("", "", not_known(ask), about, classes=["site-notes"]))
    return lines


def _queues(site: Site) -> list[nodes.Node]:
    shown: list[nodes.Node] = []
    for cluster in site.clusters:
        shown += _titled(cluster.name, site)
        place = f"clusters.{cluster.id}.{cluster.queue_key}"
        shown += _facts_table(site, place, cluster.queues, QUEUES[cluster.scheduler])
    return shown


def _gpus(site: Site) -> list[nodes.Node]:
    shown: list[nodes.Node] = []
    for cluster in site.clusters:
        shown += _titled(cluster.name, site)
        shown += _facts_table(site, f"clusters.{cluster.id}.gpus", cluster.gpus, GPUS)
    return shown


def _titled(name: str, site: Site) -> list[nodes.Node]:
    """Return the cluster's name over its table, where the site has several."""
    return [nodes.paragraph("", "", nodes.strong(text=name))] if len(site.clusters) > 1 else []


def _storage(site: Site) -> list[nodes.Node]:
    return _facts_table(site, "storage", site.storage, STORAGE)


def _limits(site: Site) -> list[nodes.Node]:
    rows = []
    for heading, key in LIMITS:
        cells = [fact_nodes(fact(site, f"clusters.{one.id}.{key}")) for one in site.clusters]
        rows.append([heading, *cells])
    return [parts.table(["Limit", *(one.name for one in site.clusters)], rows)]


def _conflicts(site: Site) -> list[nodes.Node]:
    if not site.conflicts:
        return [nodes.paragraph("", "No two sources of this profile are known to disagree.")]
    rows = []
    for one in site.conflicts:
        said = "; ".join(f"{value.value} ({site.sources[value.source].title})" for value in one.values)
        used = text_of(fact(site, one.fact).text)
        rows.append([[nodes.literal(text=one.fact)], said, used or "none of them", one.ask])
    return [parts.table(["Fact", "What the sources say", "The profile uses", "To find out"], rows)]


def _unknown(site: Site) -> list[nodes.Node]:
    if not site.unknown:
        return [nodes.paragraph("", "Nobody has listed a fact that is missing.")]
    rows = [[one.what, one.ask or site.site.support] for one in site.unknown]
    return [parts.table(["What is not known", "Ask"], rows)]


def _sources(site: Site) -> list[nodes.Node]:
    rows = [[key, _title(one), one.where, one.dates] for key, one in site.sources.items()]
    return [parts.table(["Source", "Title", "Where", "Dates"], rows)]


def _title(source: Source) -> parts.Cell:
    if source.url is None:
        return source.title
    return [nodes.reference("", source.title, refuri=source.url)]


def _software(site: Site) -> list[nodes.Node]:
    software = site.software
    pairs: list[tuple[str, parts.Cell]] = [("Python", software.python.how)]
    pairs += [("Avoid", one) for one in software.python.avoid]
    pairs += [("CUDA modules", ", ".join(software.cuda_modules))] if software.cuda_modules else []
    pairs.append(("Containers", fact_nodes(fact(site, "software.container"))))
    pairs.append(("This course", fact_nodes(fact(site, "course.root"))))
    return [parts.facts(pairs)]


TABLES: Mapping[str, Callable[[Site], list[nodes.Node]]] = {
    "partitions": _queues,
    "gpus": _gpus,
    "storage": _storage,
    "limits": _limits,
    "software": _software,
    "conflicts": _conflicts,
    "unknown": _unknown,
    "sources": _sources,
}


def _known(kind: str) -> str:
    if kind not in TABLES:
        raise UsageError(f"there is no table {kind!r}; known are {', '.join(TABLES)}.")
    return kind


class SiteRows(CourseDirective):
    """``{site-rows} osc storage``: one table of one site."""

    required_arguments = 2

    def content_nodes(self) -> list[nodes.Node]:
        """Return the table."""
        name, kind = self.arguments
        return TABLES[_known(kind)](site_named(name))


class SiteTable(MarkdownDirective):
    """``{site-table} storage``: the table of each site, in tabs."""

    required_arguments = 1
    option_spec = {"sites": directives.unchanged_required}  # noqa: RUF012 - docutils' own interface

    def markdown(self) -> str:
        """Return the tables of all sites."""
        kind = _known(self.arguments[0])
        sites = chosen_sites(names_option(self.options.get("sites", "")))
        tabs = [Tab(site.site.label, site.id, f"```{{site-rows}} {site.id} {kind}\n```\n") for site in sites]
        return tab_set(tabs, SITES)


class SiteList(CourseDirective):
    """``{site-list}``: all sites of this build, with links to their pages."""

    def content_nodes(self) -> list[nodes.Node]:
        """Return the table."""
        rows = []
        for site in shown_sites():
            link = parts.link_to_label(f"site-{site.id}", [nodes.Text(site.site.name)], self.env.docname)
            confirmed = str(site.site.confirmed_on) if site.site.confirmed_on else "no"
            clusters = ", ".join(f"{one.name} ({one.scheduler})" for one in site.clusters)
            counts = [str(sum(len(one.gpus) for one in site.clusters)), str(len(site.conflicts))]
            rows.append([[link], clusters, *counts, str(len(site.unknown)), confirmed])
        headers = ["Site", "Clusters", "Kinds of GPU", "Conflicts", "Not known", "Confirmed by the site"]
        return [parts.table(headers, rows, numeric=(2, 3, 4))]


class SiteAbout(CourseDirective):
    """``{site-about} osc``: who the site is, whom to ask, and whether it confirmed the profile."""

    required_arguments = 1

    def content_nodes(self) -> list[nodes.Node]:
        """Return the lines."""
        site = site_named(self.arguments[0])
        about = site.site
        pairs: list[tuple[str, parts.Cell]] = [("Ask", about.support)]
        if about.documentation:
            link = nodes.reference("", about.documentation, refuri=about.documentation)
            pairs.append(("Documentation", [link]))
        confirmed = (
            f"{about.confirmed_by or 'yes'}, {about.confirmed_on}" if about.confirmed_on else "not yet"
        )
        return [parts.facts([*pairs, ("Confirmed by the site", confirmed)])]


def setup(app: Sphinx) -> None:
    """Register the directives."""
    app.add_directive("site-rows", SiteRows)
    app.add_directive("site-table", SiteTable)
    app.add_directive("site-list", SiteList)
    app.add_directive("site-about", SiteAbout)
