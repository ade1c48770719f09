"""The teaching pack holds the site and both kinds of notebooks, and appears whole or not at all."""

import json
import zipfile
from pathlib import Path

import pytest

from mlhpc.errors import UsageError
from mlhpc.lessons import load_lessons
from mlhpc.pack import write_pack
from mlhpc.paths import course_root


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """Return a course with the real lessons and a site of one page."""
    root = tmp_path / "course"
    root.mkdir()
    for name in ("episodes", "notebooks", "data"):
        (root / name).symlink_to(course_root() / name)
    (root / "_build" / "html").mkdir(parents=True)
    (root / "_build" / "html" / "index.html").write_text("<title>course</title>")
    return root


def test_holds_site_learners_and_solutions(course: Path, tmp_path: Path) -> None:
    out = write_pack(course, tmp_path / "pack.zip")
    with zipfile.ZipFile(out) as archive:
        names = set(archive.namelist())
        stems = [lesson.stem for lesson in load_lessons(course)]
        assert {"ml-on-hpc/README.txt", "ml-on-hpc/site/index.html"} <= names
        for stem in stems:
            blank = json.loads(archive.read(f"ml-on-hpc/learners/{stem}.ipynb"))
            solved = json.loads(archive.read(f"ml-on-hpc/solutions/{stem}.ipynb"))
            assert not any(cell.get("outputs") for cell in blank["cells"])
            assert any(cell.get("outputs") for cell in solved["cells"])


def test_the_same_content_gives_the_same_file(course: Path, tmp_path: Path) -> None:
    first = write_pack(course, tmp_path / "one.zip").read_bytes()
    assert first == write_pack(course, tmp_path / "two.zip").read_bytes()


def test_never_replaces_a_file_unasked(course: Path, tmp_path: Path) -> None:
    out = tmp_path / "pack.zip"
    out.write_text("mine")
    with pytest.raises(UsageError, match="--force"):
        write_pack(course, out)
    assert out.read_text() == "mine"
    assert zipfile.is_zipfile(write_pack(course, out, force=True))


def test_without_a_site_it_says_how_to_build_it(course: Path, tmp_path: Path) -> None:
    (course / "_build" / "html" / "index.html").unlink()
    with pytest.raises(UsageError, match="make site"):
        write_pack(course, tmp_path / "pack.zip")
    assert list(tmp_path.glob("*.zip")) == []
