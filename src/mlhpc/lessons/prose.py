"""No quantity stands in an episode by itself: it comes from a claim, a record or a site, or is marked.

A quantity is a number with a unit, a percentage, a factor, or a count in thousands or more. Words count as
numbers from "two" on; "one" is an article more often than a number. Code, mathematics, the roles that put a
value into the text and the directives that make tables and plots are not prose. A number without a unit
("two loaders", "step 3", "ResNet-50") is no quantity.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mlhpc.lessons.findings import Finding
from mlhpc.lessons.front_matter import located_front_matter, split_front_matter
from mlhpc.lessons.markdown import Prose, inline_prose, parts

# A number does not start inside a word or name: H100, ResNet-50, A100-80, 3.11 as part of 3.11.2.
_START = r"(?<![\w.])(?<!\w[-,.])"
_DIGITS = r"\d+(?:[.,\u202f\u00a0]\d+)*(?: \d{3}(?!\d))*(?:[eE][+-]?\d+)?"
_WORD = (
    r"(?i:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty|sixty"
    r"|eighty|ninety|(?:a )?hundred|hundreds of"
    r"|thousands?(?: of)?|millions?(?: of)?|(?:half )?a dozen|half an?)"
)
_TO = r"\s*(?:-|–|—|−|±|to|and|or)\s*"

_TIME = (
    r"(?:ns|[uµμ]s|ms|s|min|h|(?:nano|micro|milli)?seconds?|secs?|minutes?|mins?|hours?|hrs?|days?|weeks?"
    r"|months?|years?)"
)
_BYTES = r"(?:[kKMGTP]i?B|B|bytes?|(?:kilo|mega|giga|tera|peta)bytes?|[kKMGT]b(?:it)?/s)"
_WORK = r"(?:[kMGTPE]?FLOPS?|[kMG]?Hz|kWh|k?W|k?J|watts?|joules?|°C|cores?|v?CPUs?)"
_HOURS = r"(?:core|CPU|GPU|node)[-\s]hours?"
_NOUN = (
    r"(?:images?|photographs?|samples?|rows?|files?|parameters?|tokens?|records?|steps?|epochs?|trees?|jobs?"
    r"|inputs?|inodes?|pixels?)"
)
_DIVISOR = (
    r"(?:s|ms|sec|second|min|minute|h|hour|day|week|month|year|step|epoch|batch|image|sample|row|core|GPU|node"
    r"|user)"
)
_PER = rf"(?:/|\s+per\s+){_DIVISOR}"
_SHARE = r"(?:%|‰|per ?cent|percentage\s+points?)"
_FACTOR = r"(?:[x×](?!\s*\d)|-?fold|times|orders?\s+of\s+magnitude)"
_MEASURE = rf"(?:{_HOURS}|(?:{_TIME}|{_BYTES}|{_WORK})(?:{_PER})?|[A-Za-z]+{_PER}|{_NOUN}\s+an?\s+{_DIVISOR})"
_LARGE = r"(?:\d{1,3}(?:[,\u202f\u00a0 ]\d{3})+|\d{4,})"
_COMPARED = (
    r"\s+(?:as|the|faster|slower|more|less|fewer|larger|smaller|longer|shorter|higher|lower|better|worse)\b"
)

QUANTITY = re.compile(
    rf"{_START}(?:"
    rf"(?!(?:19|20)\d0s\b){_DIGITS}(?:{_TO}{_DIGITS})?(?:\s*|-)(?:(?:{_MEASURE}|{_FACTOR})(?!\w)|{_SHARE})"
    rf"|{_WORD}(?:{_TO}{_WORD})?(?:\s+|-)(?:{_MEASURE}(?!\w)|{_SHARE}|orders?\s+of\s+magnitude)"
    rf"|{_WORD}(?:-?fold\b|\s+times{_COMPARED})"
    rf"|{_DIGITS}(?:[kM]\b|\s+(?:thousand|million|billion|trillion)\b)"
    rf"|(?:{_LARGE}|(?:thousand|million|billion)s?(?:\s+of)?)\s+{_NOUN}\b"
    r")"
    rf"|\b(?i:twice|thrice){_COMPARED}"
    rf"|\bfactors?\s+of\s+(?:about\s+)?(?:{_DIGITS}|{_WORD}\b)"
    rf"|(?<![\w×x])(?<!\d\s)×\s?{_DIGITS}",
)
_ONLY_A_NUMBER = re.compile(r"[~≈<>±+−-]?\s*\d[\d.,\u202f\u00a0]*(?:\s*[-–]\s*\d[\d.,]*)?")

# Parts of the front matter that are text for the reader.
_FRONT_MATTER_PROSE = ("title", "questions", "objectives", "prerequisites", "keypoints", "exercise_list")


def quantities(text: str) -> Iterator[re.Match[str]]:
    """Yield the quantities in a piece of prose."""
    return QUANTITY.finditer(text)


def check_prose(text: str, episode: Path) -> tuple[Finding, ...]:
    """Return a finding for each quantity in the prose of an episode that nothing stands behind.

    Args:
        text: the whole episode, front matter included.
        episode: the file that it is, for the findings.

    Raises:
        MlhpcError: if the episode has no front matter, or none that is YAML.
    """
    _, body, lines_before = split_front_matter(text, episode)
    findings = list(_in_front_matter(text, episode))
    for part in parts(body, lines_before + 1):
        if isinstance(part, Prose):
            findings += _in_prose(part, episode)
    return tuple(findings)


def _in_prose(prose: Prose, episode: Path) -> Iterator[Finding]:
    if prose.table_cell and _ONLY_A_NUMBER.fullmatch(prose.text.strip()):
        yield _finding(prose.text.strip(), prose.line, episode)
        return
    for match in quantities(prose.text):
        yield _finding(match.group(), prose.line + prose.text.count("\n", 0, match.start()), episode)


def _in_front_matter(text: str, episode: Path) -> Iterator[Finding]:
    """Yield the quantities in titles, questions, objectives, prerequisites and key points."""
    located = located_front_matter(text, episode)
    for place, value in _front_matter_texts(located.data):
        for match in quantities(inline_prose(value)):
            yield _finding(match.group(), located.line_of(place), episode)


def _front_matter_texts(data: Any) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Yield the texts for the reader with their places, in front matter that may be faulty elsewhere."""
    for key in _FRONT_MATTER_PROSE:
        value = data.get(key) if isinstance(data, dict) else None
        if isinstance(value, str):
            yield (key,), value
        for number, item in enumerate(value if isinstance(value, list) else ()):
            # exercise_list holds mappings, of which the title is text; the others hold text.
            place, text = (("title",), item.get("title")) if isinstance(item, dict) else ((), item)
            if isinstance(text, str):
                yield (key, number, *place), text


def _finding(quantity: str, line: int, episode: Path) -> Finding:
    shown = " ".join(quantity.split())
    return Finding(
        episode,
        line,
        f"the quantity {shown!r} has nothing behind it: take it from {{claim}}`id`, {{measured}}`id`, "
        "{record}`query#quantity`, {site}`fact` or a table made by a directive, "
        f"or mark it as {{illustration}}`{shown}`",
    )
