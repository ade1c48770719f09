"""Debian packages fetched with apt's own programs, in private folders: no root, no change to the machine."""

import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from mlhpc.errors import MlhpcError, UsageError
from mlhpc.practice.places import RELEASE

KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
DEFAULT_MIRROR = "http://deb.debian.org/debian"
CODENAMES = ("bullseye", "bookworm", "trixie", "forky", "sid")

Say = Callable[[str], None]


def check_machine() -> None:
    """Say what this machine lacks to fetch and unpack Debian's packages.

    Raises:
        UsageError: naming what is missing, and what works without it.
    """
    without = "the lessons that need no scheduler work without it"
    machine = os.uname().machine
    if machine != "x86_64":
        raise UsageError(f"The practice cluster is made for x86_64 and this machine is {machine}; {without}.")
    for program, package in (("apt-get", "apt"), ("dpkg-deb", "dpkg")):
        if shutil.which(program) is None:
            raise UsageError(
                f"The practice cluster needs {program} (package {package}, on Debian and Ubuntu) to fetch "
                f"its programs; {without}."
            )
    if not KEYRING.is_file():
        raise UsageError(
            f"{KEYRING} is missing, so that packages cannot be verified: install debian-archive-keyring; "
            f"{without}."
        )


def mirror() -> str:
    """Return the Debian mirror: ``MLHPC_DEBIAN_MIRROR``, the machine's own one, or Debian's default."""
    setting = os.environ.get("MLHPC_DEBIAN_MIRROR")
    if setting:
        return setting.rstrip("/")
    listing = subprocess.run(
        ["apt-get", "indextargets", "--format", "$(CODENAME) $(REPO_URI)", "Created-By: Packages"],
        capture_output=True,
        text=True,
        check=False,
    )
    pairs = (line.split(" ", 1) for line in listing.stdout.splitlines() if " " in line)
    found = [uri.rstrip("/") for codename, uri in pairs if codename in CODENAMES]
    return next((uri for uri in found if uri.startswith("http")), DEFAULT_MIRROR)


@dataclass(frozen=True)
class Fetched:
    """A package on disk."""

    file: Path
    name: str
    version: str


@dataclass(frozen=True)
class PrivateApt:
    """apt with lists, cache and status of its own under ``folder``."""

    folder: Path
    mirror: str

    def _options(self) -> list[str]:
        sources = self.folder / "sources.list"
        status = self.folder / "status"
        for path in (self.folder / "lists/partial", self.folder / "cache/archives/partial"):
            path.mkdir(parents=True, exist_ok=True)
        sources.write_text(f"deb [signed-by={KEYRING}] {self.mirror} {RELEASE} main\n", encoding="utf-8")
        status.touch()
        settings = {
            "Dir::Etc::sourcelist": sources,
            "Dir::Etc::sourceparts": "-",
            "Dir::Etc::preferences": "-",
            "Dir::Etc::preferencesparts": "-",
            "Dir::State::lists": self.folder / "lists",
            "Dir::State::status": status,
            "Dir::Cache": self.folder / "cache",
            "APT::Architecture": "amd64",
            "APT::Architectures": "amd64",
            "Acquire::Retries": "3",
            "Acquire::Languages": "none",
            # apt as root would fetch as another user, who cannot write into this folder.
            "APT::Sandbox::User": "root" if os.geteuid() == 0 else "",
        }
        return [part for name, value in settings.items() for part in ("-o", f"{name}={value}")]

    def run(self, *command: str, folder: Path | None = None) -> str:
        """Run an apt program with the private folders and return what it printed.

        Raises:
            MlhpcError: if it fails; holds apt's own last line.
        """
        program, *rest = command
        environment = {**os.environ, "LC_ALL": "C", "DEBIAN_FRONTEND": "noninteractive"}
        done = subprocess.run(
            [program, *self._options(), *rest],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            errors = [line for line in done.stderr.splitlines() if line.startswith(("E:", "Err:"))]
            said = errors[0].removeprefix("E: ") if errors else done.stderr.strip()[-200:]
            raise MlhpcError(
                f"{program} cannot reach or use {self.mirror} ({said}): check the network, or name another "
                "mirror with MLHPC_DEBIAN_MIRROR; the course's other parts work without the practice cluster."
            )
        return done.stdout

    def update(self) -> None:
        """Fetch the lists of packages and verify their signatures."""
        self.run("apt-get", "-q", "update", "--error-on=any")

    def sizes(self, packages: Sequence[str]) -> dict[str, int]:
        """Return the file name and size in bytes of each package, without fetching it."""
        listing = self.run("apt-get", "-q", "--print-uris", "download", *packages)
        rows = (line.split() for line in listing.splitlines() if line.startswith("'"))
        return {row[1]: int(row[2]) for row in rows if len(row) >= 3}

    def download(self, packages: Sequence[str], into: Path) -> None:
        """Fetch the packages into a folder; those that are there already, whole, are not fetched again."""
        into.mkdir(parents=True, exist_ok=True)
        self.run("apt-get", "-q", "download", *packages, folder=into)


def unpack(package: Path, folder: Path) -> Fetched:
    """Unpack one package into ``folder`` and return its name and version.

    Raises:
        MlhpcError: if the file is damaged; it is removed, so that the next try fetches it again.
    """
    done = subprocess.run(
        ["dpkg-deb", "--extract", str(package), str(folder)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        package.unlink(missing_ok=True)
        raise MlhpcError(
            f"{package.name} cannot be unpacked ({done.stderr.strip()[-160:]}): run the install again."
        )
    fields = subprocess.run(
        ["dpkg-deb", "--show", "--showformat=${Package} ${Version}", str(package)],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    return Fetched(package, fields[0], fields[1])
