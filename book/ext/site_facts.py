"""Facts of a site in running text: ``{site}`` and the box for what is not known."""

from collections.abc import Sequence

from book.ext import parts
from book.ext.course import CourseRole
from book.ext.site_data import shown_sites, site_named
from docutils import nodes
from sphinx.application import Sphinx

from mlhpc.errors import UsageError
from mlhpc.sites.facts import Fact, fact


def not_known(ask: str) -> nodes.inline:
    """Return the box that says that a fact is not known, and whom to ask."""
    return nodes.inline("", f"not known: ask {ask}", classes=["not-known"])


def not_known_here() -> nodes.inline:
    """Return the box for a cell of a table, below which it says whom to ask."""
    return nodes.inline("", "not known", classes=["not-known"])


def fact_nodes(found: Fact) -> list[nodes.Node]:
    """Return a fact as a page shows it: its value, what sources disagree about, or the box."""
    if found.conflict is None:
        return [nodes.Text(found.text) if found.text else not_known(found.ask)]
    if found.text is None:
        return [nodes.Text(found.conflict.said), parts.small(" (sources disagree)")]
    return [nodes.Text(found.text), parts.small(f" (sources disagree: {found.conflict.said})")]


class SiteRole(CourseRole):
    """``{site}`osc storage.scratch.purge.after```: a fact with its source, and all values of a conflict."""

    def inline_nodes(self) -> Sequence[nodes.Node]:
        """Return the value as a link to the site's page."""
        name, separator, place = self.text.partition(" ")
        if not separator:
            raise UsageError(f"{self.text!r} must be a site and a place: osc storage.scratch.purge.after.")
        site = site_named(name)
        found = fact(site, place.strip())
        title = "; ".join(f"{one.title} ({one.dates})" for one in found.sources)
        inner = nodes.inline("", "", *fact_nodes(found), classes=["site-fact"])
        if title:
            inner["title"] = title
        if site not in shown_sites():
            # A build for one site has no page of another one to link to.
            return [inner]
        return [parts.link_to_label(f"site-{site.id}", [inner], self.env.docname)]


class NotKnownRole(CourseRole):
    """``{not-known}`its-hpc@pomona.edu```: the box, for text that a directive makes."""

    def inline_nodes(self) -> Sequence[nodes.Node]:
        """Return the box."""
        return [not_known(self.text)]


def setup(app: Sphinx) -> None:
    """Register the roles."""
    app.add_role("site", SiteRole())
    app.add_role("not-known", NotKnownRole())
