"""Formulas as MathML, which browsers show without a script: no MathJax, no network.

The conversion is that of docutils (``docutils.utils.math.latex2mathml``), which covers what a lesson needs.
"""

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.writers.html5 import HTML5Translator

logger = logging.getLogger(__name__)


def _convert(node: nodes.Element, *, block: bool) -> str:
    source = node.astext()
    try:
        return str(tex2mathml(source, as_block=block))
    except MathError as error:
        logger.warning("formula cannot be shown as MathML: %s: %s", error, source, location=node)
        return ""


def render_inline(translator: HTML5Translator, node: nodes.math) -> None:
    """Write a formula within a sentence."""
    translator.body.append(_convert(node, block=False))
    raise nodes.SkipNode


def render_block(translator: HTML5Translator, node: nodes.math_block) -> None:
    """Write a formula on a line of its own; it scrolls within its own box on a narrow screen."""
    opening = '<div class="formula" tabindex="0" role="group" aria-label="Formula">'
    translator.body.append(f"{opening}{_convert(node, block=True)}</div>")
    raise nodes.SkipNode


def setup(app: Sphinx) -> None:
    """Register the renderer that ``html_math_renderer: mathml`` chooses."""
    app.add_html_math_renderer("mathml", (render_inline, None), (render_block, None))
