"""``mlhpc claims check|show``."""

from pathlib import Path
from typing import Annotated

import typer

File = Annotated[
    Path | None,
    typer.Option("--file", metavar="FILE", help="Ledger, by default data/claims.yml of the course."),
]
Folder = Annotated[
    Path | None,
    typer.Option("--records", metavar="DIR", help="Records, by default those that the course publishes."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    claims = typer.Typer(help="Hold what the course says against what was measured.", no_args_is_help=True)
    claims.command("check")(check_all)
    claims.command("show")(show)
    app.add_typer(claims, name="claims")


def check_all(file: File = None, records: Folder = None, json: Json = False) -> None:
    """Print every claim with its verdict: confirmed, contradicted, depends or cited only."""
    from mlhpc.claims import check, load_claims
    from mlhpc.claims.listing import ledger_text, verdict_data
    from mlhpc.paths import published_records_folder
    from mlhpc.records.store import read_records

    ledger = load_claims(file)
    result = read_records(records or published_records_folder())
    verdicts = check(ledger, result.records)
    if json:
        _print_json([verdict_data(verdict) for verdict in verdicts])
    else:
        typer.echo(ledger_text(verdicts))
    result.raise_for_damage()


def show(
    identifier: Annotated[str, typer.Argument(metavar="ID", help="Id of the claim.")],
    file: File = None,
    records: Folder = None,
    json: Json = False,
) -> None:
    """Print one claim: source, condition, what was measured, the verdict and why."""
    from mlhpc.claims import check_one, load_claims
    from mlhpc.claims.listing import claim_text, verdict_data
    from mlhpc.paths import published_records_folder
    from mlhpc.records.store import read_records

    ledger = load_claims(file)
    claim = ledger.claim(identifier)
    result = read_records(records or published_records_folder())
    verdict = check_one(claim, ledger, result.records)
    if json:
        _print_json(verdict_data(verdict))
    else:
        typer.echo(claim_text(verdict, ledger))
    result.raise_for_damage()


def _print_json(content: object) -> None:
    import json

    typer.echo(json.dumps(content, indent=2, ensure_ascii=False))
