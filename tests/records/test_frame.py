"""Records as tables for notebooks."""

import pytest

from mlhpc.errors import UsageError
from mlhpc.records.frame import provenance, table
from tests.records.sample import record as sample_record


def test_columns_are_parameters_quantities_and_the_median() -> None:
    record = sample_record()
    name = next(iter(record.parameters))
    frame = table([record], [name, "median"]).frame
    assert list(frame.columns) == [name.replace("_", " "), "median"]
    assert frame.iloc[0, 0] == record.parameters[name]
    assert str(frame.iloc[0, 1]).endswith("]")


def test_an_unknown_column_is_refused() -> None:
    with pytest.raises(UsageError, match="speed"):
        table([sample_record()], ["speed"])


def test_provenance_names_the_machine_and_the_tier() -> None:
    record = sample_record()
    assert f"tier {record.tier}" in provenance([record])
    assert f"{record.measured_at:%Y-%m-%d}" in provenance([record])


def test_nothing_has_no_provenance() -> None:
    with pytest.raises(UsageError, match="no record"):
        provenance([])


def test_a_notebook_shows_no_row_numbers_and_no_empty_heading() -> None:
    shown = table([sample_record()], ["device", "median"])
    assert "<th></th>" not in shown._repr_html_()
    assert "<th>device</th>" in shown._repr_html_()
    assert repr(shown).split()[:2] == ["device", "median"]
