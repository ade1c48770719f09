"""The front matter of an episode: schedule, exercise list and key-points page are made from it."""

import re
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StrictInt, model_validator

from mlhpc.errors import MlhpcError
from mlhpc.lessons.layout import lesson_stems, locate, read_text
from mlhpc.paths import course_root
from mlhpc.yaml_lines import LocatedYaml, parse_yaml, validate

ExerciseKind = Literal["predict", "practice", "transfer"]
"""Predict before running, practise the rule, or carry it over to one's own work."""

FENCE = "---"

# Words that open a sentence which is no instruction, and verbs that nobody can check from outside.
_NOT_A_VERB = {"A", "An", "At", "For", "How", "In", "It", "On", "The", "This", "We", "What", "Why", "You"}
_NOT_CHECKABLE = {"Appreciate", "Be", "Know", "Learn", "See", "Understand"}


def _one_line(text: str) -> str:
    if not text.strip() or "\n" in text.strip():
        raise ValueError("must be one line of text")
    return text.strip()


def _question(text: str) -> str:
    if not text.endswith("?"):
        raise ValueError(f"a question ends with '?', this one does not: {text!r}")
    return text


def _objective(text: str) -> str:
    first = text.split(maxsplit=1)[0]
    if not re.fullmatch(r"[A-Z][a-z]+", first) or first in _NOT_A_VERB or first.endswith("ing"):
        raise ValueError(
            f"an objective starts with a verb in the imperative (Measure ..., Choose ...), not {first!r}"
        )
    if first in _NOT_CHECKABLE:
        raise ValueError(
            f"nobody can check {first!r}: start with what the learner will do (Measure ..., Explain ...)"
        )
    return text


Line = Annotated[str, AfterValidator(_one_line)]
Question = Annotated[Line, AfterValidator(_question)]
Objective = Annotated[Line, AfterValidator(_objective)]
Minutes = Annotated[StrictInt, Field(gt=0)]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Exercise(_Model):
    """One exercise as the exercise list shows it."""

    id: Annotated[str, Field(pattern=r"^[1-9]\d\d-[1-9]$")]
    """The lesson's number and the exercise's own, for instance ``101-1``: also the label in the episode."""
    title: Line
    """Imperative, for instance ``Predict the break-even batch``. May hold roles such as ``{claim}``."""
    minutes: Minutes
    kind: ExerciseKind


class FrontMatter(_Model):
    """What the author writes between the two ``---`` lines of an episode."""

    title: Line
    teaching: Minutes
    """Minutes that an instructor needs for the text, without exercises."""
    exercises: Minutes
    """Minutes for all exercises together: the sum over ``exercise_list``."""
    questions: Annotated[tuple[Question, ...], Field(min_length=2, max_length=3)]
    objectives: Annotated[tuple[Objective, ...], Field(min_length=2, max_length=3)]
    prerequisites: tuple[Line, ...]
    """What the reader should know or have read; an empty list says that nothing is needed."""
    keypoints: Annotated[tuple[Line, ...], Field(min_length=2)]
    """May hold MyST roles such as ``{claim}``."""
    notebook: Line
    """File name of the notebook, which has the episode's stem: ``101-cpu-or-gpu.ipynb``."""
    sites: tuple[Line, ...]
    """Identifiers of the sites that the lesson speaks of."""
    exercise_list: Annotated[tuple[Exercise, ...], Field(min_length=1, max_length=3)]

    @model_validator(mode="after")
    def _exercises_are_complete(self) -> Self:
        kinds = {exercise.kind for exercise in self.exercise_list}
        for kind in ("predict", "transfer"):
            if kind not in kinds:
                raise ValueError(f"exercise_list needs at least one exercise of kind {kind}")
        identifiers = [exercise.id for exercise in self.exercise_list]
        if len(set(identifiers)) < len(identifiers):
            raise ValueError(f"exercise_list names an id twice: {', '.join(identifiers)}")
        total = sum(exercise.minutes for exercise in self.exercise_list)
        if total != self.exercises:
            raise ValueError(f"exercises is {self.exercises} minutes, but exercise_list adds up to {total}")
        return self


class Lesson(FrontMatter):
    """The front matter of one lesson, and which lesson it is."""

    stem: str
    """Number and slug, for instance ``101-cpu-or-gpu``: the name of all files of the lesson."""

    @property
    def number(self) -> str:
        """The three digits that the stem starts with."""
        return self.stem[:3]


def split_front_matter(text: str, episode: Path) -> tuple[str, str, int]:
    """Split an episode into front matter and body.

    Returns:
        The YAML text between the fences, the Markdown after it, and the number of lines before the Markdown.

    Raises:
        MlhpcError: if ``text`` (of the file ``episode``) does not start with a fenced front matter.
    """
    lines = text.splitlines(keepends=True)
    if not lines or lines[0].rstrip() != FENCE:
        raise MlhpcError(f"{episode}:1: an episode starts with front matter between two lines '---'.")
    for number, line in enumerate(lines[1:], start=1):
        if line.rstrip() == FENCE:
            return "".join(lines[1:number]), "".join(lines[number + 1 :]), number + 1
    raise MlhpcError(f"{episode}:1: the front matter is not closed: add a line '---' after its last key.")


def located_front_matter(text: str, episode: Path) -> LocatedYaml:
    """Return the front matter of an episode, not yet validated, with the line of each key in the file.

    Raises:
        MlhpcError: if there is none, or it is not valid YAML.
    """
    block, _, _ = split_front_matter(text, episode)
    if not block.strip():
        raise MlhpcError(f"{episode}:1: the front matter is empty.")
    return parse_yaml("\n" + block, episode)


def load_lesson(stem: str, root: Path | None = None) -> Lesson:
    """Return the front matter of the episode of ``stem``.

    Raises:
        MlhpcError: if the episode is missing, or its front matter is not valid; one line per fault, each
            naming file, line and key.
    """
    episode = locate(stem, root).episode
    text = read_text(episode)
    matter = validate(FrontMatter, located_front_matter(text, episode))
    return Lesson(stem=stem, **dict(matter))


def load_lessons(root: Path | None = None) -> tuple[Lesson, ...]:
    """Return the front matter of all episodes under ``root`` (the course checkout unless given), by stem.

    Raises:
        MlhpcError: if any front matter is not valid.
    """
    base = course_root() if root is None else root
    stems = [stem for stem in lesson_stems(base) if locate(stem, base).episode.exists()]
    return tuple(load_lesson(stem, base) for stem in stems)
