"""``mlhpc doctor``."""

from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("doctor")(doctor)


def doctor(
    site: Annotated[str, typer.Option(help="Profile of this site.")] = "generic",
    cluster: Annotated[str | None, typer.Option(help="Cluster of the site, if it has several.")] = None,
    account: Annotated[str | None, typer.Option(help="Account for the test job.")] = None,
    environment: Annotated[
        Path | None, typer.Option(help="The course's Python environment. [default: the one that runs this]")
    ] = None,
    json_: Annotated[bool, typer.Option("--json", help="Print one JSON list.")] = False,
) -> None:
    """Check that the course works here: environment, kernel, GPU, room, and a job that the scheduler takes.

    Run it as an ordinary account, on the login node and once more in a GPU job. The test job is judged and
    not run. Exit status 1 if a check failed.
    """
    import json
    import sys
    from dataclasses import asdict

    from mlhpc.doctor.run import examine
    from mlhpc.paths import course_root
    from mlhpc.sites.load import load_site

    folder = environment or Path(sys.prefix)
    failed = False
    rows = []
    for finding in examine(load_site(site), course_root(), folder, cluster=cluster, account=account):
        failed = failed or finding.state == "failed"
        rows.append(asdict(finding))
        if not json_:
            typer.echo(f"{finding.state:<12}{finding.check}: {finding.text}")
    if json_:
        typer.echo(json.dumps(rows, indent=2))
    raise typer.Exit(1 if failed else 0)
