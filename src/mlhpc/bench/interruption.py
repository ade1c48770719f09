"""A measurement that was stopped early: what was measured is kept."""

import signal

from mlhpc.errors import MlhpcError


class Interrupted(MlhpcError):
    """A run that was stopped early; the message says which records were kept and what is missing."""

    exit_status = 128 + signal.SIGINT
