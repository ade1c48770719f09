"""One fact of a profile by its place, such as ``storage.scratch.purge.after``.

Rows are named by their id or name, everything else by its key. This is how pages, conflicts and the list of
unknown facts speak of a fact.
"""

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from pydantic import BaseModel

from mlhpc.errors import UsageError
from mlhpc.sites.quantities import Size
from mlhpc.sites.schema import Conflict, Site, Source

Steps = tuple[str | int, ...]


@dataclass(frozen=True)
class Fact:
    """What a profile says at one place."""

    place: str
    text: str | None
    """The value as a person reads it; None if it is not known."""
    sources: tuple[Source, ...]
    conflict: Conflict | None
    ask: str
    """Whom to ask, or the command that tells."""


@dataclass(frozen=True)
class _Found:
    value: Any
    steps: Steps
    """Keys and list positions in the document."""
    sources: tuple[str, ...]
    """Keys of the sources of the innermost row around it."""
    kind: type[BaseModel] | None = None
    """What it would be if it were known: tells which parts a profile has for something that is not known."""


def fact(site: Site, place: str) -> Fact:
    """Return the fact at ``place``.

    Raises:
        UsageError: if a profile has no such place; names what is there instead.
    """
    found = _find(site, place)
    conflict = next((one for one in site.conflicts if one.fact == place), None)
    asked = next((one.ask for one in site.unknown if one.what == place and one.ask), None)
    ask = asked or (conflict.ask if conflict else None) or site.site.support
    sources = tuple(site.sources[key] for key in found.sources if key in site.sources)
    return Fact(place, text_of(found.value), sources, conflict, ask)


def locate(site: Site, place: str) -> Steps:
    """Return the keys and list positions that lead to ``place`` in the document.

    Raises:
        UsageError: if a profile has no such place.
    """
    return _find(site, place).steps


def text_of(value: Any) -> str | None:
    """Return a value as a person reads it; None for what is not known, or for an empty list."""
    if value is None or (isinstance(value, Sequence) and not value):
        return None
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int) and abs(value) >= 10_000:
        return f"{value:,}"
    if isinstance(value, Size) and value.text.endswith("MiB") and value.bytes >= 2**30:
        # What Slurm counts in MiB stands in profiles as it does there, as rounding up would promise too much.
        return f"{value} ({value.bytes / 2**30:.1f} GiB)"
    if isinstance(value, tuple):
        return ", ".join(text_of(name_of(one)) or "" for one in value)
    if isinstance(value, BaseModel):
        return str(name_of(value))
    return str(value)


def name_of(row: Any) -> Any:
    """Return the id or name of a row; other values as they are."""
    return getattr(row, "id", None) or getattr(row, "name", None) or row


def _find(site: Site, place: str) -> _Found:
    found = _Found(site, (), ())
    walked: list[str] = []
    left = place.split(".")
    while left:
        length = _length(found.value, left)
        step = ".".join(left[:length])
        found = _step(found, step, ".".join(walked))
        walked.append(step)
        left = left[length:]
    return found


def _length(value: Any, left: Sequence[str]) -> int:
    """Return how many parts the next step has: names of rows may hold dots themselves."""
    names = {str(name_of(row)) for row in value} if isinstance(value, tuple) else set()
    lengths = range(len(left), 0, -1)
    return next((length for length in lengths if ".".join(left[:length]) in names), 1)


def _step(around: _Found, step: str, walked: str) -> _Found:
    value = around.value
    if isinstance(value, tuple):
        for number, row in enumerate(value):
            if step in (getattr(row, "id", None), getattr(row, "name", None)):
                return _Found(row, (*around.steps, number), _sources(row) or around.sources)
        known = [str(name_of(row)) for row in value]
    elif isinstance(value, dict):
        if step in value:
            return _Found(value[step], (*around.steps, step), around.sources)
        known = list(value)
    elif isinstance(value, BaseModel):
        fields = type(value).model_fields
        if step in fields:
            inner, kind = getattr(value, step), _kind(fields[step].annotation)
            return _Found(inner, (*around.steps, step), _sources(inner) or around.sources, kind)
        known = list(fields)
    elif value is None and around.kind:
        # Something that is not known at all, such as a portal: its parts are not known either.
        fields = around.kind.model_fields
        if step in fields:
            return _Found(None, around.steps, around.sources, _kind(fields[step].annotation))
        known = list(fields)
    else:
        known = []
    raise UsageError(f"A profile has no fact {f'{walked}.' if walked else ''}{step}{_hint(step, known)}.")


def _kind(annotation: Any) -> type[BaseModel] | None:
    """Return the model among the types that a value may have, if there is one."""
    parts = (annotation, *get_args(annotation))
    return next((one for one in parts if isinstance(one, type) and issubclass(one, BaseModel)), None)


def _sources(value: Any) -> tuple[str, ...]:
    found = getattr(value, "source", ())
    return (found,) if isinstance(found, str) else found


def _hint(word: str, known: Sequence[str]) -> str:
    close = difflib.get_close_matches(word, known, n=1)
    if close:
        return f"; did you mean {close[0]}"
    return f"; there are {', '.join(known)}" if known else ""


def all_sources(site: Site) -> Iterator[tuple[Steps, str]]:
    """Yield each mention of a source in the profile: its place in the document and the source's key."""
    yield from _mentions(site, ())


def _mentions(value: Any, steps: Steps) -> Iterator[tuple[Steps, str]]:
    if isinstance(value, BaseModel):
        for name in type(value).model_fields:
            inner = getattr(value, name)
            if name == "source":
                keys = (inner,) if isinstance(inner, str) else inner or ()
                yield from (((*steps, name), key) for key in keys)
            else:
                yield from _mentions(inner, (*steps, name))
    elif isinstance(value, tuple):
        for number, one in enumerate(value):
            yield from _mentions(one, (*steps, number))
