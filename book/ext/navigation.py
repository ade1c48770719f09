"""Names for the buttons that open a lesson's pages in the sidebar, which the theme leaves without any."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from bs4 import BeautifulSoup
from docutils import nodes
from sphinx.application import Sphinx

AFTER_THE_THEME = 900
"""The theme puts its functions into the context at Sphinx's default priority of 500."""


def name_buttons(html: Any) -> Any:
    """Give each ``summary`` of a table of contents a name that says which pages it opens.

    Args:
        html: what the theme's function returns, text or parsed; the same kind is returned.
    """
    parsed = html if isinstance(html, BeautifulSoup) else BeautifulSoup(str(html), "html.parser")
    for item in parsed.select("li:has(summary)"):
        link, button = item.find("a"), item.find("summary")
        if link is not None and button is not None:
            button["aria-label"] = f"Pages of {link.get_text(strip=True)}"
    return parsed if isinstance(html, BeautifulSoup) else str(parsed)


def _wrap(make: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(make)
    def named(*arguments: Any, **options: Any) -> Any:
        return name_buttons(make(*arguments, **options))

    return named


def _add_names(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    if "generate_toctree_html" in context:
        context["generate_toctree_html"] = _wrap(context["generate_toctree_html"])


def setup(app: Sphinx) -> None:
    """Register the change."""
    app.connect("html-page-context", _add_names, priority=AFTER_THE_THEME)
