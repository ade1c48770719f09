"""``mlhpc site list|show|check|schema|new``; ``probe`` and ``diff`` are added by ``site_probe``."""

from pathlib import Path
from typing import Annotated

import typer

site_app = typer.Typer(
    help="Profiles of clusters: where one can run, and what the rules are.", no_args_is_help=True
)


def register(app: typer.Typer) -> None:
    """Add the commands."""
    for name, command in (
        ("list", list_),
        ("show", show),
        ("check", check),
        ("schema", schema),
        ("new", new),
    ):
        site_app.command(name)(command)
    app.add_typer(site_app, name="site")


def list_(
    json_: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
) -> None:
    """List the profiles of the course."""
    import json

    from mlhpc.sites.listing import overview, summary
    from mlhpc.sites.load import load_sites

    found = load_sites()
    typer.echo(json.dumps([summary(site) for site in found], indent=2) if json_ else overview(found))


def show(
    site: Annotated[str, typer.Argument(metavar="SITE", help="A profile's name, or its file.")],
    json_: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
) -> None:
    """Print a whole profile: clusters, GPUs, storage, disagreements, what is not known, sources."""
    from mlhpc.sites.listing import profile_text
    from mlhpc.sites.load import load_site

    found = load_site(site)
    typer.echo(found.model_dump_json(indent=2, exclude_none=True) if json_ else profile_text(found))


def check(
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="[SITE...]", help="Profiles or files. [default: all of the course]"),
    ] = None,
) -> None:
    """Check profiles: types, units, sources, and whether their rows agree with each other.

    Each fault names file, line and key. Exit status 1 if there is one; doubts are only told.
    """
    from mlhpc.errors import MlhpcError
    from mlhpc.sites.doubts import doubts
    from mlhpc.sites.load import checked, find_profile, read_profile, site_ids

    failed = False
    for name in files or site_ids():
        try:
            site, located = read_profile(find_profile(name))
            checked(site, located)
        except MlhpcError as error:
            typer.echo(str(error), err=True)
            failed = True
            continue
        for doubt in doubts(site):
            typer.echo(located.fault(doubt.place, doubt.reason), err=True)
        typer.echo(
            f"{located.path}: sound; {len(site.conflicts)} conflicts, {len(site.unknown)} facts not known"
        )
    raise typer.Exit(1 if failed else 0)


def schema(
    out: Annotated[
        Path | None, typer.Option(help="File to write. [default: print it]", show_default=False)
    ] = None,
) -> None:
    """Print the JSON schema of a profile, for editors."""
    from mlhpc.files import write_atomically
    from mlhpc.sites.json_schema import schema_text

    if out is None:
        typer.echo(schema_text(), nl=False)
    else:
        write_atomically(out, schema_text())


def new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the new profile, such as my-cluster.")],
    folder: Annotated[
        Path | None, typer.Option(help="Folder to write it to. [default: data/sites]", show_default=False)
    ] = None,
) -> None:
    """Start the profile of another cluster: a file that explains itself and knows nothing yet."""
    from mlhpc.sites.new import new_profile

    path = new_profile(name, folder)
    typer.echo(f"{path}: written. Fill it in, then: mlhpc site check {path}")
