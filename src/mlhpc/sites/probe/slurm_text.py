"""Slurm's own ways to write times, GPUs and settings, turned into the profile's.

The forms are those of ``man sinfo``, ``man scontrol`` and ``man slurm.conf``; they are the same in the
versions 22.05 and 24.11, which is why they are read and not the JSON, whose shape changes between versions.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

_TIME = re.compile(r"(?:(\d+)-)?(?:(\d+):)?(\d+):(\d+)", re.ASCII)
_PAIR = re.compile(r"(?:^|\s)([A-Za-z][A-Za-z_/:]*)=")


def time_limit(text: str) -> str | None:
    """Return a time limit (``7-00:00:00``, ``1:00:00``, ``30:00``, ``infinite``) as the profile writes it.

    None where Slurm has no value (``n/a``, ``NONE``) or the text is not a time limit.
    """
    if text.lower() in ("infinite", "unlimited"):
        return "unlimited"
    match = _TIME.fullmatch(text.strip())
    if match is None:
        return None
    days, hours, minutes, seconds = (int(part or 0) for part in match.groups())
    return duration_text(((days * 24 + hours) * 60 + minutes) * 60 + seconds)


def duration_text(seconds: int) -> str | None:
    """Return a span in the largest unit that gives a whole number; None for a span of nothing."""
    for size, one, many in ((86400, "day", "days"), (3600, "h", "h"), (60, "min", "min"), (1, "s", "s")):
        if seconds and seconds % size == 0:
            count = seconds // size
            return f"{count} {one if count == 1 else many}"
    return None


def settings(text: str) -> Mapping[str, str]:
    """Return the ``Name=value`` pairs of one line of ``scontrol --oneliner``.

    A value goes on to the next name, as some hold blanks.
    """
    found = list(_PAIR.finditer(text))
    ends = [*(following.start() for following in found[1:]), len(text)]
    return {match[1]: text[match.end() : end].strip() for match, end in zip(found, ends, strict=False)}


def configuration(text: str) -> Mapping[str, str]:
    """Return the settings that ``scontrol show config`` lists, one ``Name = value`` per line."""
    parts = (line.partition("=") for line in text.splitlines())
    return {name.strip(): value.strip() for name, separator, value in parts if separator}


@dataclass(frozen=True)
class Gres:
    """GPUs of one kind on one node."""

    type: str | None
    count: int


def gpus_of(text: str) -> tuple[Gres, ...]:
    """Return the GPUs in a node's list of generic resources, for instance ``gpu:a100:4(S:0-1),lustre:1``."""
    found = []
    for entry in re.sub(r"\([^()]*\)", "", text).split(","):
        name, *rest = entry.strip().split(":")
        if name == "gpu" and rest and rest[-1].isascii() and rest[-1].isdigit():
            found.append(Gres(rest[0] if len(rest) > 1 else None, int(rest[-1])))
    return tuple(found)


def limit_in(text: str, name: str) -> int | None:
    """Return the number of ``name`` in a list of limits such as ``cpu=400,gres/gpu=4``; None where absent."""
    for entry in text.split(","):
        key, _, value = entry.partition("=")
        if key.strip() == name and value.isascii() and value.isdigit():
            return int(value)
    return None
