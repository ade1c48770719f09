"""Tables in a terminal keep their columns."""

import pytest

from mlhpc.text_table import format_table


def test_columns_are_as_wide_as_their_widest_cell() -> None:
    assert format_table(("a", "bb"), [("long", "1"), ("x", "")]) == "a     bb\nlong  1\nx"


def test_no_rows_leave_the_header() -> None:
    assert format_table(("a", "b"), []) == "a  b"


def test_a_row_of_another_length_is_refused() -> None:
    with pytest.raises(ValueError, match="argument"):
        format_table(("a", "b"), [("only one",)])
