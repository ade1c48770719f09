import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import nbformat.v4
import psutil
import pytest

from mlhpc.errors import MlhpcError, UsageError
from mlhpc.lessons.execute import execute_lesson, tidy_outputs
from mlhpc.lessons.layout import LessonFiles, locate
from tests.lessons.conftest import STEM, Edit

NEW: Any = nbformat.v4


def write(root: Path, *cells: str) -> LessonFiles:
    """Write a notebook's source of a title and code cells."""
    files = locate("902-written-here", root)
    files.source.parent.mkdir(parents=True, exist_ok=True)
    files.source.write_text("# %% [markdown]\n# # Title\n" + "".join(f"\n# %%\n{cell}\n" for cell in cells))
    return files


def test_executing_again_changes_no_byte(lesson: LessonFiles) -> None:
    before = lesson.notebook.read_bytes()
    lesson.notebook.unlink()
    execute_lesson(STEM, lesson.root, tier="smoke")
    assert lesson.notebook.read_bytes() == before
    assert [path.name for path in lesson.notebook.parent.iterdir() if path.name.startswith(".")] == []


def test_outputs_settings_and_what_is_kept_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLHPC_RECORDS", str(tmp_path / "mine"))
    files = write(
        tmp_path,
        "import os, sys, pathlib\nprint(os.environ['MLHPC_TIER'], pathlib.Path.cwd().name, end=' ')\n"
        "print('a warning', file=sys.stderr)\nprint('10 %\\r20 %\\rdone')",
        "print({'one', 'two', 'three', 'four'} and os.environ['PYTHONHASHSEED'])",
        "os.environ['MLHPC_RECORDS'] == " + repr(str(tmp_path / "mine")),
    )
    result = execute_lesson(files.stem, tmp_path, tier="quick")
    assert result.hidden == ("code cell 1: a warning",)
    notebook: Any = nbformat.read(files.notebook, as_version=4)  # type: ignore[no-untyped-call]
    first, second, third = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [output.text for output in first.outputs] == ["done\n"]
    assert second.outputs[0].text == "0\n"
    assert third.outputs[0].data["text/plain"] == "False"
    assert notebook.metadata["mlhpc"]["tier"] == "quick"
    assert "version" not in notebook.metadata["language_info"]


def test_a_cell_that_fails_is_one_sentence_and_keeps_the_pair(lesson: LessonFiles, edit: Edit) -> None:
    before = lesson.notebook.read_bytes()
    edit(lesson.source, "exact = math.fsum(tenths)", "exact = 1\nraise ValueError('first\\nsecond')")
    with pytest.raises(MlhpcError) as caught:
        execute_lesson(STEM, lesson.root)
    message = str(caught.value)
    assert (
        "code cell 5 (exact = 1) failed: ValueError: first; 901-sums-of-tenths.ipynb is as it was." in message
    )
    assert len(message.splitlines()) == 1
    assert lesson.notebook.read_bytes() == before


def test_a_private_output_is_refused_and_keeps_the_pair(tmp_path: Path) -> None:
    files = write(tmp_path, "import pathlib\npathlib.Path.cwd()")
    with pytest.raises(MlhpcError, match="output of code cell 1 holds the absolute path"):
        execute_lesson(files.stem, tmp_path)
    assert not files.notebook.exists()


@pytest.mark.slow
def test_a_cell_that_ends_the_kernel_is_named(tmp_path: Path) -> None:
    files = write(tmp_path, "x = 1", "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)")
    with pytest.raises(MlhpcError, match=r"code cell 2 \(import os, signal\) failed: it ended the kernel"):
        execute_lesson(files.stem, tmp_path)


def test_control_c_keeps_the_pair_and_leaves_no_kernel(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    files = write(
        tmp_path,
        f"import os, pathlib\n_ = pathlib.Path({str(tmp_path / 'pid')!r}).write_text(str(os.getpid()))",
        "import time\ntime.sleep(600)",
    )
    files.notebook.write_text("the old pair")
    command = [sys.executable, "-m", "mlhpc", "lesson", "run", files.stem]
    process = subprocess.Popen(command, env={**os.environ, "MLHPC_COURSE": str(tmp_path)})
    try:
        kernel = wait_for_number(tmp_path / "pid")
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 130
    finally:
        process.kill()
    assert files.notebook.read_text() == "the old pair"
    assert not psutil.pid_exists(kernel) or psutil.Process(kernel).status() == psutil.STATUS_ZOMBIE


def wait_for_number(path: Path) -> int:
    """Return the number in a file as soon as it is there."""
    for _ in range(600):
        if path.exists() and path.read_text():
            return int(path.read_text())
        time.sleep(0.1)
    raise AssertionError("the kernel did not start within a minute")


def test_faulty_requests_are_one_sentence(lesson: LessonFiles) -> None:
    with pytest.raises(UsageError, match="'large' is not a tier"):
        execute_lesson(STEM, lesson.root, tier="large")
    with pytest.raises(UsageError, match=f"no lesson 901-sums-of-tenth; did you mean {STEM}"):
        execute_lesson("901-sums-of-tenth", lesson.root)
    lesson.source.write_text("")
    with pytest.raises(MlhpcError, match="holds no cell"):
        execute_lesson(STEM, lesson.root)
    lesson.source.unlink()
    with pytest.raises(MlhpcError, match="Cannot read"):
        execute_lesson(STEM, lesson.root)


def test_a_folder_too_deep_for_sockets_is_one_sentence(
    lesson: LessonFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = tmp_path / ("deep" * 25)
    deep.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(deep))
    with pytest.raises(MlhpcError, match="set TMPDIR to a shorter folder"):
        execute_lesson(STEM, lesson.root)
    assert list(deep.iterdir()) == []


def test_the_tier_of_the_environment_is_checked_too(
    lesson: LessonFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLHPC_TIER", "enormous")
    with pytest.raises(UsageError, match="'enormous' is not a tier"):
        execute_lesson(STEM, lesson.root)


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        (["a", "b\n"], "ab\n"),
        (["10 %\r", "20 %\r", "done\n"], "done\n"),
        (["a\r\nb\r\n"], "a\nb\n"),
        (["half\r"], "half"),
    ],
)
def test_pieces_of_a_stream_become_what_a_terminal_shows(pieces: list[str], expected: str) -> None:
    outputs = [NEW.new_output("stream", name="stdout", text=piece) for piece in pieces]
    notebook = NEW.new_notebook(cells=[NEW.new_code_cell("x", outputs=outputs)])
    tidy_outputs(notebook)
    assert [output.text for output in notebook.cells[0].outputs] == [expected]


def test_widgets_are_dropped_and_order_is_kept() -> None:
    outputs = [
        NEW.new_output("stream", name="stdout", text="a"),
        NEW.new_output(
            "display_data", data={"application/vnd.jupyter.widget-view+json": {}, "text/plain": "bar"}
        ),
        NEW.new_output("display_data", data={"text/plain": "figure"}),
        NEW.new_output("stream", name="stdout", text="b"),
    ]
    notebook = NEW.new_notebook(cells=[NEW.new_code_cell("x", outputs=outputs)])
    tidy_outputs(notebook)
    assert [output.get("text") or output.data["text/plain"] for output in notebook.cells[0].outputs] == [
        "a",
        "figure",
        "b",
    ]
