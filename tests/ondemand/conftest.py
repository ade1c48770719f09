"""Apps built from the profiles, and sessions of them."""

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from mlhpc.ondemand.build import app_files
from mlhpc.ondemand.folder import write_folder
from mlhpc.ondemand.request import AppRequest, app_request
from mlhpc.sites.load import check_text
from tests.ondemand.portal import Session

PROFILE = """
profile_version: 1
site: {id: small, name: Small Centre, support: help@small.example}
sources: {us: {title: Our pages, where: small.example, read: 2026-12-01}}
clusters:
- id: one
  name: One
  scheduler: slurm
  ondemand: {url: "https://portal.small.example", cluster_id: one, max_time: 8 h, max_cores: 16, source: us}
  account: {required: false}
  partitions:
  - {name: cpu, max_time: 24 h, cores_per_node: 8, memory_per_node: 64 GiB, source: us}
software: {python: {how: "The course's own environment."}}
"""


def notebook(text: str) -> str:
    """Return a notebook with one cell."""
    cell: dict[str, Any] = {"cell_type": "code", "id": "a", "metadata": {}, "source": text}
    cell |= {"execution_count": None, "outputs": []}
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    content = {"cells": [cell], "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(content)


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """Return a small course as it lies at a centre: a folder of files for learners, and data."""
    return make_course(tmp_path / "course")


def make_course(root: Path) -> Path:
    """Write a small course into ``root``."""
    (root / "data").mkdir(parents=True)
    (root / "learner").mkdir()
    (root / "learner" / "101-first.ipynb").write_text(notebook("print('first', 6 * 7)"))
    (root / "learner" / "102-second.ipynb").write_text(notebook("print('second')"))
    return root


def small_request(
    course: Path, environment: Path | None = None, text: str = PROFILE, **options: Any
) -> AppRequest:
    """Return a request for an app of the small centre."""
    site = check_text(text, Path("small.yml"))
    place = environment or Path(sys.prefix)
    return app_request(site, course_root=str(course), environment=str(place), **options)


@pytest.fixture
def app(tmp_path: Path, course: Path) -> Path:
    """Return the small centre's app, with the environment that runs these tests."""
    folder = tmp_path / "app"
    write_folder(folder, app_files(small_request(course)))
    return folder


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Callable[..., Session]]:
    """Return a function that starts a session of an app; all of them are ended at the end."""
    started: list[Session] = []
    home = tmp_path / "home"

    def start(app: Path, **options: object) -> Session:
        home.mkdir(exist_ok=True)
        folder = tmp_path / f"session-{len(started)}" / "output"
        folder.parent.mkdir()
        started.append(Session.start(app, folder, home, **options))  # type: ignore[arg-type]
        return started[-1]

    yield start
    for one in started:
        one.end()
