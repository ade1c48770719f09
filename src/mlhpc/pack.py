"""The teaching pack: one file that holds what a workshop needs, for a room without a network."""

import io
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

from mlhpc.errors import UsageError
from mlhpc.files import write_atomically
from mlhpc.lessons import load_lessons
from mlhpc.lessons.learner import write_learner_copy

FIXED_DATE = (2000, 1, 1, 0, 0, 0)
"""Date of each entry, so that the same content gives the same file."""

READ_ME = """\
ML on HPC: teaching pack

site/index.html   the course to read; opens from this folder, without a network
learners/         notebooks with the solutions blanked: what learners work in
solutions/        the executed notebooks, for the instructor
"""


def write_pack(course: Path, out: Path, *, force: bool = False) -> Path:
    """Write the teaching pack to ``out`` and return its path.

    The site must have been built (``make site``). The file appears whole or not at all.

    Raises:
        UsageError: if ``out`` is there already, or no site was built.
        MlhpcError: if it cannot be written.
    """
    site = course / "_build" / "html"
    if not (site / "index.html").is_file():
        raise UsageError(f"No site in {site}: build it first (make site, or make site SITE=...).")
    if out.exists() and not force:
        raise UsageError(f"{out} exists already: choose another name, or replace it with --force.")
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for place, data in _entries(course, site):
            entry = zipfile.ZipInfo(f"ml-on-hpc/{place}", FIXED_DATE)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, data)
    write_atomically(out, content.getvalue())
    return out


def _entries(course: Path, site: Path) -> Iterator[tuple[str, bytes]]:
    yield "README.txt", READ_ME.encode()
    for path in sorted(site.rglob("*")):
        if path.is_file() and not path.name.startswith("."):
            yield f"site/{path.relative_to(site).as_posix()}", path.read_bytes()
    with tempfile.TemporaryDirectory() as folder:
        for lesson in load_lessons(course):
            copy = write_learner_copy(lesson.stem, Path(folder), course)
            yield f"learners/{lesson.stem}.ipynb", copy.path.read_bytes()
            yield (
                f"solutions/{lesson.stem}.ipynb",
                (course / "notebooks" / f"{lesson.stem}.ipynb").read_bytes(),
            )
