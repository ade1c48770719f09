"""``mlhpc pack``."""

from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("pack")(pack)


def pack(
    out: Annotated[Path, typer.Option(help="File to write.")] = Path("ml-on-hpc.zip"),
    force: Annotated[bool, typer.Option("--force", help="Replace the file if there is one.")] = False,
) -> None:
    """Put the built site and all notebooks, with and without solutions, into one file for a workshop."""
    from mlhpc.pack import write_pack
    from mlhpc.paths import course_root

    path = write_pack(course_root(), out, force=force)
    typer.echo(f"{path}: written, {path.stat().st_size / 1e6:.1f} MB")
