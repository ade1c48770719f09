"""Reading YAML so that every fault can be named with file, line and key."""

import difflib
import re
import types
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

import yaml
from pydantic import BaseModel, ValidationError

from mlhpc.errors import MlhpcError

_SIMPLE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+-]*")
"""Names that can stand in a place, such as ``clusters.pitzer.partitions.gpu-exp``."""

_SURROGATE = re.compile("[\ud800-\udfff]")

Place = Sequence[str | int]
"""The way from the top of a document to a value: keys and list positions."""

ModelT = TypeVar("ModelT", bound=BaseModel)


@dataclass(frozen=True)
class LocatedYaml:
    """The content of a YAML file that still knows where each part stands."""

    path: Path
    data: Any
    lines: Mapping[tuple[str | int, ...], int]
    """Line, counted from 1, of each key and each list item."""

    def line_of(self, place: Place) -> int:
        """Return the line of ``place``, or of the nearest part around it that stands in the file.

        Steps that are not in the file are passed over, as pydantic adds some for unions.
        """
        known: tuple[str | int, ...] = ()
        for step in place:
            if (*known, step) in self.lines:
                known = (*known, step)
        return self.lines.get(known, 1)

    def fault(self, place: Place, reason: str) -> str:
        """Return the sentence ``FILE:LINE: key: reason`` for a fault at ``place``.

        List items are named by their id or name where that tells them apart, else by their position.
        """
        key = "".join(self._names(self._written(place))).lstrip(".")
        return f"{self.path}:{self.line_of(place)}: {f'{key}: ' if key else ''}{reason}"

    def _names(self, steps: Place) -> Iterator[str]:
        """Yield how a person names each step."""
        value = self.data
        for step in steps:
            name = _name_of_item(value, step) if isinstance(step, int) else step
            yield f"[{step}]" if name is None else f".{name}"
            try:
                value = value[step]
            except (KeyError, IndexError, TypeError):
                value = None

    def _written(self, place: Place) -> Place:
        """Return ``place`` with the steps that stand in the file, and the last one if it is a missing key."""
        known: tuple[str | int, ...] = ()
        for position, step in enumerate(place):
            if (*known, step) in self.lines or (position == len(place) - 1 and isinstance(step, str)):
                known = (*known, step)
        return known


def _name_of_item(items: Any, position: int) -> str | None:
    """Return the id or name of an item of a list, if it is a plain one that no other item has."""
    if not isinstance(items, list) or position >= len(items):
        return None
    names = [item.get("id", item.get("name")) if isinstance(item, dict) else None for item in items]
    name = names[position]
    plain = isinstance(name, str) and _SIMPLE.fullmatch(name) and names.count(name) == 1
    return name if plain else None


def load_yaml(path: Path) -> LocatedYaml:
    """Return the content of a YAML file of one document, with the line of each key.

    Only plain data is read (the safe subset of YAML). A key that stands twice in one mapping is refused,
    where YAML readers usually drop the first one.

    Raises:
        MlhpcError: if the file cannot be read or is not such a document; names file and line.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise MlhpcError(f"Cannot read {path}: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise MlhpcError(f"{path} is not UTF-8 text ({error.reason} at byte {error.start}).") from error
    return parse_yaml(text, path)


def parse_yaml(text: str, path: Path) -> LocatedYaml:
    """Return the content of ``text``, a YAML document that stands in the file ``path``.

    Where it starts further down in the file, put as many line breaks in front of it, so that lines agree.

    Raises:
        MlhpcError: if it is not such a document; names file and line.
    """
    loader: yaml.SafeLoader | None = None
    try:
        loader = yaml.SafeLoader(text)
        node = loader.get_single_node()
        if node is None:
            raise MlhpcError(f"{path} is empty.")
        lines = _all_lines(node, path)
        data = loader.construct_document(node)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f":{mark.line + 1}" if mark else ""
        raise MlhpcError(f"{path}{line}: not valid YAML: {error.problem or error.context}.") from error
    except yaml.reader.ReaderError as error:
        number = text[: error.position].count("\n") + 1
        raise MlhpcError(f"{path}:{number}: not valid YAML: {error.reason}.") from error
    except RecursionError as error:
        number = loader.line + 1 if loader is not None else 1
        raise MlhpcError(f"{path}:{number}: not valid YAML: nested too deeply.") from error
    return LocatedYaml(path, data, lines)


MOST_PARTS = 200_000
"""Places in one file; a few lines of aliases of aliases can stand for more than a machine can hold."""


def _all_lines(node: yaml.Node, path: Path) -> dict[tuple[str | int, ...], int]:
    """Return each place under ``node`` with its line.

    Raises:
        MlhpcError: if there are too many, as with aliases that stand for each other.
    """
    found: dict[tuple[str | int, ...], int] = {}
    for place, line in _lines(node, (), path, ()):
        found[place] = line
        if len(found) > MOST_PARTS:
            raise MlhpcError(f"{path}:{line}: more than {MOST_PARTS} parts, through aliases or as they are.")
    return found


PLAIN_TAGS = frozenset(f"tag:yaml.org,2002:{name}" for name in ("str", "null", "merge"))


def _check_scalar(node: yaml.ScalarNode, path: Path) -> None:
    """Refuse a key or a value that YAML names and Python cannot read or write out again, with its line.

    Raises:
        MlhpcError: for a date that does not exist, a number too long to be one, an unknown tag, half of a
            surrogate pair, and so on.
    """
    if _SURROGATE.search(node.value):
        raise MlhpcError(
            f"{path}:{node.start_mark.line + 1}: not valid YAML: \\uD800 to \\uDFFF stand for no character."
        )
    if node.tag in PLAIN_TAGS:
        return
    try:
        yaml.SafeLoader("").construct_object(node)
    except yaml.MarkedYAMLError as error:
        reason = str(error.problem or error.context)
    except (ValueError, KeyError, IndexError, OverflowError, AttributeError) as error:
        reason = f"{node.value[:40]!r} cannot be read as {node.tag.rpartition(':')[2]} ({error})"
    else:
        return
    raise MlhpcError(f"{path}:{node.start_mark.line + 1}: not valid YAML: {reason}.")


def _lines(
    node: yaml.Node, place: tuple[str | int, ...], path: Path, above: tuple[int, ...]
) -> Iterator[tuple[tuple[str | int, ...], int]]:
    """Yield each place under ``node`` with its line; refuse duplicate keys and nodes that hold themselves."""
    if id(node) in above:
        raise MlhpcError(f"{path}:{node.start_mark.line + 1}: this part refers to itself.")
    if isinstance(node, yaml.ScalarNode):
        _check_scalar(node, path)
    above = (*above, id(node))
    if isinstance(node, yaml.SequenceNode):
        for number, item in enumerate(node.value):
            yield (*place, number), item.start_mark.line + 1
            yield from _lines(item, (*place, number), path, above)
    elif isinstance(node, yaml.MappingNode):
        first: dict[str, int] = {}
        for key, value in node.value:
            line = key.start_mark.line + 1
            if not isinstance(key, yaml.ScalarNode):
                raise MlhpcError(f"{path}:{line}: a key must be a plain word.")
            _check_scalar(key, path)
            if key.value in first:
                raise MlhpcError(
                    f"{path}:{line}: {key.value}: line {first[key.value]} has this key already; keep one."
                )
            first[key.value] = line
            yield (*place, key.value), line
            yield from _lines(value, (*place, key.value), path, above)


def validate(model: type[ModelT], located: LocatedYaml) -> ModelT:
    """Return the content of a file as ``model``.

    Raises:
        MlhpcError: one sentence per fault, each with file, line and key.
    """
    try:
        return model.model_validate(located.data)
    except ValidationError as error:
        raise MlhpcError("\n".join(explain(error, model, located))) from error


def explain(error: ValidationError, model: type[BaseModel], located: LocatedYaml) -> tuple[str, ...]:
    """Return the sentence ``FILE:LINE: key: what is wrong`` for each fault, in the order of lines.

    An unknown key is followed by the known one that is most like it, or by all known ones.
    """
    # A list whose items are all faulty counts as empty for pydantic: that is no fault of its own.
    given = error.errors()
    inside = {fault["loc"][:depth] for fault in given for depth in range(len(fault["loc"]))}
    own = [fault for fault in given if fault["type"] != "too_short" or fault["loc"] not in inside]
    faults = sorted(own, key=lambda fault: located.line_of(fault["loc"]))
    return tuple(located.fault(fault["loc"], _reason(fault, model)) for fault in faults)


def _reason(fault: Any, model: type[BaseModel]) -> str:
    kind, place, given = fault["type"], fault["loc"], fault.get("input")
    if kind == "extra_forbidden":
        known = _keys_at(model, place[:-1])
        return f"unknown key{_suggestion(str(place[-1]), known)}."
    if kind == "missing":
        return "this key is missing."
    message = fault["msg"].removeprefix("Value error, ").removeprefix("Assertion failed, ").rstrip(".")
    message = message[:1].lower() + message[1:]
    shown = f" (it is {given!r})" if isinstance(given, str | int | float | bool) or given is None else ""
    return f"{message}{'' if kind == 'value_error' else shown}."


def _suggestion(word: str, known: Sequence[str]) -> str:
    close = difflib.get_close_matches(word, known, n=1)
    if close:
        return f"; did you mean {close[0]}"
    return f"; known here: {', '.join(known)}" if known else ""


def _keys_at(model: type[BaseModel], place: Place) -> list[str]:
    """Return the keys that the models at ``place`` allow."""
    annotations: list[Any] = [model]
    for step in place:
        inner = [found for annotation in annotations for found in _inside(annotation, step)]
        # Where the step is the tag of a union, that pydantic adds, only the model with this tag counts.
        tagged = [one for annotation in annotations for one in _models(annotation) if _has_tag(one, step)]
        annotations = inner or tagged or annotations
    models = [part for annotation in annotations for part in _models(annotation)]
    return sorted({field.alias or name for one in models for name, field in one.model_fields.items()})


def _inside(annotation: Any, step: str | int) -> list[Any]:
    """Return the annotations of what stands at ``step`` of a value with ``annotation``."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        found = annotation.model_fields.get(str(step))
        return [found.annotation] if found else []
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin in (Union, types.UnionType):
        return [found for part in arguments for found in _inside(part, step)]
    if origin is Annotated:
        return _inside(arguments[0], step)
    if origin in (list, tuple, Sequence) and isinstance(step, int):
        return [arguments[0]]
    if origin in (dict, Mapping) and isinstance(step, str):
        return [arguments[1]]
    return []


def _has_tag(model: type[BaseModel], tag: str | int) -> bool:
    """Return whether a field of ``model`` allows ``tag`` among a few fixed values."""
    fields = model.model_fields.values()
    return any(get_origin(one.annotation) is Literal and tag in get_args(one.annotation) for one in fields)


def _models(annotation: Any) -> list[type[BaseModel]]:
    """Return the models that a value with ``annotation`` may be."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for part in get_args(annotation) for model in _models(part)]
