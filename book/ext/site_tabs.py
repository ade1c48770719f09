"""One text for each site: in tabs that stay in step over all pages, or plainly where there is only one."""

from collections.abc import Sequence
from dataclasses import dataclass

from book.ext.course import CourseDirective
from docutils import nodes
from docutils.statemachine import StringList

SITES = "site"
"""Name of the group of tabs that are in step: sphinx-design keeps the choice in the reader's browser."""


@dataclass(frozen=True)
class Tab:
    """One tab: what it is called, what keeps it in step, and its text."""

    label: str
    identifier: str
    markdown: str


def tab_set(tabs: Sequence[Tab], group: str, *, depth: int = 0) -> str:
    """Return MyST text with the tabs; only the text itself where there is one tab.

    ``depth`` counts how many sets lie around this one: the fences of the outer ones must be longer.
    """
    if len(tabs) == 1:
        return tabs[0].markdown
    outer, inner = ":" * (14 - 4 * depth), ":" * (12 - 4 * depth)
    lines = [f"{outer}{{tab-set}}", f":sync-group: {group}", ""]
    for tab in tabs:
        lines += [f"{inner}{{tab-item}} {tab.label}", f":sync: {tab.identifier}", "", tab.markdown, inner, ""]
    return "\n".join([*lines, outer, ""])


class MarkdownDirective(CourseDirective):
    """A directive that makes MyST text and puts what it says on the page."""

    def markdown(self) -> str:
        """Return the text.

        Raises:
            MlhpcError: if it names something that does not exist.
        """
        raise NotImplementedError

    def content_nodes(self) -> list[nodes.Node]:
        """Return what the text says."""
        around = nodes.container(classes=["site-text"])
        source, _ = self.get_source_info()
        lines = StringList(self.markdown().splitlines(), source)
        self.state.nested_parse(lines, self.content_offset, around)
        return list(around.children)
