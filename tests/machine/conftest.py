"""Fixtures of the machine tests."""

from pathlib import Path

import pytest

from tests.machine.fake_tree import FakeTree


@pytest.fixture
def tree(tmp_path: Path) -> FakeTree:
    """A fake tree of a quiet node with 64 cores, 256 GiB, no limits and no job."""
    return FakeTree(tmp_path)
