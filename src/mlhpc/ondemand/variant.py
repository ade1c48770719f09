"""What a class fixes in the form: a sub-app that the portal lists under the class's name."""

from mlhpc.errors import UsageError
from mlhpc.ondemand.choices import Choice, Quantity
from mlhpc.ondemand.form import Form, form
from mlhpc.ondemand.request import AppRequest, ClassVariant

UNITS: dict[Quantity, str] = {"hours": "hours", "cores": "cores", "memory": "GiB", "gpus": "GPUs"}


def class_form(request: AppRequest, variant: ClassVariant) -> Form:
    """Return the content of ``local/NAME.yml.erb``: the portal lays it over the app's form.

    A value in place of a field is fixed, and the portal shows no field for it.

    Raises:
        UsageError: if the cluster does not offer what the class fixes, or not so much of it.
    """
    check_numbers(request, variant)
    chosen = class_choice(request, variant)
    unknown_partition = variant.partition if chosen is None or chosen.partition is None else None
    values = {
        "mlhpc_resources": chosen.key if chosen else None,
        "mlhpc_partition_name": unknown_partition,
        "bc_num_hours": variant.hours,
        "mlhpc_cores": variant.cores,
        "mlhpc_memory": variant.memory,
        # Without a GPU their number is not used; fixing it takes the field away.
        "mlhpc_gpus": 1 if chosen and not chosen.gpu else variant.gpus,
        "bc_account": variant.account,
        "mlhpc_reservation": variant.reservation,
    }
    fixed = {key: value for key, value in values.items() if value is not None}
    fields = form(request)["form"]
    return {
        "title": f"ML on HPC: {variant.name}",
        "form": [*fields, *(key for key in fixed if key not in fields)],
        "attributes": fixed,
    }


def class_choice(request: AppRequest, variant: ClassVariant) -> Choice | None:
    """Return the one choice that the class's partition and GPU leave, or None if the learner chooses.

    Raises:
        UsageError: if none or several are left.
    """
    rows = request.choices
    names_known = any(row.partition for row in rows)
    if variant.gpu is None and (variant.partition is None or not names_known):
        return None
    found = [row for row in rows if _fits(row, variant)]
    if len(found) == 1:
        return found[0]
    options = (("partition", variant.partition), ("gpu", variant.gpu))
    wish = " ".join(f"--{key} {value}" for key, value in options if value)
    if found:
        kinds = ", ".join(f"--partition {row.partition} --gpu {row.gpu or 'none'}" for row in found)
        raise UsageError(f"{wish} leaves several choices: name one of {kinds}.")
    kinds = ", ".join(f"{row.partition or 'any partition'} with {row.gpu or 'no'} GPU" for row in rows)
    raise UsageError(f"Sessions at {request.cluster.name} cannot have {wish}; there are: {kinds}.")


def _fits(choice: Choice, variant: ClassVariant) -> bool:
    partition_fits = variant.partition is None or choice.partition in (None, variant.partition)
    return partition_fits and variant.gpu in (None, choice.gpu or "none")


def check_numbers(request: AppRequest, variant: ClassVariant) -> None:
    """Hold the class's numbers against the limits.

    Raises:
        UsageError: if no choice that is left to the learner allows one of them.
    """
    chosen = class_choice(request, variant)
    rows = [chosen] if chosen else list(request.choices)
    numbers: dict[Quantity, int | None] = {
        "hours": variant.hours,
        "cores": variant.cores,
        "memory": variant.memory,
        "gpus": variant.gpus,
    }
    for quantity, number in numbers.items():
        limits = [row.limit(quantity) for row in rows if quantity != "gpus" or row.gpu]
        known = [limit for limit in limits if isinstance(limit, int)]
        if number is not None and known and len(known) == len(limits) and number > max(known):
            raise UsageError(
                f"--{quantity} {number}: sessions there may have at most {max(known)} {UNITS[quantity]}."
            )
