import pytest

from mlhpc.lessons.front_matter import load_lesson, split_front_matter
from mlhpc.lessons.layout import LessonFiles
from mlhpc.lessons.structure import check_structure
from tests.lessons.conftest import STEM, Edit


def messages(lesson: LessonFiles) -> list[str]:
    """Return what is said about the structure of the lesson's episode."""
    _, body, before = split_front_matter(lesson.episode.read_text(), lesson.episode)
    loaded = load_lesson(STEM, lesson.root)
    return [str(found) for found in check_structure(body, before + 1, loaded, lesson.episode)]


def test_a_new_lesson_has_every_part(lesson: LessonFiles) -> None:
    assert messages(lesson) == []


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("# Some the title\n", "# Another title\n", ":22: the episode must start with the one heading"),
        ("## The case", "## Background", ":24: the first section must be the case"),
        ("## The case", "### The case", "the first section must be the case"),
        ("## On your cluster", "## More", "no section '## On your cluster'"),
        (
            "![Some what the picture shows, for those who do not see it]",
            "![]",
            ":33: this picture has no alt",
        ),
        ("![Some what the picture shows, for those who do not see it](sums.svg)", "", "no picture"),
        ("![Some what", '<img src="sums.svg">\n\n![Some what', ":33: this picture has no alt"),
        ("![Some what", "```{figure} sums.svg\n```\n\n![Some what", ":33: this picture has no alt"),
        (":class: instructor dropdown", ":class: dropdown", "no instructor notes"),
        (":label: 901-1", ":label: 901-3", "exercise 901-1 of the front matter is not in the text"),
        (":label: 901-1", ":label: 901-3", ":41: exercise 901-3 is not in the front matter"),
        (":label: 901-1\n", "", ":41: exercise without :label: is not in the front matter"),
        (":::{solution} 901-2", ":::{solution} 901-9", "exercise 901-2 has no solution"),
        (
            ":::{exercise} Predict an equality",
            ":::{exercise} Predict",
            ":41: exercise 901-1 has another title",
        ),
        ("notebook: 901-sums-of-tenths.ipynb", "notebook: other.ipynb", "notebook is other.ipynb"),
        ('id: "901-1"', 'id: "902-1"', "exercise 902-1 must start with the lesson's number"),
    ],
)
def test_a_missing_part_is_named(lesson: LessonFiles, edit: Edit, old: str, new: str, expected: str) -> None:
    edit(lesson.episode, old, new)
    found = messages(lesson)
    assert any(expected in message for message in found), found


def test_a_picture_made_from_a_profile_brings_its_own_alt_text(lesson: LessonFiles, edit: Edit) -> None:
    edit(lesson.episode, "## The case", "## The case\n\n```{storage-picture} osc\n```\n")
    assert messages(lesson) == []
