"""``mlhpc storage at-risk``: what the next purge of a scratch file system takes."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from mlhpc.cli import INTERRUPTED

storage_app = typer.Typer(help="Files on storage that forgets.", no_args_is_help=True)


def register(app: typer.Typer) -> None:
    """Add the command."""
    storage_app.command("at-risk")(at_risk)
    app.add_typer(storage_app, name="storage")


# Typer shows a group with one command as that command: the callback keeps "at-risk" a word of its own.
@storage_app.callback()
def storage() -> None:
    """Files on storage that forgets."""


def at_risk(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder to look at, with all below it.")],
    basis: Annotated[
        Literal["mtime", "atime", "ctime"] | None,
        typer.Option(help="The time that the purge goes by: last change, last read, last status change."),
    ] = None,
    days: Annotated[int | None, typer.Option(min=1, help="The age at which it takes a file.")] = None,
    site: Annotated[
        str | None, typer.Option(help="Take both from this site's profile (mlhpc site list).")
    ] = None,
    tier: Annotated[
        str | None, typer.Option(help="The storage tier in the profile, if several are purged.")
    ] = None,
    within: Annotated[int, typer.Option(min=0, help="Days to look ahead.")] = 7,
    limit: Annotated[int, typer.Option(min=0, help="How many files to name; 0 for all.")] = 20,
    other_file_systems: Annotated[
        bool, typer.Option("--other-file-systems", help="Look into other file systems below DIR too.")
    ] = False,
    json_: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
) -> None:
    """List the files below DIR that the next purge takes, soonest first, and how much that is.

    Nothing is changed or removed. Links are not followed. Exit status 1 if a folder could not be read: then
    the list is not complete.
    """
    from mlhpc.storage.listing import as_json, describe
    from mlhpc.storage.risk import find_at_risk
    from mlhpc.storage.rule import make_rule

    found = find_at_risk(
        folder,
        make_rule(basis, days, site, tier),
        within_days=within,
        limit=limit or None,
        other_file_systems=other_file_systems,
    )
    typer.echo(as_json(found) if json_ else describe(found))
    if not found.complete:
        raise typer.Exit(INTERRUPTED if found.interrupted else 1)
