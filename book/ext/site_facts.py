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


def disagreement(found: Fact) -> str:
    """Return what the sources say in a conflict, empty without one."""
    if found.conflict is None:
        return ""
    said = " or ".join(str(one.value) for one in found.conflict.values)
    return f"sources disagree: {said}"


def fact_nodes(found: Fact) -> list[nodes.Node]:
    """Return a fact as a page shows it: its value, what sources disagree about, or the box."""
    if found.text is None and found.conflict is None:
        return [not_known(found.ask)]
    value = found.text or " or ".join(str(one.value) for one in found.conflict.values)  # type: ignore[union-attr]
    shown: list[nodes.Node] = [nodes.Text(value)]
    aside = disagreement(found) if found.text else "sources disagree"
    return [*shown, parts.small(f" ({aside})")] if found.conflict else shown


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
