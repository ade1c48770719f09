"""Numbers as people read them: three significant digits, a fitting prefix, the unit beside the value."""

import math

SCALED_UNITS = ("FLOP/s", "FLOP", "B/s", "B", "bytes", "bytes/s")
"""Units that take a decimal prefix when the value is large."""

PREFIXES = ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
SMALL_SECONDS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
NO_BREAK = "\u00a0"


def format_number(value: float, digits: int = 3) -> str:
    """Return ``value`` rounded to ``digits`` significant digits, thousands set apart with commas.

    12345 with 3 digits is ``12,300``, 0.012345 is ``0.0123``; numbers too small or too large to be read so
    are written with a power of ten.
    """
    if not math.isfinite(value):
        return {math.inf: "∞", -math.inf: "−∞"}.get(value, "not a number")
    # Rounded first: 0.9996 becomes 1.00 and not 1.000.
    rounded = float(f"{value:.{digits - 1}e}")
    if rounded == 0:
        return "0"
    if not 1e-4 <= abs(rounded) < 1e15:
        return f"{rounded:.{digits - 1}e}".replace("-", "−")
    decimals = digits - 1 - math.floor(math.log10(abs(rounded)))
    return f"{rounded:,.{max(decimals, 0)}f}".replace("-", "−")


def format_exact(value: float) -> str:
    """Return ``value`` with every digit that it was given, thousands set apart with commas: ``13442.66``."""
    return f"{value:,.12g}".replace("-", "−")


def scale_for(value: float, unit: str) -> tuple[float, str]:
    """Return the factor to divide by and the unit to write for values about as large as ``value``.

    Seconds become milli-, micro- or nanoseconds, FLOP and bytes take k to P, a ``share`` becomes a
    percentage; other units stay.
    """
    size = abs(value)
    if unit == "share":
        return 0.01, "%"
    if unit == "s":
        factor, name = next((entry for entry in SMALL_SECONDS if size >= entry[0]), SMALL_SECONDS[-1])
        return (factor, name) if size else (1.0, "s")
    if unit in SCALED_UNITS:
        base = unit.replace("bytes", "B")
        return next(((factor, prefix + base) for factor, prefix in PREFIXES if size >= factor), (1.0, base))
    return 1.0, unit


def with_unit(text: str, unit: str) -> str:
    """Return ``text`` and ``unit`` held together; a factor (``x``) gets the multiplication sign."""
    if unit in ("x", "×", "times"):
        return f"{text}×"
    return f"{text}{NO_BREAK}{unit}" if unit not in ("", "1") else text


def format_value(value: float, unit: str, digits: int = 3) -> str:
    """Return a value with its unit, for instance ``22.7 images/s``, ``161 µs`` or ``1.2×``."""
    factor, name = scale_for(value, unit)
    return with_unit(format_number(value / factor, digits), name)


def format_range(low: float, high: float, unit: str, digits: int = 3) -> str:
    """Return ``low to high unit``, or one value where both read the same."""
    factor, name = scale_for(high, unit)
    ends = [format_number(end / factor, digits) for end in (low, high)]
    return with_unit(ends[0] if ends[0] == ends[1] else " to ".join(ends), name)
