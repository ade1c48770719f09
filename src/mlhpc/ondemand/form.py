"""The form that a learner fills in before a session."""

from typing import Any

from mlhpc.ondemand.choices import Choice, Limit, Quantity
from mlhpc.ondemand.request import AppRequest
from mlhpc.sites.facts import fact

Form = dict[str, Any]

HOURS, CORES = 2, 2
"""What the form proposes: the notebooks are written for two cores."""


def form(request: AppRequest) -> Form:
    """Return the content of ``form.yml.erb``: what is asked, and the settings that the scripts read."""
    attributes = {**_asked(request), **_settings(request)}
    return {
        "cluster": request.portal_cluster,
        # Values that a browser remembers would hide a changed default from everybody who came before.
        "cacheable": False,
        "form": list(attributes),
        "attributes": attributes,
    }


def _asked(request: AppRequest) -> Form:
    rows = request.choices
    asked: Form = {"mlhpc_resources": _resources(request)}
    if any(row.partition is None for row in rows):
        asked["mlhpc_partition_name"] = {
            "widget": "text_field",
            "label": "Partition",
            "help": f"Not known: the partitions of {request.cluster.name}. {_ask(request, 'partitions')} "
            "Leave it empty for the scheduler's default.",
        }
    asked["bc_num_hours"] = _number(request, "hours", "Number of hours", HOURS)
    asked["mlhpc_cores"] = _number(request, "cores", "Cores", CORES)
    asked["mlhpc_memory"] = _number(request, "memory", "Memory in GiB", None)
    if any(row.gpu_options for row in rows):
        asked["mlhpc_gpus"] = _number(request, "gpus", "Number of GPUs", 1)
    if request.cluster.account.required is not False or request.site.course.account:
        asked["bc_account"] = _account(request)
    return asked


def _settings(request: AppRequest) -> Form:
    """Return what is fixed: the portal hands it to submit.yml.erb and to the scripts, and shows no field."""
    software = request.site.software
    return {
        "mlhpc_reservation": request.site.course.reservation or "",
        "mlhpc_site": request.site.id,
        "mlhpc_support": request.site.site.support,
        "mlhpc_course_root": request.course_root,
        "mlhpc_files": request.files,
        "mlhpc_environment": request.environment,
        "mlhpc_learner_folder": request.learner_folder,
        "mlhpc_module_setup": software.module_setup or "",
        "mlhpc_modules": " ".join(software.python.modules),
    }


def _resources(request: AppRequest) -> Form:
    rows = request.choices
    usual = request.site.course.partition
    default = next((row for row in rows if usual and row.partition == usual), rows[0])
    found: Form = {
        "widget": "select",
        "label": "Where to run",
        "value": default.key,
        "options": [[row.label, row.key, _dynamic(row, rows)] for row in rows],
    }
    notes = [f"{gpu.model}: {gpu.note}" for gpu in request.cluster.gpus if gpu.note]
    portal = request.cluster.ondemand
    notes += [portal.note] if portal and portal.note else []
    if notes:
        found["help"] = "\n".join(f"- {note}" for note in notes)
    return found


def _dynamic(row: Choice, rows: tuple[Choice, ...]) -> Form:
    """Return what the portal's script does when this line is chosen, where ``bc_dynamic_js`` is switched on.

    Only a limit that each choice has: a line without one would keep the limit of the line before.
    """
    found: Form = {} if row.gpu else {"data-hide-mlhpc-gpus": True}
    fields: dict[Quantity, str] = {"hours": "bc-num-hours", "cores": "mlhpc-cores", "memory": "mlhpc-memory"}
    for quantity, field in fields.items():
        limits = [other.limit(quantity) for other in rows]
        if all(isinstance(limit, int) for limit in limits) and len(set(limits)) > 1:
            found[f"data-max-{field}"] = row.limit(quantity)
    return found


def _number(request: AppRequest, quantity: Quantity, label: str, value: int | None) -> Form:
    """Return a field for a number, with the largest limit of all choices where each limit is known."""
    rows = [row for row in request.choices if quantity != "gpus" or row.gpu_options]
    limits = [row.limit(quantity) for row in rows]
    found: Form = {"widget": "number_field", "label": label, "min": 1, "step": 1}
    known = [limit for limit in limits if isinstance(limit, int)]
    if value is not None:
        found |= {"value": min([value, *known]), "required": True}
    if len(known) == len(limits):
        found["max"] = max(known)
    sentences = [_limits_sentence(rows, quantity), *_unknown(request, quantity, limits)]
    if quantity == "gpus":
        sentences.insert(0, "Counts only where a kind of GPU is chosen.")
    if value is None:
        sentences.append("Leave it empty for the scheduler's default.")
    return {**found, "help": " ".join(sentence for sentence in sentences if sentence)}


def _limits_sentence(rows: list[Choice], quantity: Quantity) -> str:
    limits = {row.partition: limit for row in rows if isinstance(limit := row.limit(quantity), int)}
    if not limits:
        return ""
    if len({row.limit(quantity) for row in rows}) == 1:
        return f"At most {next(iter(limits.values()))}."
    return f"At most {', '.join(f'{limit} in {name}' for name, limit in limits.items())}."


def _unknown(request: AppRequest, quantity: Quantity, limits: list[Limit]) -> list[str]:
    if None not in limits:
        return []
    where = "" if limits.count(None) == len(limits) else " of the others"
    return [f"Not known: the limit{where}. {_ask(request, _PORTAL_KEYS[quantity])}"]


_PORTAL_KEYS: dict[Quantity, str] = {
    "hours": "ondemand.max_time",
    "cores": "ondemand.max_cores",
    "memory": "ondemand.max_memory",
    "gpus": "ondemand.max_gpus",
}


def _ask(request: AppRequest, key: str) -> str:
    if key.startswith("ondemand.") and request.cluster.ondemand is None:
        return f"Ask {request.site.site.support}."
    return f"To find out: {fact(request.site, f'clusters.{request.cluster.id}.{key}').ask}."


def _account(request: AppRequest) -> Form:
    account = request.cluster.account
    found: Form = {"label": "Account", "required": bool(account.required)}
    if request.site.course.account:
        found["value"] = request.site.course.account
    sentences = [f"It looks like {account.example}."] if account.example else []
    if account.required is None:
        sentences.insert(
            0, f"Not known: whether {request.cluster.name} needs one. {_ask(request, 'account.required')}"
        )
    if sentences:
        found["help"] = " ".join(sentences)
    return found
