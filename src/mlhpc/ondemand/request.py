"""What an Open OnDemand app is built from: a site's cluster, the course's place there, perhaps a class."""

import re
from dataclasses import dataclass

from mlhpc.errors import UsageError
from mlhpc.ondemand.choices import Choice, choices
from mlhpc.scripts.choose import nearest
from mlhpc.sites.clusters import SlurmCluster
from mlhpc.sites.schema import Site

_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:+-]{0,63}", re.ASCII)
_CLASS = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}", re.ASCII)
_UNSAFE = set("\"'\\`$\n")
LARGEST = 100_000


@dataclass(frozen=True)
class ClassVariant:
    """What is fixed for a class; what is None stays the learner's choice."""

    name: str
    account: str | None = None
    reservation: str | None = None
    hours: int | None = None
    partition: str | None = None
    gpu: str | None = None
    """Id of a kind of GPU, or ``none``."""
    gpus: int | None = None
    cores: int | None = None
    memory: int | None = None
    """GiB."""

    def __post_init__(self) -> None:
        """Refuse what no form or batch script can hold."""
        if not _CLASS.fullmatch(self.name):
            raise UsageError(
                f"The class {self.name!r} becomes the name of a file: use up to 40 letters, digits, - and _."
            )
        for key in ("account", "reservation", "partition", "gpu"):
            word = getattr(self, key)
            if word is not None and not _WORD.fullmatch(word):
                raise UsageError(f"--{key} {word!r}: use letters, digits and _ . : + - only.")
        for key in ("hours", "gpus", "cores", "memory"):
            number = getattr(self, key)
            if number is not None and not 1 <= number <= LARGEST:
                raise UsageError(f"--{key} {number}: name a number from 1 to {LARGEST}.")


@dataclass(frozen=True)
class AppRequest:
    """An app for one cluster of a site."""

    site: Site
    cluster: SlurmCluster
    portal_cluster: str
    """The name of the cluster in the portal's configuration."""
    course_root: str
    """Folder that all learners can read, with the checkout."""
    environment: str
    """Folder of the Python environment."""
    files: str = "learner"
    """Folder inside the course's, with the files that learners get a copy of."""
    learner_folder: str = "ml-on-hpc"
    """The learner's copy: a folder in the home folder, or an absolute path in which ``{user}`` may stand."""
    variant: ClassVariant | None = None

    @property
    def choices(self) -> tuple[Choice, ...]:
        """What learners may choose from."""
        return choices(self.cluster)


def app_request(
    site: Site,
    *,
    cluster: str | None = None,
    portal_cluster: str | None = None,
    course_root: str | None = None,
    environment: str | None = None,
    files: str = "learner",
    learner_folder: str = "ml-on-hpc",
    variant: ClassVariant | None = None,
    with_portal: bool = True,
) -> AppRequest:
    """Return a request with what was not named taken from the profile.

    Args:
        with_portal: whether the cluster must have a portal that is known; the other arguments are the
            fields of ``AppRequest``.

    Raises:
        UsageError: if the cluster has no portal, or a path is neither named nor in the profile.
    """
    any_cluster = portal_cluster is not None or not with_portal
    chosen = _cluster(site, cluster, any_cluster=any_cluster)
    name = _portal_name(chosen, portal_cluster, required=with_portal)
    if not _WORD.fullmatch(name):
        raise UsageError(f"--cluster-id {name!r}: the file clusters.d/NAME.yml of the portal has this name.")
    root = _root(site, course_root)
    place = _absolute("--environment", environment or f"{root}/.venv")
    request = AppRequest(site, chosen, name, root, place, files, learner_folder, variant)
    _check_folders(request)
    if not request.choices:
        raise UsageError(
            f"The profile {site.id} lets sessions at {chosen.name} use none of its partitions: correct "
            f"clusters.{chosen.id}.ondemand.partitions, or the partitions' max_time (an hour at least)."
        )
    return request


def _cluster(site: Site, name: str | None, *, any_cluster: bool) -> SlurmCluster:
    """Return the cluster of that name, or the only one that a portal is known for."""
    slurm = [one for one in site.clusters if isinstance(one, SlurmCluster)]
    if name is not None:
        return _named_cluster(site, name, slurm, any_cluster=any_cluster)
    if not slurm:
        raise UsageError(
            f"No cluster of {site.site.name} runs Slurm, which the app is written for. Use the notebooks "
            "with the site's own way to Jupyter, or in a job: mlhpc script."
        )
    fitting = [one for one in slurm if any_cluster or one.ondemand]
    if not fitting:
        raise UsageError(_no_portal(site, slurm[0]))
    if len(fitting) > 1:
        names = ", ".join(one.id for one in fitting)
        raise UsageError(f"{site.site.name} has several such clusters ({names}): choose one with --cluster.")
    return fitting[0]


def _named_cluster(site: Site, name: str, slurm: list[SlurmCluster], *, any_cluster: bool) -> SlurmCluster:
    found = next((one for one in site.clusters if one.id == name), None)
    if found is None:
        hint = nearest(name, [one.id for one in site.clusters])
        raise UsageError(f"{site.site.name} has no cluster {name!r}; {hint}")
    if not isinstance(found, SlurmCluster):
        raise UsageError(f"{found.name} does not run Slurm, which the app is written for. {_works(slurm)}")
    if found.ondemand is None and not any_cluster:
        raise UsageError(_no_portal(site, found))
    return found


def _works(slurm: list[SlurmCluster]) -> str:
    portals = ", ".join(one.id for one in slurm if one.ondemand)
    return f"With a portal: {portals}." if portals else "The site has no Slurm cluster with a portal."


def _no_portal(site: Site, cluster: SlurmCluster) -> str:
    others = [one.id for one in site.clusters if isinstance(one, SlurmCluster) and one.ondemand]
    instead = f" Clusters with one: {', '.join(others)}." if others else ""
    return (
        f"The profile {site.id} knows no Open OnDemand portal for {cluster.name}.{instead} If there is one, "
        "name the cluster as the portal's clusters.d/NAME.yml does: --cluster-id NAME."
    )


def _portal_name(cluster: SlurmCluster, named: str | None, *, required: bool) -> str:
    known = cluster.ondemand.cluster_id if cluster.ondemand else None
    if named or known or not required:
        return named or known or cluster.id
    raise UsageError(
        f"The profile does not know what the portal calls {cluster.name} (its file clusters.d/NAME.yml): "
        "give --cluster-id NAME."
    )


def _root(site: Site, named: str | None) -> str:
    if named is not None:
        return _absolute("--course-root", named)
    root = site.course.root
    if root is None or "{" in root:
        said = f" (the profile says {root})" if root else ""
        raise UsageError(
            f"Where is the course at {site.site.name}{said}? Name the folder with the checkout, which all "
            "learners can read: --course-root /FOLDER."
        )
    return _absolute("course.root", root)


def _absolute(option: str, path: str) -> str:
    parts = path.split("/")
    if not path.startswith("/") or ".." in parts or path.strip("/") == "":
        raise UsageError(f"{option} {path!r}: write the whole path, from /.")
    _check_characters(option, path)
    return path.rstrip("/")


def _check_characters(option: str, path: str) -> None:
    if not path.isascii() or not path.isprintable() or set(path) & _UNSAFE:
        raise UsageError(f"{option} {path!r}: use ASCII letters, without quotes, backslashes and $.")


def _check_folders(request: AppRequest) -> None:
    _check_characters("--files", request.files)
    if request.files.startswith("/") or {"", ".", ".."} & set(request.files.split("/")):
        raise UsageError(f"--files {request.files!r} must be a folder inside the course's.")
    folder = request.learner_folder
    _check_characters("--learner-folder", folder)
    braces = folder.replace("{user}", "")
    if "{" in braces or "}" in braces:
        raise UsageError(f"--learner-folder {folder!r}: only {{user}} can stand for something.")
    # "~" itself would make the whole home folder the course's; "/x//y" has an empty part that does no harm.
    parts = folder.strip("/").split("/")
    if {"", ".", "..", "~"} & set(parts):
        raise UsageError(
            f"--learner-folder {folder!r}: name a folder as seen from the home folder, or from /."
        )
