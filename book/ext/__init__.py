"""The course's own Sphinx extension: claims, records and lessons on pages.

Each module adds its roles or directives through ``setup``. A fault in a page (an unknown claim, a record that
cannot be selected, a missing alternative text) is a Sphinx warning, which fails the strict build.
"""

from book.ext import (
    claims,
    lessons,
    machines,
    mathml,
    navigation,
    numbering,
    records,
    site_cluster,
    site_facts,
    site_picture,
    site_scripts,
    site_tables,
)
from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata

MODULES = (
    mathml,
    navigation,
    numbering,
    records,
    claims,
    machines,
    lessons,
    site_facts,
    site_cluster,
    site_scripts,
    site_tables,
    site_picture,
)


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register all roles, directives and renderers."""
    for module in MODULES:
        module.setup(app)
    return {"version": "1", "parallel_read_safe": False, "parallel_write_safe": True}
