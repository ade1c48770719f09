"""The README that goes with the app, for the member of staff who installs it."""

from mlhpc.ondemand.request import AppRequest


def readme(template: str, request: AppRequest) -> str:
    """Return the text of ``README.md``."""
    values = {
        "cluster": request.cluster.name,
        "site": request.site.site.name,
        "portal_cluster": request.portal_cluster,
        "course_root": request.course_root,
        "files": request.files,
        "environment": request.environment,
        "learner_folder": shown_folder(request.learner_folder),
        "notes": "".join(f"- {note}\n" for note in remarks(request)) or "Nothing.\n",
    }
    for name, value in values.items():
        template = template.replace(f"@@{name}@@", value)
    return template


def shown_folder(folder: str) -> str:
    """Return the learner's folder as a person writes it."""
    return folder if folder.startswith("/") else f"~/{folder}"


def remarks(request: AppRequest) -> tuple[str, ...]:
    """Return a sentence for each fact about the cluster that is not known or that sources disagree about."""
    prefix = f"clusters.{request.cluster.id}."
    sections = tuple(prefix + part for part in ("partitions", "gpus", "ondemand", "account"))
    found = [one.sentence for one in request.site.conflicts if one.fact.startswith(sections)]
    for unknown in request.site.unknown:
        if unknown.what.startswith(sections):
            ask = unknown.ask or request.site.site.support
            found.append(f"Not known: {unknown.what}. To find out: {ask}.")
    found += [f"Python here: avoid {what}." for what in request.site.software.python.avoid]
    return tuple(found)
