import getpass
import socket
from pathlib import Path
from typing import Any

import nbformat.v4
import pytest

from mlhpc.lessons.privacy import private_outputs


def notebook(kind: str, content: str) -> Any:
    """Return a notebook of one code cell with one output."""
    new: Any = nbformat.v4
    return new.new_notebook(
        cells=[new.new_code_cell("x", outputs=[new.new_output("display_data", data={kind: content})])]
    )


@pytest.mark.parametrize(
    "text",
    [
        "read /home/someone/data.csv",
        "<a href='/Users/Someone/data'>",
        "in /scratch/job/1234",
        "at /tmp/tmpabc",
        f"saved to {Path.home()}/x",
        f"{Path.cwd()}",
        "<object at 0x7f00deadbeef>",
    ],
)
@pytest.mark.parametrize("kind", ["text/plain", "text/html", "image/svg+xml"])
def test_what_belongs_to_one_machine_is_found(kind: str, text: str) -> None:
    assert len(private_outputs(notebook(kind, text))) == 1


@pytest.mark.parametrize(
    "text",
    ["581 images/s", "https://example.org/home/page", "/proc/meminfo", "notebooks/data/x", "and/or", "root"],
)
def test_what_is_the_same_everywhere_is_not(text: str) -> None:
    assert private_outputs(notebook("text/plain", text)) == []


def test_pictures_are_not_read() -> None:
    assert private_outputs(notebook("image/png", "/home/someone/x")) == []


def test_user_and_host_are_found_as_whole_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(getpass, "getuser", lambda: "ada")
    monkeypatch.setattr(socket, "gethostname", lambda: "owens-login01")
    assert "user name ada" in private_outputs(notebook("text/plain", "by ada."))[0]
    assert "host name owens-login01" in private_outputs(notebook("text/plain", "on owens-login01"))[0]
    assert private_outputs(notebook("text/plain", "adam, canada, owens")) == []


def test_a_user_without_a_name_has_none_to_leak(monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody() -> str:
        raise KeyError("getpwuid(): uid not found")

    monkeypatch.setattr(getpass, "getuser", nobody)
    assert private_outputs(notebook("text/plain", "x")) == []
