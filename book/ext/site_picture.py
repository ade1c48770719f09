"""``{storage-picture} osc``: the storage tiers of a site, drawn from its profile."""

from book.ext import parts
from book.ext.course import CourseDirective
from book.ext.figures import figure_nodes
from book.ext.site_data import site_named
from docutils import nodes
from sphinx.application import Sphinx

from mlhpc.sites.schema import Site, Tier
from mlhpc.storage_plot import describe, plot_storage


class StoragePicture(CourseDirective):
    """One picture for each set of clusters that have the same tiers."""

    required_arguments = 1

    def content_nodes(self) -> list[nodes.Node]:
        """Return the pictures."""
        site = site_named(self.arguments[0])
        groups = _groups(site)
        if not groups:
            return [parts.note("No storage tier is known.")]
        return [
            figure_nodes(
                plot_storage(tiers),
                alternative=describe(tiers),
                caption=_caption(site, names, several=len(groups) > 1),
                environment=self.env,
            )
            for names, tiers in groups
        ]


def _groups(site: Site) -> list[tuple[str, tuple[Tier, ...]]]:
    """Return the sets of tiers and the clusters that have them; clusters without any are left out."""
    found: dict[tuple[str, ...], tuple[list[str], tuple[Tier, ...]]] = {}
    for cluster in site.clusters:
        tiers = tuple(site.tiers(cluster.id))
        key = tuple(tier.id for tier in tiers)
        if tiers:
            found.setdefault(key, ([], tiers))[0].append(cluster.name)
    return [(", ".join(names), tiers) for names, tiers in found.values()]


def _caption(site: Site, names: str, *, several: bool) -> str:
    where = f" of {names}" if several else f" of {site.site.label}"
    return f"Storage{where}: from where each tier can be seen, and what becomes of the files."


def setup(app: Sphinx) -> None:
    """Register the directive."""
    app.add_directive("storage-picture", StoragePicture)
