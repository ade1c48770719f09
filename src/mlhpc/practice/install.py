"""``mlhpc practice install``: the programs of Slurm and HTCondor in a private folder, once per version."""

import fcntl
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from mlhpc.errors import MlhpcError
from mlhpc.files import write_atomically
from mlhpc.practice.apt import Fetched, PrivateApt, check_machine, mirror, unpack
from mlhpc.practice.patch import patch
from mlhpc.practice.places import RELEASE, Engine, Prefix, cache_folder, prefix

Say = Callable[[str], None]

LINKED_FOLDERS = ("usr/bin", "usr/sbin")
DEBIAN_SUFFIX = "-wlm"
"""Debian calls Slurm's daemons slurmctld-wlm and so on; 22.05's slurmctld crashes under that name."""
UNUSABLE = ("usr/lib/x86_64-linux-gnu/slurm-wlm/mpi_pmix*",)
"""Plugins whose libraries are not among the packages: Slurm would report each of them at every start."""


@dataclass(frozen=True)
class Installed:
    """What an install did."""

    prefix: Prefix
    seconds: float
    fresh: bool
    """False if it was there already."""


def install(engine: Engine, say: Say) -> Installed:
    """Fetch, unpack and patch the programs of one engine, unless that was done before.

    Several at once wait for the first. What an interrupted install left is used (packages) or made anew
    (everything else). ``say`` gets one line for each step.

    Raises:
        UsageError: if this machine cannot have it; says what is missing.
        MlhpcError: if fetching or unpacking fails.
    """
    target = prefix(engine)
    if target.ready:
        return Installed(target, 0.0, fresh=False)
    check_machine()
    started = time.monotonic()
    with _alone(target, say):
        if target.ready:
            return Installed(target, 0.0, fresh=False)
        _build(target, say)
    return Installed(target, time.monotonic() - started, fresh=True)


def _build(target: Prefix, say: Say) -> None:
    shutil.rmtree(target.folder, ignore_errors=True)
    apt = PrivateApt(cache_folder() / f"apt-{RELEASE}", mirror())
    packages = target.folder.with_name(f"{target.folder.name}.packages")
    with _errors(target.folder):
        say(f"{target.engine}: reading the list of packages of Debian {RELEASE} from {apt.mirror}")
        apt.update()
        sizes = apt.sizes(target.packages)
        say(f"{target.engine}: fetching {len(sizes)} packages, {sum(sizes.values()) / 1e6:.0f} MB")
        apt.download(target.packages, packages)
        fetched = _unpack_all(target, [packages / name for name in sizes])
        for pattern in UNUSABLE:
            for path in target.folder.glob(pattern):
                path.unlink()
        say(f"{target.engine}: unpacked; making {patch(target)} programs and libraries find each other")
        _link_commands(target)
        _write_record(target, fetched, apt.mirror)
        shutil.rmtree(packages)


def _unpack_all(target: Prefix, files: list[Path]) -> list[Fetched]:
    target.folder.mkdir(parents=True)
    return [unpack(file, target.folder) for file in files]


def _link_commands(target: Prefix) -> None:
    """Collect the engine's commands in one folder, which is all that a job's path gets to see."""
    target.commands.mkdir()
    for folder in LINKED_FOLDERS:
        for program in sorted((target.folder / folder).glob("*")):
            name = program.name.removesuffix(DEBIAN_SUFFIX)
            link = target.commands / name
            if not link.is_symlink():
                link.symlink_to(program)


def _write_record(target: Prefix, fetched: list[Fetched], source: str) -> None:
    record = {
        "engine": target.engine,
        "release": RELEASE,
        "mirror": source,
        "packages": {one.name: one.version for one in fetched},
    }
    write_atomically(target.record, json.dumps(record, indent=1) + "\n")


@contextmanager
def _alone(target: Prefix, say: Say) -> Iterator[None]:
    """Hold a lock of the cache folder: one install at a time, as they share apt's lists."""
    folder = cache_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise MlhpcError(
            f"Cannot write to {folder}: {error.strerror}; set MLHPC_PRACTICE_CACHE to another folder."
        ) from error
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"{target.engine}: another install is at work in {folder}; waiting for it")
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


@contextmanager
def _errors(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise MlhpcError(
            f"Cannot install into {folder}: {error.strerror or error}; the next try starts that part anew."
        ) from error
