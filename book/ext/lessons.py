"""Pages made from the lessons' front matter: overview of a lesson, schedule, exercises, key points."""

from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from book.ext import parts
from book.ext.course import CourseDirective, lessons
from docutils import nodes
from sphinx.application import Sphinx

from mlhpc.errors import UsageError

if TYPE_CHECKING:
    from mlhpc.lessons import Lesson

KINDS = {"predict": "predict, then run", "practice": "practise", "transfer": "carry over to your own work"}


class _LessonsDirective(CourseDirective):
    def parsed(self, text: str) -> Sequence[nodes.Node]:
        """Return a line of front matter as nodes: it may hold roles such as ``{claim}``."""
        shown, messages = self.parse_inline(text)
        return [*shown, *messages]

    def bullets(self, lines: Iterable[str]) -> nodes.bullet_list:
        """Return lines of front matter as a list."""
        items = [nodes.list_item("", nodes.paragraph("", "", *self.parsed(line))) for line in lines]
        return nodes.bullet_list("", *items, bullet="-")

    def link(self, lesson: "Lesson") -> nodes.Node:
        """Return a link to the lesson's episode."""
        text = f"{lesson.number} {lesson.title}"
        return parts.link_to_page(f"episodes/{lesson.stem}", text, self.env.docname)


class LessonOverview(_LessonsDirective):
    """``{lesson-overview}`` in an episode: minutes, questions, objectives, prerequisites, notebook."""

    def content_nodes(self) -> list[nodes.Node]:
        """Return the overview of the lesson whose episode this is."""
        stem = PurePosixPath(self.env.docname).name
        lesson = next((one for one in lessons() if one.stem == stem), None)
        if lesson is None:
            raise UsageError(f"{self.env.docname} is not the episode of a lesson.")
        notebook = parts.link_to_page(
            f"notebooks/{PurePosixPath(lesson.notebook).stem}", lesson.notebook, self.env.docname
        )
        time = f"{lesson.teaching} minutes of text, {lesson.exercises} minutes of exercises"
        box = nodes.container("", parts.facts([("Time", time), ("Notebook", [notebook])]))
        box["classes"] += ["lesson-overview"]
        for heading, lines in (
            ("Questions", lesson.questions),
            ("You will be able to", lesson.objectives),
            ("You need", lesson.prerequisites),
        ):
            if lines:
                box += [nodes.paragraph("", heading, classes=["overview-heading"]), self.bullets(lines)]
        return [box]


class LessonList(_LessonsDirective):
    """``{lesson-list}``: the lessons that stand, with their minutes and first question."""

    def content_nodes(self) -> list[nodes.Node]:
        """Return the list of lessons."""
        if not lessons():
            return [nodes.paragraph("", "There is no lesson yet.")]
        result = nodes.definition_list()
        for lesson in lessons():
            minutes = parts.small(f" {lesson.teaching + lesson.exercises} minutes")
            term = nodes.term("", "", self.link(lesson), minutes)
            question = nodes.paragraph("", "", *self.parsed(lesson.questions[0]))
            result += nodes.definition_list_item("", term, nodes.definition("", question))
        return [result]


class Schedule(_LessonsDirective):
    """``{schedule}``: all lessons with their minutes, and when each starts in a workshop without breaks."""

    def content_nodes(self) -> list[nodes.Node]:
        """Return the table of lessons, with its total as last row."""
        rows: list[list[parts.Cell]] = []
        elapsed = 0
        for lesson in lessons():
            start = f"{elapsed // 60}:{elapsed % 60:02d}"
            total = lesson.teaching + lesson.exercises
            rows.append([start, [self.link(lesson)], str(lesson.teaching), str(lesson.exercises), str(total)])
            elapsed += total
        rows.append([f"{elapsed // 60}:{elapsed % 60:02d}", "End", "", "", str(elapsed)])
        headers = ["Starts after (h:mm)", "Lesson", "Teaching (min)", "Exercises (min)", "Together (min)"]
        return [parts.table(headers, rows, numeric=(0, 2, 3, 4))]


class ExerciseList(_LessonsDirective):
    """``{exercise-list}``: every exercise with a link to it."""

    def content_nodes(self) -> list[nodes.Node]:
        """Return the table of exercises."""
        rows = [
            [
                [parts.link_to_label(exercise.id, [nodes.Text(exercise.id)], self.env.docname)],
                self.parsed(exercise.title),
                KINDS[exercise.kind],
                str(exercise.minutes),
                [self.link(lesson)],
            ]
            for lesson in lessons()
            for exercise in lesson.exercise_list
        ]
        if not rows:
            return [nodes.paragraph("", "There is no exercise yet.")]
        return [parts.table(["Exercise", "Task", "Kind", "Minutes", "Lesson"], rows, numeric=(3,))]


class KeyPoints(_LessonsDirective):
    """``{key-points}``: the key points of all lessons."""

    def content_nodes(self) -> list[nodes.Node]:
        """Return one section per lesson."""
        if not lessons():
            return [nodes.paragraph("", "There is no lesson yet.")]
        sections: list[nodes.Node] = []
        for lesson in lessons():
            section = parts.section([self.link(lesson)], f"key-points-{lesson.stem}", self.state.document)
            section += self.bullets(lesson.keypoints)
            sections.append(section)
        return sections


def setup(app: Sphinx) -> None:
    """Register the directives."""
    app.add_directive("lesson-overview", LessonOverview)
    app.add_directive("lesson-list", LessonList)
    app.add_directive("schedule", Schedule)
    app.add_directive("exercise-list", ExerciseList)
    app.add_directive("key-points", KeyPoints)
