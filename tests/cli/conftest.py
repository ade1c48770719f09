"""The command line for tests."""

import pytest

from tests.cli.running import Runner


@pytest.fixture
def mlhpc(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Runner:
    """Return a function that runs ``mlhpc`` with arguments."""
    return Runner(monkeypatch, capsys)
