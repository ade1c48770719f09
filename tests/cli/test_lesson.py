"""``mlhpc lesson`` as authors call it."""

import json
from pathlib import Path

import pytest

from tests.cli.running import Runner

STEM = "902-written-here"


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the root of a course without lessons."""
    (tmp_path / "data").mkdir()
    monkeypatch.setenv("MLHPC_COURSE", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_lesson_from_its_first_line_to_its_learners(course: Path, mlhpc: Runner) -> None:
    assert "No lessons yet" in mlhpc("lesson", "list").output
    assert mlhpc("lesson", "new", STEM).status == 0

    unfinished = mlhpc("lesson", "check")
    assert unfinished.status == 1
    assert f"{STEM}.ipynb: is missing" in unfinished.output
    assert "a placeholder is left" in unfinished.output
    assert "findings in the lessons" in unfinished.messages

    for path in (course / "episodes" / f"{STEM}.md", course / "notebooks" / f"{STEM}.py"):
        path.write_text(path.read_text().replace("REPLACE", "Some"))
    source = course / "notebooks" / f"{STEM}.py"
    source.write_text(
        source.read_text().replace("naive = 0.0", "import sys\n\nnaive = 0.0\nprint('!', file=sys.stderr)")
    )
    ran = mlhpc("lesson", "run", STEM)
    assert ran.status == 0
    assert f"kept out of {STEM}.ipynb, on standard error: code cell 2: !" in ran.messages

    checked = mlhpc("lesson", "check", "--exercises", STEM)
    assert (checked.status, checked.output) == (0, f"Checked {STEM}: nothing found.\n")
    assert STEM in mlhpc("lesson", "list").output
    assert json.loads(mlhpc("lesson", "list", "--json").output)[0]["exercises"] == 20
    assert mlhpc("lesson", "learner").output == f"written: learner/{STEM}.ipynb\n"
    assert mlhpc("lesson", "learner", STEM, "--out", "learner").output == f"unchanged: learner/{STEM}.ipynb\n"


@pytest.mark.parametrize(
    "arguments",
    [["new", "Foo"], ["run", "902-none"], ["check", "902-none"], ["learner", "902-none"], ["new"]],
)
def test_faulty_requests_end_with_status_2(course: Path, mlhpc: Runner, arguments: list[str]) -> None:
    done = mlhpc("lesson", *arguments)
    assert done.status == 2
    assert "Traceback" not in done.messages
    assert list(course.iterdir()) == [course / "data"]
