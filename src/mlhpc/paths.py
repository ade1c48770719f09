"""Where the course's files and the learner's files are."""

import os
from pathlib import Path

from mlhpc.errors import UsageError


def course_root() -> Path:
    """Return the folder of the course checkout (the one that holds ``data/claims.yml``).

    ``MLHPC_COURSE`` overrides the search, for a package that is installed away from the checkout.

    Raises:
        UsageError: if neither the setting nor the package's own place leads to a checkout.
    """
    setting = os.environ.get("MLHPC_COURSE")
    root = Path(setting) if setting else Path(__file__).resolve().parents[2]
    if not is_folder(root / "data"):
        named = "MLHPC_COURSE" if setting else "the installed package"
        raise UsageError(
            f"No course checkout at {root} (from {named}): set MLHPC_COURSE to the folder that holds data/."
        )
    return root


def is_folder(path: Path) -> bool:
    """Return whether ``path`` is a folder that this account may look at."""
    try:
        return path.is_dir()
    except OSError:
        return False


def home_folder() -> Path | None:
    """Return this account's home folder; None for a number without an account, as containers run under."""
    try:
        return Path.home()
    except RuntimeError:
        return None


def published_records_folder() -> Path:
    """Return ``data/records`` of the checkout: the records that the course shows."""
    return course_root() / "data" / "records"


def local_records_folder() -> Path:
    """Return the folder of this user's own records, which is not in the checkout.

    ``MLHPC_RECORDS`` overrides the default, the platform's folder for user data
    (``~/.local/share/mlhpc/records`` on Linux).
    """
    setting = os.environ.get("MLHPC_RECORDS")
    if setting:
        return Path(setting)
    from platformdirs import user_data_path

    try:
        return user_data_path("mlhpc") / "records"
    except RuntimeError as error:
        raise UsageError(
            "This account has no home folder for your records: set MLHPC_RECORDS to one, or use --records."
        ) from error
