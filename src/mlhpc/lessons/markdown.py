"""An episode's Markdown as a flat row of parts: prose, headings, pictures, directives, with their lines."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

HIDDEN = "\ufffc"
"""Stands in prose for what is not prose: code, mathematics, and roles that put a value there."""

# Roles whose content is a name, a path or code. The content of all others is text that the reader sees.
_VALUE_ROLES = frozenset({"claim", "measured", "record", "site", "illustration"})
_NAME_ROLES = frozenset({"code", "math", "doc", "ref", "numref", "eq", "download", "kbd", "file", "cite"})
_ROLES_WITHOUT_PROSE = _VALUE_ROLES | _NAME_ROLES
# Directives whose argument and body are no text of the author's.
_VALUE_DIRECTIVES = frozenset({"claim-table", "claim-plot", "record-table", "record-plot", "ledger"})
_SITE_DIRECTIVES = frozenset({"job-script", "site-table", "site-rows", "site-list", "site-about"})
_LESSON_DIRECTIVES = frozenset({"lesson-overview", "lesson-list", "schedule", "exercise-list", "key-points"})
_LIST_DIRECTIVES = frozenset({"machines", "notebooks", "sources", "toctree", "contents"})
_CODE_DIRECTIVES = frozenset({"code", "code-block", "code-cell", "literalinclude", "math", "mermaid"})
_WITHOUT_PROSE = frozenset().union(
    _VALUE_DIRECTIVES, _SITE_DIRECTIVES, _LESSON_DIRECTIVES, _LIST_DIRECTIVES, _CODE_DIRECTIVES
)
_ARGUMENT_IS_A_NAME = frozenset({"figure", "image", "solution"})
PICTURES = frozenset({"figure", "image", "claim-plot", "record-plot", "mermaid", "storage-picture"})
_ALT_FROM_DATA = {"storage-picture": "the tiers of a site, in words from its profile"}
"""Directives that write their own alt text, and what it says."""

_DIRECTIVE = re.compile(r"\{(?P<name>[\w:-]+)\}\s*(?P<argument>.*)")
_OPTION = re.compile(r":(?P<key>[\w-]+):\s*(?P<value>.*)")
_IMAGE_TAG = re.compile(r"<img\b[^>]*>", re.IGNORECASE)
_IMAGE_ALT = re.compile(r"\balt\s*=\s*(?:\"(?P<double>[^\"]*)\"|'(?P<single>[^']*)')", re.IGNORECASE)
_TAG_OR_COMMENT = re.compile(r"<!--.*?-->|<[^>]*>", re.DOTALL)


@dataclass(frozen=True)
class Prose:
    """Text that the reader sees, one paragraph, heading, table cell or picture's description."""

    text: str
    line: int
    """Line of the file in which it starts, from 1; a line of the text is a line of the file."""
    level: int = 0
    """1 to 6 for headings, otherwise 0."""
    table_cell: bool = False
    """True for cells of a table's body."""


@dataclass(frozen=True)
class Picture:
    """A picture, with the text for those who do not see it (empty where there is none)."""

    alternative: str
    line: int


@dataclass(frozen=True)
class Directive:
    """A directive; what its body holds follows as parts of their own."""

    name: str
    argument: str
    line: int
    options: dict[str, str] = field(default_factory=dict)


Part = Prose | Picture | Directive


def parts(text: str, first_line: int = 1) -> Iterator[Part]:
    """Yield the parts of a MyST Markdown text in order, those inside directives included.

    Args:
        text: without front matter.
        first_line: the line of the file in which ``text`` starts.
    """
    level, in_body, line = 0, False, first_line
    for token in _parser().parse(text):
        if token.map:
            line = first_line + token.map[0]
        if token.type == "heading_open":
            level = int(token.tag[1])
        elif token.type in ("tbody_open", "tbody_close"):
            in_body = token.type == "tbody_open"
        elif token.type == "inline":
            yield Prose(_prose(token), line, level, in_body)
            yield from _pictures(token, line)
            level = 0
        elif token.type in ("fence", "colon_fence"):
            yield from _fence(token, line)
        elif token.type == "html_block":
            yield from _html_pictures(token.content, line)
            yield Prose(_without_tags(token.content), line)


def inline_prose(text: str) -> str:
    """Return one line of Markdown, such as a title, as the reader sees it, code and values hidden."""
    return " ".join(_prose(token) for token in _parser().parseInline(text))


@cache
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt
    from mdit_py_plugins.colon_fence import colon_fence_plugin
    from mdit_py_plugins.deflist import deflist_plugin
    from mdit_py_plugins.dollarmath import dollarmath_plugin
    from mdit_py_plugins.footnote import footnote_plugin
    from mdit_py_plugins.myst_blocks import myst_block_plugin
    from mdit_py_plugins.myst_role import myst_role_plugin

    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    for plugin in (myst_role_plugin, myst_block_plugin, colon_fence_plugin, deflist_plugin, footnote_plugin):
        parser.use(plugin)
    return parser.use(dollarmath_plugin)


def _fence(token: "Token", line: int) -> Iterator[Part]:
    """Yield a directive and what is in it; nothing for a plain block of code."""
    match = _DIRECTIVE.match(token.info.strip())
    if match is None:
        return
    name, argument = match["name"], match["argument"].strip()
    options, body, skipped = _split_options(token.content)
    yield Directive(name, argument, line, options)
    if name in PICTURES:
        yield Picture(options.get("alt", _ALT_FROM_DATA.get(name, "")), line)
    for key in ("alt", "caption"):
        if key in options:
            yield Prose(options[key], line)
    if name in _WITHOUT_PROSE:
        return
    if argument and name not in _ARGUMENT_IS_A_NAME:
        yield Prose(inline_prose(argument), line)
    yield from parts(body, line + 1 + skipped)


def _split_options(content: str) -> tuple[dict[str, str], str, int]:
    """Split a directive's content into options, body and the number of lines before the body."""
    options: dict[str, str] = {}
    lines = content.splitlines(keepends=True)
    for number, line in enumerate(lines):
        match = _OPTION.fullmatch(line.strip())
        if match is not None:
            options[match["key"]] = match["value"].strip()
        elif options and line.strip() and line[0].isspace():
            # A long value goes on in lines further to the right.
            last = next(reversed(options))
            options[last] = f"{options[last]}\n{line.strip()}"
        else:
            return options, "".join(lines[number:]), number
    return options, "", len(lines)


def _prose(token: "Token") -> str:
    """Return the text of an inline token, line breaks kept, so that places in it can be counted in lines."""
    pieces = []
    for child in token.children or ():
        shown = child.type == "myst_role" and child.meta["name"] not in _ROLES_WITHOUT_PROSE
        if shown or child.type in ("text", "image"):
            pieces.append(child.content)
        elif child.type in ("softbreak", "hardbreak"):
            pieces.append("\n")
        elif child.type in ("code_inline", "math_inline", "myst_role", "math_inline_double"):
            pieces.append(HIDDEN)
    return "".join(pieces)


def _pictures(token: "Token", line: int) -> Iterator[Picture]:
    """Yield the pictures in a paragraph, each with its own line."""
    for child in token.children or ():
        if child.type in ("softbreak", "hardbreak"):
            line += 1
        elif child.type == "image":
            yield Picture(child.content, line)
        elif child.type == "html_inline":
            yield from _html_pictures(child.content, line)


def _html_pictures(content: str, line: int) -> Iterator[Picture]:
    for tag in _IMAGE_TAG.finditer(content):
        match = _IMAGE_ALT.search(tag.group())
        alternative = (match["double"] or match["single"] or "") if match else ""
        yield Picture(alternative, line + content.count("\n", 0, tag.start()))


def _without_tags(content: str) -> str:
    """Return the text of a block of HTML, with its line breaks where they were."""
    return _TAG_OR_COMMENT.sub(lambda match: "\n" * match.group().count("\n"), content)
