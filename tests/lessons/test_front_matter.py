from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlhpc.errors import MlhpcError
from mlhpc.lessons import load_lesson, load_lessons
from mlhpc.lessons.front_matter import located_front_matter, split_front_matter
from mlhpc.lessons.layout import LessonFiles
from tests.lessons.conftest import STEM, Edit


def test_a_complete_front_matter_is_a_lesson(lesson: LessonFiles) -> None:
    loaded = load_lesson(STEM, lesson.root)
    assert (loaded.stem, loaded.number) == (STEM, "901")
    assert loaded.notebook == f"{STEM}.ipynb"
    assert [(one.id, one.kind) for one in loaded.exercise_list] == [
        ("901-1", "predict"),
        ("901-2", "transfer"),
    ]
    assert sum(one.minutes for one in loaded.exercise_list) == loaded.exercises


def test_lessons_come_in_the_order_of_their_numbers(lesson: LessonFiles) -> None:
    text = lesson.episode.read_text()
    lesson.episode.with_name("102-earlier.md").write_text(text)
    lesson.episode.with_name("notes.md").write_text("not a lesson")
    assert [one.stem for one in load_lessons(lesson.root)] == ["102-earlier", STEM]


def test_a_course_without_lessons_is_empty(tmp_path: Path) -> None:
    assert load_lessons(tmp_path) == ()


@pytest.mark.parametrize(
    ("old", "new", "line", "expected"),
    [
        ("teaching: 30", "teachin: 30", 3, "did you mean teaching"),
        ("teaching: 30", "teaching: 0", 3, "greater than 0"),
        ("teaching: 30", "teaching: yes", 3, "integer"),
        ("teaching: 30", "teaching: '30'", 3, "integer"),
        ("  - Some a second question?\n", "", 5, "at least 2"),
        ("a second question?", "no question", 7, "ends with '?'"),
        ("Choose Some.", "Choosing well.", 10, "starts with a verb"),
        ("Choose Some.", "choose well.", 10, "starts with a verb"),
        ("Choose Some.", "The choice.", 10, "starts with a verb"),
        ("Choose Some.", "Understand it.", 10, "nobody can check"),
        ("  - Some what to do on Monday.\n", "", 13, "at least 2"),
        ("kind: predict", "kind: guess", 19, "predict"),
        ('id: "901-1"', 'id: "901-a"', 19, "pattern"),
        ("minutes: 5,", "minutes: 5, hint: x,", 19, "unknown key"),
        ("title: Some the title", "title: ''", 2, "one line of text"),
        ("teaching: 30", "teaching: 30\nteaching: 31", 4, "this key already"),
        ("teaching: 30", "teaching: [30", 4, "not valid YAML"),
    ],
)
def test_a_fault_names_file_line_and_key(
    lesson: LessonFiles, edit: Edit, old: str, new: str, line: int, expected: str
) -> None:
    edit(lesson.episode, old, new)
    with pytest.raises(MlhpcError) as caught:
        load_lesson(STEM, lesson.root)
    faults = str(caught.value).splitlines()
    assert any(fault.startswith(f"{lesson.episode}:{line}: ") and expected in fault for fault in faults), (
        faults
    )


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("kind: predict", "kind: practice", "at least one exercise of kind predict"),
        ("kind: transfer", "kind: practice", "at least one exercise of kind transfer"),
        ("minutes: 5", "minutes: 6", "adds up to 21"),
        ('id: "901-2"', 'id: "901-1"', "names an id twice"),
    ],
)
def test_exercises_must_fit_together(
    lesson: LessonFiles, edit: Edit, old: str, new: str, expected: str
) -> None:
    edit(lesson.episode, old, new)
    with pytest.raises(MlhpcError, match=expected):
        load_lesson(STEM, lesson.root)


def test_an_episode_that_is_missing_or_no_text_is_one_sentence(lesson: LessonFiles) -> None:
    with pytest.raises(MlhpcError, match=r"Cannot read .*902-none\.md"):
        load_lesson("902-none", lesson.root)
    lesson.episode.write_bytes(b"---\n\xff\n---\n")
    with pytest.raises(MlhpcError, match="not UTF-8"):
        load_lesson(STEM, lesson.root)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "starts with front matter"),
        ("# Title\n", "starts with front matter"),
        ("---\ntitle: x\n", "not closed"),
        ("---\n\n---\n", "is empty"),
    ],
)
def test_front_matter_must_be_fenced(text: str, expected: str) -> None:
    with pytest.raises(MlhpcError, match=f"x.md:1: .*{expected}"):
        located_front_matter(text, Path("x.md"))


_LINES = st.lists(st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"])), max_size=5)


@given(matter=_LINES.filter(lambda lines: not any(line.rstrip() == "---" for line in lines)), body=_LINES)
def test_splitting_keeps_every_line(matter: list[str], body: list[str]) -> None:
    block, rest = "".join(f"{line}\n" for line in matter), "\n".join(body)
    assert split_front_matter(f"---\n{block}---\n{rest}", Path("x.md")) == (block, rest, len(matter) + 2)
