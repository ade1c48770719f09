"""The parts that every episode has."""

from collections.abc import Iterator
from pathlib import Path

from mlhpc.lessons.findings import Finding
from mlhpc.lessons.front_matter import Lesson
from mlhpc.lessons.markdown import Directive, Part, Picture, Prose, inline_prose, parts

CASE, CLUSTER = "The case", "On your cluster"
"""How the headings of the first section, and of the one with each site's commands, begin."""


def check_structure(body: str, first_line: int, lesson: Lesson, episode: Path) -> tuple[Finding, ...]:
    """Return the parts that an episode lacks: title, case, picture, exercises, commands, instructor notes.

    Args:
        body: the episode without its front matter.
        first_line: the line of the file in which ``body`` starts.
        lesson: the episode's front matter.
        episode: the file that it is, for the findings.
    """
    row = list(parts(body, first_line))
    found = [*_headings(row, lesson), *_pictures(row), *_exercises(row, lesson), *_identity(lesson)]
    classes = " ".join(part.options.get("class", "") for part in row if isinstance(part, Directive)).split()
    if "instructor" not in classes:
        found.append(
            (None, "no instructor notes: add :::{admonition} Instructor notes with :class: instructor")
        )
    return tuple(Finding(episode, line, message) for line, message in found)


Found = Iterator[tuple[int | None, str]]


def _headings(row: list[Part], lesson: Lesson) -> Found:
    headings = [part for part in row if isinstance(part, Prose) and part.level]
    titles = [heading for heading in headings if heading.level == 1]
    if len(titles) != 1 or titles[0] is not headings[0] or titles[0].text != inline_prose(lesson.title):
        line = titles[0].line if titles else None
        yield (
            line,
            f"the episode must start with the one heading '# {lesson.title}', its title in the front matter",
        )
    sections = [heading for heading in headings if heading.level == 2]
    if not sections or not sections[0].text.startswith(CASE):
        line = sections[0].line if sections else None
        yield line, f"the first section must be the case (what happened, what it cost): '## {CASE}'"
    if not any(section.text.startswith(CLUSTER) for section in sections):
        yield None, f"no section '## {CLUSTER}' with the commands for each site"


def _pictures(row: list[Part]) -> Found:
    pictures = [part for part in row if isinstance(part, Picture)]
    if not pictures:
        yield None, "no picture: a lesson has at least one that carries its point"
    for picture in pictures:
        if not picture.alternative.strip():
            yield picture.line, "this picture has no alt text: say what it shows to those who do not see it"


def _exercises(row: list[Part], lesson: Lesson) -> Found:
    directives = [part for part in row if isinstance(part, Directive)]
    exercises = {part.options.get("label", ""): part for part in directives if part.name == "exercise"}
    solutions = {part.argument: part for part in directives if part.name == "solution"}
    listed = {exercise.id: exercise for exercise in lesson.exercise_list}
    for identifier, exercise in listed.items():
        if identifier not in exercises:
            yield None, f"exercise {identifier} of the front matter is not in the text (:label: {identifier})"
        elif exercises[identifier].argument != exercise.title:
            line = exercises[identifier].line
            yield line, f"exercise {identifier} has another title in the front matter: {exercise.title!r}"
        if identifier not in solutions:
            yield None, f"exercise {identifier} has no solution: :::{{solution}} {identifier}"
    for kind, directives_of_kind in (("exercise", exercises), ("solution", solutions)):
        for identifier in sorted(directives_of_kind.keys() - listed.keys()):
            line = directives_of_kind[identifier].line
            yield line, f"{kind} {identifier or 'without :label:'} is not in the front matter's exercise_list"


def _identity(lesson: Lesson) -> Found:
    """Check that front matter and file names are of one lesson."""
    if lesson.notebook != f"{lesson.stem}.ipynb":
        yield None, f"notebook is {lesson.notebook}, but the file that belongs to it is {lesson.stem}.ipynb"
    for exercise in lesson.exercise_list:
        if not exercise.id.startswith(f"{lesson.number}-"):
            yield None, f"exercise {exercise.id} must start with the lesson's number, {lesson.number}"
