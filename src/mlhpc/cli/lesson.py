"""``mlhpc lesson ...``: for those who write lessons, and learner copies of notebooks."""

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from mlhpc.errors import MlhpcError

Stems = Annotated[list[str] | None, typer.Argument(metavar="[STEM]...", help="Lessons; all unless given.")]


def register(app: typer.Typer) -> None:
    """Add the commands to the application."""
    lesson = typer.Typer(help="Write, run and check lessons; make learner copies.", no_args_is_help=True)
    lesson.command("list")(list_lessons)
    lesson.command("new")(new)
    lesson.command("run")(run)
    lesson.command("check")(check)
    lesson.command("learner")(learner)
    app.add_typer(lesson, name="lesson")


def list_lessons(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """List the lessons with their minutes."""
    from mlhpc.lessons import load_lessons

    lessons = load_lessons()
    if as_json:
        print(json.dumps([lesson.model_dump(mode="json") for lesson in lessons], indent=2))
        return
    for lesson in lessons:
        print(f"{lesson.stem:<32} {lesson.teaching:>3} + {lesson.exercises:>3} min  {lesson.title}")
    if not lessons:
        print("No lessons yet: 'mlhpc lesson new STEM' starts one.")


def new(stem: Annotated[str, typer.Argument(help="Number and slug: 102-choosing-a-gpu.")]) -> None:
    """Start a lesson: write its episode and its notebook's source from templates."""
    from mlhpc.lessons.new import new_lesson

    for path in new_lesson(stem):
        print(f"wrote {path}")
    print(f"Replace every REPLACE, then: mlhpc lesson run {stem} && mlhpc lesson check {stem}")
    print("Add both files to book/_toc.yml.")


def run(
    stems: Stems = None,
    tier: Annotated[
        str | None, typer.Option(help="smoke, quick or full; MLHPC_TIER or smoke unless given.")
    ] = None,
) -> None:
    """Execute notebooks' sources and write the results beside them."""
    from mlhpc.lessons.execute import execute_lesson

    for stem in _chosen(stems):
        result = execute_lesson(stem, tier=tier)
        for text in result.hidden:
            print(f"kept out of {result.path.name}, on standard error: {text}", file=sys.stderr)
        print(f"wrote {result.path}")


def check(
    stems: Stems = None,
    exercises: Annotated[
        bool, typer.Option(help="Also run each blank copy and each solution: a minute or so a lesson.")
    ] = False,
) -> None:
    """Check lessons: front matter, parts, quantities, pair, exercises."""
    from mlhpc.lessons.check import check_course, check_lesson
    from mlhpc.lessons.proof import prove_exercises

    findings = [found for stem in stems for found in check_lesson(stem)] if stems else list(check_course())
    if exercises and not findings:
        findings += [found for stem in _chosen(stems) for found in prove_exercises(stem)]
    for finding in findings:
        print(finding)
    if findings:
        raise MlhpcError(f"{len(findings)} finding{'s' if len(findings) > 1 else ''} in the lessons.")
    print(f"Checked {', '.join(_chosen(stems)) or 'no lessons'}: nothing found.")


def learner(
    stems: Stems = None,
    out: Annotated[Path, typer.Option(help="Folder for the copies.")] = Path("learner"),
) -> None:
    """Write learner copies of notebooks, solutions blanked. Work in a copy is never overwritten."""
    from mlhpc.lessons.learner import write_learner_copy

    for stem in _chosen(stems):
        copy = write_learner_copy(stem, out)
        print(f"{copy.outcome}: {copy.path}")


def _chosen(stems: list[str] | None) -> tuple[str, ...]:
    """Return the stems asked for, or those of all lessons."""
    from mlhpc.lessons.layout import lesson_stems

    return tuple(stems) if stems else lesson_stems()
