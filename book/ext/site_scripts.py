"""``{job-script}``: the script for a job, for each cluster of each site."""

import shlex

from book.ext.site_cluster import clusters_of, names_option, per_cluster
from book.ext.site_data import chosen_sites
from book.ext.site_tabs import SITES, MarkdownDirective, Tab, tab_set
from docutils.parsers.rst import directives
from sphinx.application import Sphinx

from mlhpc.errors import UsageError
from mlhpc.scripts import JobRequest, Script, write_script
from mlhpc.scripts.units import read_memory, read_time
from mlhpc.sites.clusters import CondorPool, SlurmCluster
from mlhpc.sites.schema import Site

SUFFIXES = {"slurm": "bash", "htcondor": "ini"}


class JobScript(MarkdownDirective):
    """The command as content; ``:gpu:``, ``:time:`` and so on as for ``mlhpc script``."""

    has_content = True
    option_spec = {  # noqa: RUF012 - docutils' own interface
        **dict.fromkeys(
            ("gpu", "time", "memory", "name", "stage-in", "stage-out", "signal", "sites", "schedulers"),
            directives.unchanged_required,
        ),
        **dict.fromkeys(("gpus", "cores", "signal-seconds"), directives.positive_int),
    }

    def markdown(self) -> str:
        """Return the scripts of all sites in tabs."""
        self.assert_has_content()
        sites = chosen_sites(names_option(self.options.get("sites", "")))
        tabs = [Tab(site.site.label, site.id, self._site(site)) for site in sites]
        return tab_set(tabs, SITES)

    def request(self, cluster: str) -> JobRequest:
        """Return what the options ask for at one cluster."""
        options = self.options
        return JobRequest(
            command=tuple(shlex.split(" ".join(self.content))),
            cluster=cluster,
            gpu=options.get("gpu"),
            gpus=options.get("gpus", 1),
            time=read_time(options.get("time")),
            cores=options.get("cores", 1),
            memory=read_memory(options.get("memory")),
            name=options.get("name", "job"),
            stage_in=names_option(options.get("stage-in", "")),
            stage_out=names_option(options.get("stage-out", "")),
            signal=options.get("signal"),
            signal_seconds=options.get("signal-seconds", 120),
            placeholders=True,
        )

    def _site(self, site: Site) -> str:
        schedulers = names_option(self.options.get("schedulers", "slurm, htcondor"))
        clusters = clusters_of(site, schedulers)
        if not clusters:
            return f"{site.site.name} has no cluster with {' or '.join(schedulers)}."
        return per_cluster(site, [(one.id, one.name, self._cluster(site, one)) for one in clusters])

    def _cluster(self, site: Site, cluster: SlurmCluster | CondorPool) -> str:
        request = self.request(cluster.id)
        try:
            return _shown(write_script(site, request))
        except UsageError as error:
            # What this cluster cannot do is an answer for its reader; the other tabs hold.
            return f":::{{admonition}} Not at {cluster.name}\n:class: refusal\n{error}\n:::\n"


def _shown(script: Script) -> str:
    lines = [
        f"```{{code-block}} {SUFFIXES[script.kind]}",
        f":caption: {script.file_name}",
        script.text + "```",
        "",
    ]
    for name, text in script.companions.items():
        lines += ["```{code-block} bash", f":caption: {name}", text + "```", ""]
    lines += ["```{code-block} bash", *script.submit, "```", ""]
    if script.remarks:
        lines += [":::{admonition} What the profile says about this job", ":class: note dropdown"]
        lines += [f"- {_plain(remark)}" for remark in script.remarks]
        lines += [":::", ""]
    return "\n".join(lines)


def _plain(text: str) -> str:
    """Return a remark as Markdown that shows it as it is."""
    for character in "\\`*_{}[]<>$":
        text = text.replace(character, f"\\{character}")
    return text


def setup(app: Sphinx) -> None:
    """Register the directive."""
    app.add_directive("job-script", JobScript)
