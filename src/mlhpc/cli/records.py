"""``mlhpc records list|show|compare|publish``."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from mlhpc.records.store import ReadResult

Folder = Annotated[
    Path | None,
    typer.Option("--records", metavar="DIR", help="Folder or file with records, instead of yours."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    records = typer.Typer(help="Look at measurements, compare them, publish them.", no_args_is_help=True)
    records.command("list")(list_records)
    records.command("show")(show)
    records.command("compare")(compare_two)
    records.command("publish")(publish_some)
    app.add_typer(records, name="records")


def list_records(
    workload: Annotated[str | None, typer.Option(help="Only records of this workload.")] = None,
    tier: Annotated[str | None, typer.Option(help="Only records of this tier: smoke, quick or full.")] = None,
    published: Annotated[
        bool, typer.Option("--published", help="List the course's records, not yours.")
    ] = False,
    records: Folder = None,
    json: Json = False,
) -> None:
    """List records, one a line; ends with status 1 if a line of a file was damaged."""
    from mlhpc.records.listing import list_text

    _check_tier(tier)
    result = _read(records, published)
    chosen = [
        record
        for record in result.records
        if workload in (None, record.workload) and tier in (None, record.tier)
    ]
    if json:
        _print_json([record.model_dump(mode="json") for record in chosen])
    elif chosen:
        typer.echo(list_text(chosen))
    else:
        typer.echo("No records here yet: `mlhpc bench` makes some, `--published` lists the course's own.")
    result.raise_for_damage()


def show(
    identifier: Annotated[str, typer.Argument(metavar="ID", help="First digits of the record's id.")],
    records: Folder = None,
    json: Json = False,
) -> None:
    """Show one record of yours or of the course."""
    from mlhpc.records.identifiers import record_with_id
    from mlhpc.records.listing import record_text
    from mlhpc.records.store import read_known_records

    result = read_known_records(records)
    record = record_with_id(result.records, identifier)
    if json:
        _print_json(record.model_dump(mode="json"))
    else:
        typer.echo(record_text(record))
    result.raise_for_damage()


def compare_two(
    first: Annotated[str, typer.Argument(metavar="A", help="Record to compare with.")],
    second: Annotated[str, typer.Argument(metavar="B", help="Record that the verdict is about.")],
    records: Folder = None,
    json: Json = False,
) -> None:
    """Say whether B is faster or slower than A, by how much, or that it cannot be told."""
    from dataclasses import asdict

    from mlhpc.records.compare import compare
    from mlhpc.records.identifiers import record_with_id
    from mlhpc.records.listing import comparison_text
    from mlhpc.records.store import read_known_records

    result = read_known_records(records)
    one, other = (record_with_id(result.records, identifier) for identifier in (first, second))
    comparison = compare(one, other)
    if json:
        ratios = {name: ratio.model_dump() for name, ratio in comparison.quantities.items()}
        _print_json({"first": one.id, "second": other.id, **asdict(comparison), "quantities": ratios})
    else:
        typer.echo(comparison_text(one, other, comparison))
    result.raise_for_damage()


def publish_some(
    identifiers: Annotated[
        list[str], typer.Argument(metavar="ID...", help="First digits of each record's id.")
    ],
    records: Folder = None,
    to: Annotated[
        Path | None,
        typer.Option("--to", metavar="DIR", help="Target, by default data/records of the course."),
    ] = None,
    allow_smoke: Annotated[
        bool, typer.Option("--allow-smoke", help="Also records of the smoke tier.")
    ] = False,
) -> None:
    """Copy records into the course, after a check that they name no user, host or folder."""
    from mlhpc.paths import local_records_folder, published_records_folder
    from mlhpc.records.publish import publish

    source = records or local_records_folder()
    done = publish(identifiers, source, to or published_records_folder(), allow_smoke=allow_smoke)
    for record in done.added:
        typer.echo(f"Published {record.id} ({record.workload}, {record.tier} tier).")
    for record in done.already_there:
        typer.echo(f"{record.id} is published already.")


def _check_tier(tier: str | None) -> None:
    from typing import get_args

    from mlhpc.errors import UsageError
    from mlhpc.records.schema import Tier

    if tier is not None and tier not in get_args(Tier):
        raise UsageError(f"There is no tier {tier}: use {', '.join(get_args(Tier))}.")


def _read(folder: Path | None, published: bool) -> "ReadResult":
    from mlhpc.errors import UsageError
    from mlhpc.paths import local_records_folder, published_records_folder
    from mlhpc.records.store import read_records

    if folder is not None and published:
        raise UsageError("Give either --records or --published, not both.")
    if folder is not None:
        return read_records(folder)
    return read_records(published_records_folder() if published else local_records_folder())


def _print_json(content: object) -> None:
    import json

    typer.echo(json.dumps(content, indent=2, ensure_ascii=False))
