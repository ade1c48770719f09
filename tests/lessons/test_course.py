"""The real course: its lessons are complete, their pairs were run, the checks of exercises mean something."""

import pytest

from mlhpc.lessons.check import check_course
from mlhpc.lessons.layout import lesson_stems
from mlhpc.lessons.proof import prove_exercises


def test_there_are_lessons() -> None:
    assert lesson_stems(), "without a lesson all other tests of the course pass and say nothing"


def test_every_lesson_is_complete() -> None:
    findings = check_course()
    assert findings == (), "\n".join(map(str, findings))


@pytest.mark.slow
@pytest.mark.parametrize("stem", lesson_stems())
def test_the_checks_of_exercises_fail_on_the_blank_and_pass_on_the_solution(stem: str) -> None:
    findings = prove_exercises(stem)
    assert findings == (), "\n".join(map(str, findings))
