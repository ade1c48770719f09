"""Small pieces of pages that several directives are made of."""

from collections.abc import Iterable, Sequence

from docutils import nodes
from sphinx import addnodes

Cell = str | Sequence[nodes.Node]


def table(
    headers: Sequence[str],
    rows: Iterable[Sequence[Cell]],
    *,
    caption: str = "",
    numeric: Sequence[int] = (),
    classes: Sequence[str] = (),
) -> nodes.table:
    """Return a table whose first row names the columns; columns in ``numeric`` are aligned to the right."""
    group = nodes.tgroup(cols=len(headers))
    group += [nodes.colspec(colwidth=1) for _ in headers]
    group += nodes.thead("", _row(headers, numeric))
    group += nodes.tbody("", *(_row(row, numeric) for row in rows))
    result = nodes.table("", classes=["course-table", *classes])
    if caption:
        result += nodes.title(caption, caption)
    result += group
    return result


def _row(cells: Sequence[Cell], numeric: Sequence[int]) -> nodes.row:
    row = nodes.row()
    for place, cell in enumerate(cells):
        content = [nodes.Text(cell)] if isinstance(cell, str) else list(cell)
        classes = ["numeric"] if place in numeric else []
        row += nodes.entry("", nodes.paragraph("", "", *content), classes=classes)
    return row


def facts(pairs: Iterable[tuple[str, Cell]]) -> nodes.field_list:
    """Return names with their values, one per line."""
    result = nodes.field_list(classes=["course-facts"])
    for name, value in pairs:
        content = [nodes.Text(value)] if isinstance(value, str) else list(value)
        body = nodes.field_body("", nodes.paragraph("", "", *content))
        result += nodes.field("", nodes.field_name(name, name), body)
    return result


def note(text: str, kind: str = "provenance") -> nodes.paragraph:
    """Return a line in small type: where something comes from."""
    return nodes.paragraph("", text, classes=[kind])


def small(text: str) -> nodes.inline:
    """Return text in small type."""
    return nodes.inline("", text, classes=["aside"])


def link_to_label(label: str, content: Sequence[nodes.Node], document: str) -> addnodes.pending_xref:
    """Return a link to an explicit target anywhere in the site; an unknown one fails the strict build."""
    return _cross_reference("ref", label.lower(), content, document)


def link_to_page(page: str, text: str, document: str) -> addnodes.pending_xref:
    """Return a link to a page, named from the course's folder (``episodes/101-cpu-or-gpu``)."""
    return _cross_reference("doc", f"/{page}", [nodes.Text(text)], document)


def _cross_reference(
    kind: str, target: str, content: Sequence[nodes.Node], document: str
) -> addnodes.pending_xref:
    return addnodes.pending_xref(
        "",
        nodes.inline("", "", *content),
        refdomain="std",
        reftype=kind,
        reftarget=target,
        refdoc=document,
        refexplicit=True,
        refwarn=True,
    )


def target(label: str, document: nodes.document) -> nodes.target:
    """Return an explicit target that ``link_to_label`` finds."""
    node = nodes.target("", "", ids=[nodes.make_id(label)], names=[label.lower()])
    document.note_explicit_target(node)
    return node


def section(title: Sequence[nodes.Node], label: str, document: nodes.document) -> nodes.section:
    """Return a section with a heading, which the page's table of contents lists."""
    heading = nodes.title("", "", *title)
    node = nodes.section("", heading, ids=[nodes.make_id(label)], names=[label.lower()])
    document.note_explicit_target(node)
    return node
