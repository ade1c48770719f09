"""``mlhpc site probe`` and ``mlhpc site diff``: the machine's own word on a profile."""

from pathlib import Path
from typing import Annotated

import typer

from mlhpc.cli.site import site_app

Cluster = Annotated[
    list[str] | None,
    typer.Option(
        "--cluster", help="Slurm cluster to ask about; repeat for several. [default: the local one]"
    ),
]


def register(_app: typer.Typer) -> None:
    """Add the commands to those of ``mlhpc site``."""
    site_app.command("probe")(probe)
    site_app.command("diff")(diff)


def probe(
    cluster: Cluster = None,
    identifier: Annotated[
        str | None, typer.Option("--id", help="Id of the profile. [default: the cluster's name]")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="File to write. [default: print the profile]", show_default=False)
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if there is one.")] = False,
) -> None:
    """Write a profile from sinfo, scontrol, sacctmgr, df, nvidia-smi and the environment.

    What no command tells is listed under `unknown` in the profile. Run it on a login node; inside a GPU job
    it also learns the node's storage and GPU.
    """
    from mlhpc.errors import UsageError
    from mlhpc.files import write_atomically
    from mlhpc.sites.probe.profile import probe as ask

    if out is not None and out.exists() and not force:
        raise UsageError(f"{out} exists already: choose another name, or replace it with --force.")
    text, site, silent = ask(cluster or (), identifier=identifier)
    for sentence in silent:
        typer.echo(f"mlhpc site probe: {sentence}.", err=True)
    if out is None:
        typer.echo(text, nl=False)
    else:
        write_atomically(out, text)
        typer.echo(f"{out}: written. {len(site.unknown)} facts are not known; the file lists them.", err=True)


def diff(
    profile: Annotated[str, typer.Argument(metavar="SITE", help="A profile's name, or its file.")],
    cluster: Cluster = None,
    json_: Annotated[bool, typer.Option("--json", help="Print one JSON list.")] = False,
) -> None:
    """Hold a written profile against what this machine says; exit status 1 if they differ.

    Facts that the machine does not tell (quotas, purges, who may run where) are not compared.
    """
    import json
    from dataclasses import asdict

    from mlhpc.sites.diff import differences
    from mlhpc.sites.load import load_site
    from mlhpc.sites.probe.profile import probe as ask
    from mlhpc.text_table import format_table

    written = load_site(profile)
    _, probed, silent = ask(cluster or ())
    found = differences(written, probed)
    for sentence in silent:
        typer.echo(f"mlhpc site diff: {sentence}.", err=True)
    if json_:
        typer.echo(json.dumps([asdict(one) for one in found], indent=2))
    elif found:
        rows = [[one.place, one.written or "-", one.found or "-", one.kind] for one in found]
        typer.echo(format_table(["Fact", "Profile", "This machine", ""], rows))
    else:
        typer.echo(f"{written.id}: the profile agrees with what this machine tells.")
    raise typer.Exit(1 if found else 0)
