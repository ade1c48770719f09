"""Course files for CSC's app "Jupyter for courses": a module and its default resources.

CSC's portal reads ``COURSE.lua`` and ``COURSE-resources.yml`` from a folder of the course's project. Format:
CSC's user guide, "Jupyter for courses"; the notebook's path begins with the repository's name, as in the
modules of CSC's own courses (csc-training/intro-to-dl).
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from mlhpc.errors import UsageError
from mlhpc.lessons.layout import lesson_stems
from mlhpc.ondemand.folder import AppFile
from mlhpc.ondemand.request import AppRequest
from mlhpc.ondemand.variant import check_numbers, class_choice

_REVISION = re.compile(r"[A-Za-z0-9][A-Za-z0-9_./-]{0,99}", re.ASCII)


@dataclass(frozen=True)
class CscCourse:
    """What CSC's app fetches for a learner."""

    repository: str
    """Address of the course's git repository."""
    revision: str | None = None
    """Branch, tag or commit; None for the repository's default."""

    def __post_init__(self) -> None:
        """Refuse what the module file cannot hold."""
        parts = urlsplit(self.repository)
        if parts.scheme != "https" or not parts.netloc or re.search(r"[\s\"'\\<>]", self.repository):
            raise UsageError(f"--git-repo {self.repository!r}: give the address that git clones, https://...")
        if self.revision is not None and not _REVISION.fullmatch(self.revision):
            raise UsageError(f"--git-ref {self.revision!r}: give a branch, a tag or a commit.")

    @property
    def folder(self) -> str:
        """The name that git gives to the clone."""
        return self.repository.rstrip("/").rpartition("/")[2].removesuffix(".git")


def csc_files(request: AppRequest, course: CscCourse) -> Mapping[str, AppFile]:
    """Return the two files by their name.

    Raises:
        UsageError: if the class fixes what the cluster does not offer.
    """
    name = request.variant.name if request.variant else "ml-on-hpc"
    return {
        f"{name}.lua": AppFile(_module(request, course)),
        f"{name}-resources.yml": AppFile(_resources(request)),
    }


def _module(request: AppRequest, course: CscCourse) -> str:
    modules = request.site.software.python.modules
    lines = [
        "-- Jupyter",
        "-- Written by `mlhpc ondemand build --csc`. CSC's app lists only files that contain the word above.",
        *([f"depends_on({', '.join(map(_quoted, modules))})"] if modules else []),
        f"prepend_path({_quoted('PATH')}, {_quoted(f'{request.environment}/bin')})",
    ]
    settings = {
        "_COURSE_BASE_NAME": request.learner_folder.rstrip("/").rpartition("/")[2],
        "_COURSE_NOTEBOOK": f"{course.folder}/notebooks/{lesson_stems()[0]}.ipynb",
        "_COURSE_GIT_REPO": course.repository,
        "_COURSE_GIT_REF": course.revision or "",
        "_COURSE_NOTEBOOK_TYPE": "lab",
        "PYTHONNOUSERSITE": "1",
        "MLHPC_SITE": request.site.id,
    }
    lines += [f"setenv({_quoted(key)}, {_quoted(value)})" for key, value in settings.items()]
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _resources(request: AppRequest) -> str:
    """Return the resources that a class fixes; the app asks the learner for those that are left out."""
    variant = request.variant
    if variant is None:
        return "# No --class was named: the form asks for all resources.\n{}\n"
    chosen = class_choice(request, variant)
    check_numbers(request, variant)
    values = {
        "cores": variant.cores,
        "time": f"{variant.hours:02}:00:00" if variant.hours else None,
        "partition": chosen.partition if chosen and chosen.partition else variant.partition,
        "mem": f"{variant.memory}GB" if variant.memory else None,
        "gpus": (variant.gpus or 1) if chosen and chosen.gpu else None,
        "reservation": variant.reservation,
    }
    # As JSON, so that text is quoted: Ruby reads 02:00:00 without quotes as a number.
    lines = [f"{key}: {json.dumps(value)}" for key, value in values.items() if value is not None]
    return "\n".join(lines or ["{}"]) + "\n"
