"""What is at risk, as text for a terminal and as JSON for programs."""

import json
import os
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from mlhpc.formatting import format_value
from mlhpc.storage.risk import AtRisk
from mlhpc.storage.rule import NAMES
from mlhpc.text_table import format_table


def describe(found: AtRisk) -> str:
    """Return the plan: how much goes when, from which folders, and which files go first."""
    rule = found.rule
    lines = [
        f"{printable(found.folder)}: purged {rule.days:g} days after the {NAMES[rule.basis]} ({rule.source})",
        *found.remarks,
        "",
        _amounts(found),
    ]
    if found.folders:
        lines += ["", _folders(found)]
    if found.soonest:
        lines += ["", _files(found)]
    hidden = found.now.files + found.soon.files - len(found.soonest)
    if hidden:
        lines.append(f"... and {hidden:,} more (--limit)")
    return "\n".join([*lines, *(["", *notes] if (notes := _left_out(found)) else [])])


def as_json(found: AtRisk) -> str:
    """Return everything as JSON; times as in ISO 8601, in UTC.

    A name that is not UTF-8 is written with Python's surrogate escapes: ``os.fsencode`` gives its bytes back.
    """
    data: dict[str, Any] = {
        "folder": found.folder,
        "basis": found.rule.basis,
        "days": found.rule.days,
        "source": found.rule.source,
        "remarks": found.remarks,
        "counted_at": _iso(found.counted_at),
        "within_days": found.within_days,
        "complete": found.complete,
        "now": asdict(found.now),
        "soon": asdict(found.soon),
        "later": asdict(found.later),
        "folders": [{**asdict(one), "due": _iso(one.due)} for one in found.folders.values()],
        "soonest": [{**asdict(one), "due": _iso(one.due)} for one in found.soonest],
        "unreadable": [{"path": path, "reason": reason} for path, reason in found.left_out.unreadable],
        "other_file_systems": found.left_out.other_file_systems,
        "links": found.left_out.links,
    }
    return json.dumps(data, indent=2)


def printable(text: str) -> str:
    """Return a file's name with line breaks, control characters and bytes that are no text as escapes.

    A name could otherwise break the table, or send commands to the terminal.
    """
    decoded = os.fsencode(text).decode("utf-8", "backslashreplace")
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in decoded)


def _amounts(found: AtRisk) -> str:
    named = (
        ("now", found.now),
        (f"within {found.within_days:g} {'day' if found.within_days == 1 else 'days'}", found.soon),
        ("later", found.later),
    )
    rows = [(name, f"{one.files:,}", format_value(one.bytes, "B")) for name, one in named]
    return format_table(("DUE", "FILES", "SIZE"), rows)


def _folders(found: AtRisk) -> str:
    ordered = sorted(found.folders.values(), key=lambda one: (one.due, one.folder))
    rows = [
        (_day(one.due), f"{one.files:,}", format_value(one.bytes, "B"), printable(one.folder))
        for one in ordered
    ]
    return format_table(("FIRST DUE (UTC)", "FILES", "SIZE", "FOLDER"), rows)


def _files(found: AtRisk) -> str:
    rows = [(_day(one.due), format_value(one.bytes, "B"), printable(one.path)) for one in found.soonest]
    return format_table(("DUE (UTC)", "SIZE", "FILE"), rows)


def _left_out(found: AtRisk) -> list[str]:
    left_out = found.left_out
    notes = [f"not looked into: {printable(path)}: {reason}" for path, reason in left_out.unreadable]
    notes += [
        f"another file system, left out: {printable(path)} (--other-file-systems)"
        for path in left_out.other_file_systems
    ]
    if left_out.links:
        notes.append(f"symbolic links, not followed: {left_out.links:,}")
    if found.interrupted:
        notes.append("Interrupted: this is what was found until then, not all there is.")
    return notes


def _iso(seconds: float) -> str | None:
    """Return a time in UTC; None for one beyond the calendar, which a damaged clock can leave behind."""
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
    except (OverflowError, ValueError, OSError):
        return None


def _day(seconds: float) -> str:
    iso = _iso(seconds)
    return "?" if iso is None else iso[:10]
