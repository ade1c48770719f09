"""The one exception that the command line turns into a sentence and an exit status."""


class MlhpcError(Exception):
    """A fault that the user can mend.

    The message is one clear sentence that names the file, line or key at fault and the way out. The command
    line prints it to standard error without a traceback and ends with ``exit_status``.
    """

    exit_status = 1


class UsageError(MlhpcError):
    """The request itself cannot be met: an unknown name, a value out of range, a device that is not there."""

    exit_status = 2
