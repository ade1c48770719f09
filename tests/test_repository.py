"""What the README promises exists, and the project's own files agree with each other."""

import re
import subprocess
import tomllib
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]


def test_each_make_command_in_the_documents_exists() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))
    for name in ("README.md", "CONTRIBUTING.md", "book/setup.md", "book/index.md", "book/instructor.md"):
        text = (ROOT / name).read_text()
        in_code = re.findall(r"`make ([a-z-]+)", text) + re.findall(
            r"^make ([a-z-]+)", text, flags=re.MULTILINE
        )
        assert set(in_code) <= targets, name


def test_the_versions_agree() -> None:
    from mlhpc import __version__

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert project["version"] == citation["version"] == __version__


def test_no_tracked_text_names_a_home_folder() -> None:
    done = subprocess.run(
        ["git", "grep", "-nIE", r"(^|[^A-Za-z0-9_.])/(home|Users)/[a-z]+/", "--", ".", ":!tests"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    # 0: something was found; 1: nothing; 128: this is no checkout (a downloaded archive).
    assert done.returncode in (1, 128), done.stdout


def test_continuous_integration_runs_the_command_of_the_readme() -> None:
    assert "make test" in (ROOT / ".ci" / "run").read_text()
    assert "make test" in (ROOT / "README.md").read_text()
