"""Exercises keep their own ids as numbers; figures and tables go without.

sphinx-exercise counts exercises through the whole site: a new lesson would renumber all that follow.
An exercise is known by its id instead: ``Exercise 101-1``, the same in the list, the notebook and the page.
"""

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment


def use_own_numbers(_app: Sphinx, environment: BuildEnvironment) -> list[str]:
    """Replace the counted numbers; no page has to be written again for it."""
    for numbers in environment.toc_fignumbers.values():
        for label in numbers.get("exercise", {}):
            # Sphinx joins the parts of a number with dots: one part is shown as it is.
            numbers["exercise"][label] = (label,)  # type: ignore[assignment]
        for kind in ("figure", "table", "code-block"):
            numbers.pop(kind, None)
    return []


def setup(app: Sphinx) -> None:
    """Run after Sphinx has counted."""
    app.connect("env-get-updated", use_own_numbers, priority=900)
