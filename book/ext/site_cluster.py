"""``{on-your-cluster}``: text that is written once and shown for each cluster."""

from book.ext.site_data import chosen_sites
from book.ext.site_placeholders import fill
from book.ext.site_tabs import SITES, MarkdownDirective, Tab, tab_set
from docutils.parsers.rst import directives
from sphinx.application import Sphinx

from mlhpc.errors import UsageError
from mlhpc.sites.clusters import CondorPool, SlurmCluster
from mlhpc.sites.schema import Site

SCHEDULERS = ("slurm", "htcondor", "cloud")


def clusters_of(site: Site, schedulers: tuple[str, ...]) -> list[SlurmCluster | CondorPool]:
    """Return the clusters of a site that have one of the schedulers."""
    return [one for one in site.clusters if one.scheduler in schedulers]  # type: ignore[misc]


def per_cluster(site: Site, texts: list[tuple[str, str, str]]) -> str:
    """Return the texts (id, name, text) of a site's clusters: in tabs, or once where they are the same."""
    if len({text for _, _, text in texts}) == 1:
        return texts[0][2]
    tabs = [Tab(name, f"{site.id}-{identifier}", text) for identifier, name, text in texts]
    return tab_set(tabs, f"cluster-{site.id}", depth=1)


def names_option(text: str) -> tuple[str, ...]:
    """Return the names in a list separated by commas."""
    return tuple(part.strip() for part in text.split(",") if part.strip())


class OnYourCluster(MarkdownDirective):
    """MyST text with placeholders such as ``{{ scratch.path }}``, once for each cluster of each site."""

    has_content = True
    option_spec = {  # noqa: RUF012 - docutils' own interface
        "schedulers": directives.unchanged_required,
        "sites": directives.unchanged_required,
    }

    def markdown(self) -> str:
        """Return the text of all sites in tabs."""
        self.assert_has_content()
        schedulers = names_option(self.options.get("schedulers", "slurm, htcondor"))
        if not set(schedulers) <= set(SCHEDULERS):
            raise UsageError(f"':schedulers: {', '.join(schedulers)}': known are {', '.join(SCHEDULERS)}.")
        sites = chosen_sites(names_option(self.options.get("sites", "")))
        tabs = [Tab(site.site.label, site.id, self._site(site, schedulers)) for site in sites]
        return tab_set(tabs, SITES)

    def _site(self, site: Site, schedulers: tuple[str, ...]) -> str:
        text = "\n".join(self.content)
        shown = []
        for cluster in clusters_of(site, schedulers):
            filled = fill(text, site, cluster)
            asks = [f"- `{one.place}`: {{not-known}}`{one.ask}`" for one in filled.missing]
            box = ["", "Not known in the commands above:", "", *asks, ""] if asks else []
            shown.append((cluster.id, cluster.name, "\n".join([filled.text, *box])))
        if not shown:
            return f"{site.site.name} has no cluster with {' or '.join(schedulers)}."
        return per_cluster(site, shown)


def setup(app: Sphinx) -> None:
    """Register the directive."""
    app.add_directive("on-your-cluster", OnYourCluster)
