"""Times and sizes as they are typed on a command line: the profile's units, or the scheduler's own."""

import re

from mlhpc.errors import UsageError
from mlhpc.sites.quantities import Duration, Size

_CLOCK = re.compile(r"(?:(\d{1,4})-)?(\d{1,5}):(\d{1,2}):(\d{1,2})", re.ASCII)


def read_time(text: str | None) -> Duration | None:
    """Return a time such as ``4 h``, ``90 min``, ``2 days`` or Slurm's ``1-12:00:00`` and ``12:00:00``.

    A bare number and ``30:00`` are refused: sbatch reads both as minutes, people mean other things.

    Raises:
        UsageError: if it is none of these, or no time at all.
    """
    if text is None:
        return None
    match = _CLOCK.fullmatch(text.strip())
    if match is not None:
        days, hours, minutes, seconds = (int(part or 0) for part in match.groups())
        total = ((days * 24 + hours) * 60 + minutes) * 60 + seconds
        found = Duration(total, text.strip())
    else:
        try:
            found = Duration.parse(text.strip())
        except ValueError as error:
            raise UsageError(f"--time: {error}, or Slurm's D-HH:MM:SS.") from error
    if found.seconds < 1:
        raise UsageError(f"--time {text}: a job needs some time.")
    return found


def read_memory(text: str | None) -> Size | None:
    """Return an amount of memory with its unit, such as ``32 GB`` or ``4000 MiB``.

    A bare number is refused: Slurm and HTCondor read 32 as 32 MB.

    Raises:
        UsageError: if it is not one, or less than 1 MiB.
    """
    if text is None:
        return None
    try:
        found = Size.parse(text.strip())
    except ValueError as error:
        raise UsageError(f"--memory: {error}.") from error
    if found.mebibytes < 1:
        raise UsageError(f"--memory {text}: ask for at least 1 MiB.")
    return found
