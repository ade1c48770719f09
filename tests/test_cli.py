"""The command line answers at once and imports nothing heavy."""

import subprocess
import sys


def test_help_lists_the_nouns_and_verbs() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "mlhpc", "--help"], capture_output=True, text=True, check=True
    )
    for name in ("bench", "claims", "lesson", "machine", "records"):
        assert name in done.stdout


def test_help_imports_nothing_heavy() -> None:
    """Imports are what makes an answer slow; seconds would only measure the machine."""
    code = (
        "import sys; from mlhpc.cli import build; build(); "
        "print([name for name in ('torch', 'xgboost', 'numpy', 'scipy', 'pandas', 'matplotlib', 'sklearn')"
        " if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_an_unknown_command_ends_with_a_status() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "mlhpc", "frobnicate"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "frobnicate" in done.stderr
