"""The site, built once for all tests of this folder, served on loopback and opened in real Chromium."""

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from mlhpc.records.store import append_record
from tests.site import sample

COURSE = Path(__file__).resolve().parents[2]


def build(root: Path, own_records: Path) -> subprocess.CompletedProcess[str]:
    """Build the course in ``root`` strictly and return how that went."""
    environment = {**os.environ, "MLHPC_RECORDS": str(own_records), "NO_COLOR": "1"}
    environment.pop("MLHPC_COURSE", None)
    return subprocess.run(
        [sys.executable, str(root / "book" / "build.py")],
        capture_output=True,
        text=True,
        check=False,
        cwd=root,
        env=environment,
    )


def _built(root: Path, own_records: Path) -> Path:
    result = build(root, own_records)
    assert result.returncode == 0, result.stdout + result.stderr
    return root / "_build" / "html"


@pytest.fixture(scope="session")
def course_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the course's own site: the one in ``MLHPC_BUILT_SITE``, or built from a copy of the checkout."""
    setting = os.environ.get("MLHPC_BUILT_SITE")
    if setting:
        assert (Path(setting) / "index.html").is_file(), f"MLHPC_BUILT_SITE={setting} holds no site"
        return Path(setting)
    root = tmp_path_factory.mktemp("course")
    shutil.copy(COURSE / "_config.yml", root)
    for folder in ("book", "data", "episodes", "notebooks"):
        shutil.copytree(COURSE / folder, root / folder, ignore=shutil.ignore_patterns("__pycache__"))
    return _built(root, tmp_path_factory.mktemp("none"))


@pytest.fixture(scope="session")
def sample_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a small site that uses every role and directive, with made-up records of "this machine" too."""
    own = tmp_path_factory.mktemp("own")
    for record in sample.local():
        append_record(own, record)
    return _built(sample.write_course(tmp_path_factory.mktemp("sample")), own)


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: pytest's output is for failures."""


def _serve(folder: Path) -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture(scope="session")
def course_address(course_site: Path) -> Iterator[str]:
    """Return the address at which the course's site is served."""
    yield from _serve(course_site)


@pytest.fixture(scope="session")
def sample_address(sample_site: Path) -> Iterator[str]:
    """Return the address at which the sample site is served."""
    yield from _serve(sample_site)
