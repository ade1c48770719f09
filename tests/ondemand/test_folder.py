"""Writing the folder: whole or not at all, never over somebody's work; and the command line around it."""

import json
import os
import stat
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from mlhpc.cli import build
from mlhpc.errors import MlhpcError, UsageError
from mlhpc.ondemand.folder import MARK, AppFile, write_folder

FILES = {"a.txt": AppFile("one\n"), "sub/run.sh": AppFile("#!/bin/sh\n", executable=True)}


def tree(folder: Path) -> dict[str, str]:
    """Return the files below a folder."""
    return {
        path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*") if path.is_file()
    }


def test_the_folder_is_readable_for_everybody_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        write_folder(tmp_path / "app", FILES)
    finally:
        os.umask(before)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "app").rglob("*")}
    assert modes == {"a.txt": 0o644, "sub": 0o755, "run.sh": 0o755, MARK: 0o644}
    assert stat.S_IMODE((tmp_path / "app").stat().st_mode) == 0o755


def test_a_folder_that_is_there_is_refused_without_force(tmp_path: Path) -> None:
    write_folder(tmp_path / "app", FILES)
    with pytest.raises(UsageError, match=r"exists already: .* --force"):
        write_folder(tmp_path / "app", FILES)


def test_force_replaces_what_this_command_wrote(tmp_path: Path) -> None:
    write_folder(tmp_path / "app", FILES)
    write_folder(tmp_path / "app", {"b.txt": AppFile("two\n")}, force=True)
    assert set(tree(tmp_path / "app")) == {"b.txt", MARK}
    assert [path.name for path in tmp_path.iterdir()] == ["app"]


@pytest.mark.parametrize("mark", [None, "{", "[]"])
def test_force_does_not_replace_a_folder_of_somebody_else(tmp_path: Path, mark: str | None) -> None:
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "thesis.tex").write_text("work")
    if mark is not None:
        (tmp_path / "app" / MARK).write_text(mark)
    with pytest.raises(UsageError, match="was not written by this command"):
        write_folder(tmp_path / "app", FILES, force=True)
    assert (tmp_path / "app" / "thesis.tex").read_text() == "work"


def test_force_does_not_replace_what_was_edited_or_added_by_hand(tmp_path: Path) -> None:
    write_folder(tmp_path / "app", FILES)
    (tmp_path / "app" / "a.txt").write_text("edited")
    (tmp_path / "app" / "local").mkdir()
    (tmp_path / "app" / "local" / "bio.yml.erb").write_text("added")
    with pytest.raises(UsageError, match=r"was changed since .* \(a.txt, local/bio.yml.erb\)"):
        write_folder(tmp_path / "app", FILES, force=True)


@pytest.mark.parametrize("kind", ["file", "link", "dangling"])
def test_only_a_folder_of_its_own_is_replaced(tmp_path: Path, kind: str) -> None:
    write_folder(tmp_path / "real", FILES)
    if kind == "file":
        (tmp_path / "app").write_text("x")
    else:
        (tmp_path / "app").symlink_to(tmp_path / ("real" if kind == "link" else "gone"))
    with pytest.raises(UsageError, match="is not a folder of its own"):
        write_folder(tmp_path / "app", FILES, force=True)


def test_a_failure_in_the_middle_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_folder(tmp_path / "app", FILES)
    before = tree(tmp_path)
    real = Path.rename

    def fail_at_the_end(self: Path, target: Path) -> Path:
        if self.name == "new":
            raise OSError(28, "No space left on device")
        return real(self, target)

    monkeypatch.setattr(Path, "rename", fail_at_the_end)
    with pytest.raises(MlhpcError, match="No space left on device; nothing was changed"):
        write_folder(tmp_path / "app", {"b.txt": AppFile("two\n")}, force=True)
    assert tree(tmp_path) == before


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(MlhpcError, match="Cannot write"):
        write_folder(tmp_path / "file" / "app", FILES)


def run(*arguments: str) -> tuple[int, str, str]:
    """Run the command line; return the exit status, the output and the error."""
    result = CliRunner().invoke(build(), ["ondemand", "build", *arguments])
    if isinstance(result.exception, MlhpcError):
        return result.exception.exit_status, result.stdout, str(result.exception)
    return result.exit_code, result.stdout, result.stderr


def test_the_command_writes_an_app_and_says_how_to_install_it(tmp_path: Path) -> None:
    options = ("--site", "sagehen", "--course-root", "/shared/ml", "--out", str(tmp_path / "app"))
    status, said, notes = run(*options, "--class", "bio410", "--memory", "16 GiB", "--hours", "2")
    assert status == 0
    assert f"How to install it: {tmp_path / 'app' / 'README.md'}" in said
    assert "note: Sources disagree about clusters.sagehen.partitions.gpu.cores_per_node" in notes
    fixed = yaml.safe_load((tmp_path / "app" / "local" / "bio410.yml.erb").read_text())["attributes"]
    assert fixed == {"bc_num_hours": 2, "mlhpc_memory": 16}
    assert run(*options)[0] == 2
    assert run(*options, "--force")[0] == 0


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--hours", "2"), "--hours is fixed for a class: name the class with --class NAME."),
        (("--memory", "2 GB"), "--memory is fixed for a class"),
        (("--class", "c", "--memory", "2"), "--memory: '2' is not a size with a unit"),
        (("--git-repo", "https://x.example/c.git"), "--git-repo and --git-ref belong to --csc."),
        (("--csc",), "--csc needs the address"),
        (("--csc", "--git-repo", "git@x:c.git"), "give the address that git clones, https://"),
        (("--csc", "--git-repo", "https://x.example/c.git", "--git-ref", "a b"), "--git-ref 'a b'"),
    ],
)
def test_options_that_do_not_fit_are_refused(options: tuple[str, ...], sentence: str, tmp_path: Path) -> None:
    out = tmp_path / "app"
    status, _, error = run("--site", "sagehen", "--course-root", "/ml", "--out", str(out), *options)
    assert (status, sentence in error) == (2, True), error
    assert not out.exists()


def test_course_files_for_csc(tmp_path: Path) -> None:
    out = tmp_path / "csc"
    fixed = ("--class", "ml", "--partition", "interactive", "--gpu", "none", "--hours", "2", "--cores", "4")
    more = ("--memory", "16 GiB", "--reservation", "ml-course", "--git-ref", "v1.0")
    repository = "https://git.example/group/ml-on-hpc.git"
    status, _, error = run(
        *("--site", "generic", "--csc", "--git-repo", repository, "--course-root", "/projappl/project_1/ml"),
        *("--out", str(out), *fixed, *more),
    )
    assert status == 0, error
    assert yaml.safe_load((out / "ml-resources.yml").read_text()) == {
        "cores": 4,
        "time": "02:00:00",
        "partition": "interactive",
        "mem": "16GB",
        "reservation": "ml-course",
    }
    assert 'time: "02:00:00"' in (out / "ml-resources.yml").read_text()
    lines = (out / "ml.lua").read_text().splitlines()
    assert lines[0] == "-- Jupyter"
    assert 'prepend_path("PATH", "/projappl/project_1/ml/.venv/bin")' in lines
    assert f'setenv("_COURSE_GIT_REPO", "{repository}")' in lines
    assert 'setenv("_COURSE_GIT_REF", "v1.0")' in lines
    assert 'setenv("_COURSE_NOTEBOOK", "ml-on-hpc/notebooks/101-cpu-or-gpu.ipynb")' in lines


def test_course_files_for_csc_with_modules_and_a_gpu(tmp_path: Path) -> None:
    out = tmp_path / "csc"
    address = ("--git-repo", "https://git.example/c")
    options = ("--site", "osc", "--cluster", "cardinal", "--csc", *address, "--course-root", "/ml")
    assert run(*options, "--out", str(out), "--class", "c", "--partition", "gpu")[0] == 0
    assert yaml.safe_load((out / "c-resources.yml").read_text()) == {"partition": "gpu", "gpus": 1}
    assert 'depends_on("python/3.12")' in (out / "c.lua").read_text()
    assert run(*options, "--out", str(tmp_path / "none"))[0] == 0
    assert yaml.safe_load((tmp_path / "none" / "ml-on-hpc-resources.yml").read_text()) == {}


def test_the_mark_names_every_file(tmp_path: Path) -> None:
    write_folder(tmp_path / "app", FILES)
    assert set(json.loads((tmp_path / "app" / MARK).read_text())) == set(FILES)
