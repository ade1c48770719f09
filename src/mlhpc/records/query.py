"""Choosing records: by workload, parameters and machine, as values or as one line of text.

The text form, used in pages and in ``data/claims.yml``::

    resnet50?device=cpu&precision=bf16,fp32&tier=full&machine.gpu=A100#throughput

After ``?`` stand conditions, all of which must hold. ``tier`` and ``metric`` are fields of the record,
``machine.gpu``, ``machine.cpu``, ``machine.cores`` and ``machine.session`` describe the machine, every other
name is a parameter of the workload. A comma separates values of which one must hold. ``true``, ``false``,
``null`` and numbers mean what they mean in JSON; ``"8"`` in quotes is text. Characters that have a meaning
here are written as in web addresses (``%26`` for ``&``). After ``#`` stands a derived quantity; without it,
the median of the samples is meant.
"""

import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, get_args
from urllib.parse import quote, unquote

from mlhpc.errors import UsageError
from mlhpc.machine.model import Machine
from mlhpc.records.schema import Quantity, Record, Scalar, Tier

MACHINE_KEYS = ("gpu", "cpu", "cores", "session")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")


@dataclass(frozen=True)
class Query:
    """Conditions on a record, all of which must hold."""

    workload: str
    tier: Tier | None = None
    metric: str | None = None
    where: Mapping[str, Scalar | tuple[Scalar, ...]] = field(default_factory=dict)
    """Parameter to the value, or the values of which one must hold. A missing parameter never matches."""
    machine: Mapping[str, Scalar | tuple[Scalar, ...]] = field(default_factory=dict)
    """``gpu`` and ``cpu``: words that the model's name must hold (``A100``); ``cores``: usable cores;
    ``session``: kind of session."""

    def __post_init__(self) -> None:
        for name in self.machine:
            if name not in MACHINE_KEYS:
                raise UsageError(
                    f"A record cannot be chosen by machine.{name}: use one of "
                    f"{', '.join(f'machine.{key}' for key in MACHINE_KEYS)}."
                )

    def matches(self, record: Record) -> bool:
        """Return whether every condition holds for ``record``."""
        return (
            record.workload == self.workload
            and self.tier in (None, record.tier)
            and self.metric in (None, record.metric)
            and all(_parameter_matches(record, name, wanted) for name, wanted in self.where.items())
            and all(_machine_matches(record.machine, name, wanted) for name, wanted in self.machine.items())
        )


@dataclass(frozen=True)
class Reference:
    """A query and the quantity that is wanted of what it finds; None for the median of the samples."""

    query: Query
    quantity: str | None = None

    def __str__(self) -> str:
        return format_reference(self)


def select(records: Iterable[Record], query: Query) -> tuple[Record, ...]:
    """Return the records for which ``query`` holds, in their order."""
    return tuple(record for record in records if query.matches(record))


def select_one(records: Iterable[Record], reference: Reference) -> Record:
    """Return the only record that ``reference`` finds.

    Raises:
        UsageError: if there is none or more than one; the sentence says how to narrow it.
    """
    found = select(records, reference.query)
    if not found:
        raise UsageError(f"No record matches {reference}.")
    if len(found) > 1:
        raise UsageError(f"{len(found)} records match {reference}: {_difference(found)}.")
    return found[0]


def newest(records: Iterable[Record]) -> tuple[Record, ...]:
    """Return the latest record of each thing measured on each machine, in the order of their first ones."""
    latest: dict[str, Record] = {}
    for record in records:
        key = f"{identity(record)} {machine_identity(record.machine)}"
        if key not in latest or record.measured_at >= latest[key].measured_at:
            latest[key] = record
    return tuple(latest.values())


def identity(record: Record) -> str:
    """Return a text that is equal for two records exactly if they measured the same thing."""
    what = (record.workload, record.tier, record.metric, record.parameters)
    return json.dumps(what, sort_keys=True)


def machine_identity(machine: Machine) -> str:
    """Return a text that is equal for two machines with the same processor, usable cores and GPUs."""
    return json.dumps((machine.cpu.model, machine.cpu.cores_usable, [gpu.name for gpu in machine.gpus]))


def measured(record: Record, quantity: str | None = None) -> Quantity:
    """Return a quantity of ``record``, or for None the median of its samples with its interval.

    Raises:
        UsageError: if the record has no such quantity; the sentence names those it has.
    """
    if quantity is None:
        summary = record.summary
        return Quantity(value=summary.median, unit=record.unit, low=summary.low, high=summary.high)
    if quantity not in record.quantities:
        known = ", ".join(sorted(record.quantities)) or "none"
        raise UsageError(
            f"Record {record.id} ({record.workload}) has no quantity {quantity}; it has: {known}."
        )
    return record.quantities[quantity]


def parse_reference(text: str) -> Reference:
    """Return the reference that ``text`` writes; see the module's description for the form.

    Raises:
        UsageError: if a part cannot be read; the sentence names it.
    """
    head, hash_sign, quantity = text.strip().partition("#")
    if hash_sign and not _NAME.fullmatch(quantity):
        raise UsageError(
            f"In the reference {text!r}, the quantity after # is {quantity!r}, which is no name."
        )
    workload, _, conditions = head.partition("?")
    if not _NAME.fullmatch(workload):
        raise UsageError(f"The reference {text!r} must start with the name of a workload.")
    fields: dict[str, Any] = {"where": {}, "machine": {}}
    for condition in conditions.split("&") if conditions else ():
        name, equals, value = condition.partition("=")
        name = unquote(name)
        if not (name and equals):
            raise UsageError(f"In the reference {text!r}, {condition!r} is not of the form name=value.")
        _add_condition(fields, name, _values(value), text)
    return Reference(Query(workload, **fields), quantity or None)


def _add_condition(fields: dict[str, Any], name: str, value: Scalar | tuple[Scalar, ...], text: str) -> None:
    """Put one condition where it belongs in the arguments of ``Query``."""
    if name in ("tier", "metric"):
        target, key = fields, name
        if not isinstance(value, str) or (name == "tier" and value not in get_args(Tier)):
            wanted = f"one of {', '.join(get_args(Tier))}" if name == "tier" else "one name"
            raise UsageError(f"In the reference {text!r}, {name} must be {wanted}.")
    elif name.startswith("machine."):
        target, key = fields["machine"], name.removeprefix("machine.")
    else:
        target, key = fields["where"], name
    if key in target:
        raise UsageError(f"The reference {text!r} names {name} twice; separate values by a comma.")
    target[key] = value


def format_reference(reference: Reference) -> str:
    """Return the text form of ``reference``; ``parse_reference`` gives an equal one back."""
    query = reference.query
    conditions = [
        (name, getattr(query, name)) for name in ("tier", "metric") if getattr(query, name) is not None
    ]
    conditions += query.where.items()
    conditions += [(f"machine.{name}", value) for name, value in query.machine.items()]
    text = "&".join(f"{quote(name, safe='')}={_format_values(value)}" for name, value in conditions)
    quantity = f"#{reference.quantity}" if reference.quantity else ""
    return query.workload + (f"?{text}" if text else "") + quantity


def _values(text: str) -> Scalar | tuple[Scalar, ...]:
    values = tuple(_scalar(unquote(part)) for part in text.split(","))
    return values[0] if len(values) == 1 else values


def _scalar(text: str) -> Scalar:
    constants: dict[str, Scalar] = {"true": True, "false": False, "null": None}
    if text in constants:
        return constants[text]
    if len(text) >= 2 and text[0] == text[-1] == '"':
        return text[1:-1]
    if re.fullmatch(r"[+-]?\d+", text):
        return int(text)
    if _NUMBER.fullmatch(text) and math.isfinite(float(text)):
        return float(text)
    return text


def _format_values(values: Scalar | tuple[Scalar, ...]) -> str:
    parts = values if isinstance(values, tuple) else (values,)
    return ",".join(quote(_format_scalar(part), safe=" /:") for part in parts)


def _format_scalar(value: Scalar) -> str:
    if isinstance(value, str):
        plain = _scalar(value) == value and isinstance(_scalar(value), str) and value == value.strip() != ""
        return value if plain else f'"{value}"'
    return json.dumps(value)


def _parameter_matches(record: Record, name: str, wanted: Scalar | tuple[Scalar, ...]) -> bool:
    if name not in record.parameters:
        return False
    value = record.parameters[name]
    return any(_same(value, one) for one in (wanted if isinstance(wanted, tuple) else (wanted,)))


def _same(left: Scalar, right: Scalar) -> bool:
    """Return whether two scalars are equal; unlike in Python, True is not 1."""
    return isinstance(left, bool) == isinstance(right, bool) and left == right


def _machine_matches(machine: Machine, name: str, wanted: Scalar | tuple[Scalar, ...]) -> bool:
    options = wanted if isinstance(wanted, tuple) else (wanted,)
    if name == "cores":
        return any(_same(machine.cpu.cores_usable, one) for one in options)
    if name == "session":
        return machine.session in options
    names = [machine.cpu.model] if name == "cpu" else [gpu.name for gpu in machine.gpus]
    return bool(names) and all(any(_holds_words(text, str(one)) for one in options) for text in names)


def _holds_words(name: str, wanted: str) -> bool:
    """Return whether all words of ``wanted`` are whole words of ``name``: A10 does not match an A100."""
    words = re.findall(r"[a-z0-9]+", wanted.lower())
    return bool(words) and set(words) <= set(re.findall(r"[a-z0-9]+", name.lower()))


def _difference(records: tuple[Record, ...]) -> str:
    """Return a hint on how to choose one of ``records``."""
    fields = [{"tier": record.tier, "metric": record.metric, **record.parameters} for record in records]
    names = sorted({name for one in fields for name in one})
    differing = [name for name in names if len({json.dumps(one.get(name, "")) for one in fields}) > 1]
    if differing:
        return f"they differ in {', '.join(differing)}, so add a condition on that"
    if len({machine_identity(record.machine) for record in records}) > 1:
        return "they come from different machines, so add a condition on machine.gpu, .cpu or .cores"
    return f"they measured the same thing several times ({', '.join(record.id for record in records)})"
