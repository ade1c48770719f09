"""Outputs must not say on whose machine, in which folder, they were made."""

import contextlib
import getpass
import re
import socket
import tempfile
from pathlib import Path
from typing import Any

from mlhpc.lessons.notebook import code_cells
from mlhpc.paths import home_folder

# Folders whose names are private on most machines, and those of this one where they are elsewhere.
_PRIVATE_FOLDER = re.compile(
    r"(?<![\w./:-])/(?:home|Users|users|root|tmp|scratch|fs|mnt|var/folders|private)/[^\s'\"<>)]+"
)
_MEMORY_ADDRESS = re.compile(r"\bat 0x[0-9a-fA-F]{6,}")
_COMMON_NAMES = frozenset({"root", "user", "runner", "jovyan", "localhost", "admin", "test"})


def private_outputs(notebook: Any) -> list[str]:
    """Return a sentence for each output that names a folder, user or host, or an address in memory.

    Addresses are no secret, but they change on each run.
    """
    found = []
    for number, cell in enumerate(code_cells(notebook), 1):
        for text in _texts(cell):
            what = _private(text)
            if what is not None:
                found.append(
                    f"the output of code cell {number} holds {what}; print less, or end the cell with None"
                )
                break
    return found


def _texts(cell: Any) -> list[str]:
    """Return all text in the outputs of a cell; pictures in base64 are left out."""
    texts = []
    for output in cell.outputs:
        if "text" in output:
            texts.append(str(output.text))
        for kind, content in output.get("data", {}).items():
            if not kind.startswith("image/") or kind == "image/svg+xml":
                texts.append(content if isinstance(content, str) else repr(content))
    return texts


def _private(text: str) -> str | None:
    """Return what in ``text`` is private, in words, or None."""
    match = _PRIVATE_FOLDER.search(text)
    if match:
        return f"the absolute path {match.group()}"
    for folder in _own_folders():
        if folder in text:
            return f"the absolute path {folder}"
    for kind, name in _own_names().items():
        if re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text):
            return f"the {kind} name {name}"
    match = _MEMORY_ADDRESS.search(text)
    return f"the address {match.group()[3:]}, which changes with each run" if match else None


def _own_folders() -> list[str]:
    """Return the folders of this machine that an output must not name."""
    places = (home_folder(), Path.cwd(), tempfile.gettempdir(), Path(__file__).resolve().parents[3])
    folders = {str(place) for place in places if place is not None}
    return sorted(folder for folder in folders if folder.count("/") >= 2)


def _own_names() -> dict[str, str]:
    """Return the user's and the host's name, unless they are words that say nothing."""
    names = {"host": socket.gethostname()}
    # A container may run under a number that has no name: then there is none to leak.
    with contextlib.suppress(KeyError, OSError):
        names["user"] = getpass.getuser()
    return {kind: name for kind, name in names.items() if len(name) > 2 and name not in _COMMON_NAMES}
