"""Making a record: the parts that are derived, looked up or stamped on."""

import math
import platform
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from typing import Literal

from mlhpc.errors import UsageError
from mlhpc.machine.model import Contention, Machine
from mlhpc.paths import course_root
from mlhpc.records.schema import Gate, Quantity, Record, Scalar, Software, Tier, record_id
from mlhpc.records.summary import summarise

REPLACED_PATH = "PATH"
"""What stands in a record's command in place of an absolute path."""


def make_record(
    *,
    workload: str,
    tier: Tier,
    metric: str,
    unit: str,
    parameters: Mapping[str, Scalar],
    samples: Sequence[float],
    warmup: Sequence[float],
    stopped: Literal["converged", "cap", "interrupted"],
    fixed_seconds: Mapping[str, float],
    quantities: Mapping[str, Quantity],
    gates: Iterable[Gate],
    machine: Machine,
    contention: Contention,
    packages: Iterable[str],
    command: Sequence[str],
) -> Record:
    """Return the record of one measured case, with summary, software, commit, time and identity filled in.

    Args:
        unit: of ``samples``, ``warmup`` and the summary; seconds (``s``) for times.
        packages: distributions or import names whose versions belong into the record.
        command: the command line as it was given (``sys.argv``); absolute paths are replaced by ``PATH``.

    The other arguments are those of ``Record``.

    Raises:
        ValueError: if there is no sample, or a number is not finite.
    """
    commit, modified = checkout_state()
    unidentified = Record(
        id="",
        workload=workload,
        tier=tier,
        metric=metric,
        unit=unit,
        parameters=dict(parameters),
        samples=tuple(float(value) for value in samples),
        warmup=tuple(float(value) for value in warmup),
        summary=summarise(samples),
        stopped=stopped,
        fixed_seconds=dict(fixed_seconds),
        quantities=dict(quantities),
        gates=tuple(gates),
        machine=machine,
        contention=contention,
        software=software_versions(packages),
        command=strip_paths(command),
        commit=commit,
        modified=modified,
        measured_at=datetime.now(UTC).replace(microsecond=0),
    )
    fields = unidentified.model_dump(mode="json")
    _refuse_infinite(fields, "record")
    return unidentified.model_copy(update={"id": record_id(fields)})


def _refuse_infinite(value: object, place: str) -> None:
    """Raise ValueError where ``value`` holds a number that JSON has no way to write."""
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{place} is {value}, which a record cannot hold")
    if isinstance(value, Mapping):
        for key, item in value.items():
            _refuse_infinite(item, f"{place}.{key}")
    elif isinstance(value, list | tuple):
        for number, item in enumerate(value):
            _refuse_infinite(item, f"{place}[{number}]")


def strip_paths(command: Sequence[str]) -> tuple[str, ...]:
    """Return ``command`` so that another person may read and repeat it.

    The program is named without its folder (``mlhpc`` where Python ran the package), and each absolute path,
    also after ``=``, becomes ``PATH``: its folders name users and machines.
    """
    if not command:
        return ()
    program = Path(command[0])
    name = program.parent.name if program.name == "__main__.py" else program.name
    return tuple(_readable(part) for part in (name, *(_without_path(part) for part in command[1:])))


def _without_path(argument: str) -> str:
    option, equals, value = argument.partition("=")
    if argument.startswith(("/", "~")):
        return REPLACED_PATH
    if equals and value.startswith(("/", "~")):
        return f"{option}={REPLACED_PATH}"
    return argument


def _readable(argument: str) -> str:
    """Return ``argument`` as valid text: the shell may pass bytes that are not UTF-8."""
    return argument.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def software_versions(packages: Iterable[str]) -> Software:
    """Return the versions of Python and of ``packages``, under the names of the installed distributions.

    A name that is no distribution is looked up as an import name: ``xgboost`` may come from ``xgboost-cpu``.
    A name that leads nowhere gets the version ``not found``: a wrong name in a workload is no reason to
    lose the measurement.
    """
    versions: dict[str, str] = {}
    for name in sorted(set(packages)):
        for distribution in _distributions(name):
            versions[distribution] = metadata.version(distribution)
        if not _distributions(name):
            versions[name] = "not found"
    return Software(
        python=platform.python_version(), packages=versions, gpu_architectures=_torch_architectures()
    )


def _distributions(name: str) -> Sequence[str]:
    """Return the installed distributions that ``name`` stands for."""
    try:
        metadata.version(name)
    except metadata.PackageNotFoundError:
        return _providers().get(name.replace("-", "_"), ())
    return (name,)


@lru_cache(maxsize=1)
def _providers() -> Mapping[str, Sequence[str]]:
    """Return import names with the distributions that provide them (slow: it reads every installed one)."""
    return {name: sorted(set(found)) for name, found in metadata.packages_distributions().items()}


def _torch_architectures() -> tuple[str, ...]:
    """Return what the loaded torch was compiled for; empty where torch is not in use or sees no GPU."""
    torch = sys.modules.get("torch")
    return tuple(torch.cuda.get_arch_list()) if torch is not None else ()


@lru_cache(maxsize=1)
def checkout_state() -> tuple[str | None, bool]:
    """Return the commit of the course checkout and whether ``src`` or ``notebooks`` differ from it.

    ``(None, False)`` where there is no checkout, it is not under git, or git is missing. Asked once per
    process: the code that is measured is the code that was loaded.
    """
    try:
        root = course_root()
    except UsageError:
        return None, False
    if not (root / ".git").exists():
        return None, False
    commit = _git(root, "rev-parse", "--verify", "HEAD")
    changes = _git(root, "status", "--porcelain", "--", "src", "notebooks")
    return commit or None, bool(changes)


def _git(root: Path, *arguments: str) -> str | None:
    """Return what git prints; None where git is missing or refuses (no commit yet, another owner)."""
    try:
        answer = subprocess.run(
            ["git", "-C", str(root), *arguments], capture_output=True, text=True, timeout=20, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return answer.stdout.strip()
