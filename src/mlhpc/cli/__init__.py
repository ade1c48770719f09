"""The command line: ``mlhpc NOUN-OR-VERB ...``.

Each module of this package adds its own commands through ``register``; the work itself is imported inside
the command that needs it, so that ``mlhpc --help`` answers at once.
"""

import os
import signal
import sys
from importlib import import_module
from pkgutil import iter_modules

import typer

from mlhpc.errors import MlhpcError
from mlhpc.interruption import terminate_as_interrupt

INTERRUPTED = 128 + signal.SIGINT


def build() -> typer.Typer:
    """Return the application with the commands of all modules in this package."""
    app = typer.Typer(
        name="mlhpc",
        help="Measure, plan and run machine learning on clusters.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
    )

    @app.callback()
    def root() -> None:
        """Measure, plan and run machine learning on clusters."""

    for module in iter_modules(__path__):
        import_module(f"{__name__}.{module.name}").register(app)
    return app


def main() -> None:
    """Run the command line; a fault that the user can mend becomes one sentence and an exit status.

    SIGTERM, which a scheduler sends before the time is up, ends a command as Ctrl-C does.
    """
    try:
        with terminate_as_interrupt():
            _run()
    except MlhpcError as error:
        print(f"mlhpc: {error}", file=sys.stderr)
        sys.exit(error.exit_status)
    except KeyboardInterrupt:
        print("mlhpc: interrupted.", file=sys.stderr)
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        # The reader of our output (head, less) has gone: end quietly, as other tools do.
        _drop_output()
        sys.exit(128 + signal.SIGPIPE)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        print(f"mlhpc: {where}{error.strerror or error}.", file=sys.stderr)
        _drop_output()
        sys.exit(1)


def _run() -> None:
    """Run the application, write out what it printed, and tell its own interruption by its exit status."""
    try:
        build()()
    except SystemExit as end:
        # The application turns Ctrl-C into this exit status without a word.
        if end.code == INTERRUPTED:
            raise KeyboardInterrupt from end
        sys.stdout.flush()
        raise


def _drop_output() -> None:
    """Send what is left of the output to nowhere, so that Python does not try again when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
