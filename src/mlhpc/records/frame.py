"""Records as a table for notebooks."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mlhpc.errors import UsageError
from mlhpc.formatting import format_range, format_value
from mlhpc.machine.naming import machine_name
from mlhpc.records.query import measured
from mlhpc.records.schema import Record

if TYPE_CHECKING:
    import pandas

MEDIAN = "median"
"""Name of the column with the median of the samples."""


@dataclass(frozen=True)
class RecordTable:
    """A table of records that a notebook shows without row numbers, which say nothing here.

    (pandas would also give the numbers' column an empty heading, at which a screen reader stumbles.)
    """

    frame: "pandas.DataFrame"

    def __repr__(self) -> str:
        """Return the table as plain text."""
        return self.frame.to_string(index=False)

    def _repr_html_(self) -> str:
        """Show the table in Jupyter."""
        return self.frame.to_html(index=False, border=0, justify="left")


def table(records: Sequence[Record], columns: Sequence[str]) -> RecordTable:
    """Return one row per record; values are text with their unit and 95 % interval.

    Args:
        records: rows, in this order.
        columns: names of parameters, of quantities, or ``median``.

    Raises:
        UsageError: if a record has neither a parameter nor a quantity of that name.
    """
    import pandas

    rows = [[_cell(record, name) for name in columns] for record in records]
    return RecordTable(pandas.DataFrame(rows, columns=[name.replace("_", " ") for name in columns]))


def provenance(records: Sequence[Record]) -> str:
    """Return when and on what ``records`` were measured, in one sentence.

    Raises:
        UsageError: if there are none.
    """
    if not records:
        raise UsageError("There is no record to say anything about.")
    machines = sorted({machine_name(record.machine, record.parameters.get("device")) for record in records})
    dates = sorted({f"{record.measured_at:%Y-%m-%d}" for record in records})
    when = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
    tiers = ", ".join(sorted({record.tier for record in records}))
    return f"Recorded {when} on {', '.join(machines)}; tier {tiers}."


def _cell(record: Record, name: str) -> object:
    if name in record.parameters:
        return record.parameters[name]
    quantity = measured(record, None if name == MEDIAN else name)
    text = format_value(quantity.value, quantity.unit)
    if quantity.low is None or quantity.high is None:
        return text
    return f"{text} [{format_range(quantity.low, quantity.high, quantity.unit)}]"
