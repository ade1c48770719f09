"""Files are replaced whole, and lines are appended whole or not at all."""

import multiprocessing
import os
import resource
import signal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlhpc.errors import MlhpcError
from mlhpc.files import append_line, write_atomically


def test_a_new_file_gets_the_usual_permissions(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "file.txt"
    write_atomically(path, "first")
    current = os.umask(0)
    os.umask(current)
    assert path.read_text() == "first"
    assert path.stat().st_mode & 0o777 == 0o666 & ~current


def test_permissions_survive_a_replacement(tmp_path: Path) -> None:
    path = tmp_path / "file.txt"
    path.write_text("first")
    path.chmod(0o640)
    write_atomically(path, "second")
    assert path.read_text() == "second"
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_folder_that_is_a_file_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(MlhpcError, match=r"Cannot write .*nothing was changed"):
        write_atomically(tmp_path / "file" / "below", "text")


def _append_many(path: Path, writer: int, count: int) -> None:
    for number in range(count):
        append_line(path, f"{writer}-{number}-" + "x" * 3000)


def test_lines_of_several_writers_stay_whole(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    context = multiprocessing.get_context("fork")
    writers = [context.Process(target=_append_many, args=(path, writer, 50)) for writer in range(4)]
    for process in writers:
        process.start()
    for process in writers:
        process.join()
    lines = path.read_text().splitlines()
    assert sorted(lines) == sorted(f"{w}-{n}-" + "x" * 3000 for w in range(4) for n in range(50))


def _append_over_the_limit(path: Path) -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
    try:
        append_line(path, "y" * 2000)
    except MlhpcError as error:
        os._exit(0 if "are untouched" in str(error) else 2)
    os._exit(1)


def test_a_line_that_does_not_fit_leaves_the_others_alone(tmp_path: Path) -> None:
    """A limit on the file's size stands in for a full disk: the write fails in the middle in the same way."""
    path = tmp_path / "lines"
    append_line(path, "x" * 500)
    process = multiprocessing.get_context("fork").Process(target=_append_over_the_limit, args=(path,))
    process.start()
    process.join()
    assert process.exitcode == 0
    assert path.read_text() == "x" * 500 + "\n"


def test_a_torn_last_line_does_not_swallow_the_next(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_text('{"torn": ')
    append_line(path, "whole")
    assert path.read_text().splitlines() == ['{"torn": ', "whole"]


@given(text=st.text(st.characters(exclude_categories=["Cs"])))
def test_any_text_comes_back(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    path = tmp_path_factory.mktemp("any") / "file"
    write_atomically(path, text)
    assert path.read_bytes().decode() == text


def test_a_line_break_inside_a_line_is_a_programming_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="line break"):
        append_line(tmp_path / "lines", "a\nb")
