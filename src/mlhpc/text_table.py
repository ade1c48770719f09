"""Tables for a terminal: columns as wide as their content, nothing wrapped, easy to cut and grep."""

from collections.abc import Sequence

GAP = "  "


def format_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return the header and the rows as lines with aligned columns.

    Raises:
        ValueError: if a row has another number of cells than the header.
    """
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    lines = [
        GAP.join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in (header, *rows)
    ]
    return "\n".join(lines)
