"""Make ``environment.yml`` and ``requirements.lock`` from ``setup/packages.yml``, or check that they agree.

python setup/lock.py            write environment.yml (no network)
python setup/lock.py --resolve  write requirements.lock too: installs the list into a new environment
python setup/lock.py --check    say where the three differ; exit status 1 if they do
"""

import argparse
import signal
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from typing import Any

from mlhpc.errors import MlhpcError
from mlhpc.files import write_atomically
from mlhpc.interruption import terminate_as_interrupt
from mlhpc.yaml_lines import load_yaml

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ROOT / "setup" / "packages.yml"
LOCK = ROOT / "requirements.lock"
ENVIRONMENT = ROOT / "environment.yml"
LOCK_HEADER = """\
# Made by `python setup/lock.py --resolve` from setup/packages.yml; do not edit.
# Python {python}, Linux x86_64, no GPU: continuous integration and laptops. Clusters: environment.yml.
"""
ENVIRONMENT_HEADER = """\
# Made by `python setup/lock.py` from setup/packages.yml; do not edit.
# For clusters, with GPU builds (CUDA 13):
#     conda env create -f environment.yml && conda activate ml-on-hpc && pip install --no-deps -e .
# It differs from requirements.lock in Python and in xgboost. The last xgboost wheel for Python 3.11 brings
# NCCL for CUDA 12, which overwrites torch's NCCL for CUDA 13 at the same path: torch then fails on a GPU
# machine. xgboost 3.4 needs Python 3.12 and uses the same NCCL as torch. This torch has no kernels for the
# V100: there, install a build of torch for CUDA 12.6, and xgboost-cu12, instead.
"""


def read_packages(path: Path = PACKAGES) -> dict[str, Any]:
    """Return the parsed list of packages.

    Raises:
        MlhpcError: if the file cannot be read, is no YAML, or an entry lacks a key; names file and line.
    """
    located = load_yaml(path)
    data: dict[str, Any] = located.data
    try:
        _ = [(package["name"], package["version"], package["why"]) for package in data["packages"]]
        _ = data["python"]["lock"], data["python"]["cluster"]
    except (KeyError, TypeError) as error:
        raise MlhpcError(
            f"{path}: needs python (lock, cluster) and packages, each with name, version and why ({error})."
        ) from error
    return data


def lock_requirements(data: dict[str, Any]) -> list[str]:
    """Return the pinned requirements that the lock is resolved from."""
    return [f"{package['name']}=={package['version']}" for package in data["packages"]]


def environment_text(data: dict[str, Any]) -> str:
    """Return the text of ``environment.yml``."""
    chosen = [package for package in data["packages"] if package.get("omit") != "cluster"]
    lines = [package.get("cluster", f"{package['name']}=={package['version']}") for package in chosen]
    body = [
        "name: ml-on-hpc",
        "channels: [conda-forge]",
        "dependencies:",
        f"  - python={data['python']['cluster']}",
        "  - pip",
        "  - pip:",
        *(f"      - {line}" for line in lines),
    ]
    return ENVIRONMENT_HEADER + "\n".join(body) + "\n"


def differences(data: dict[str, Any], lock: str, environment: str) -> list[str]:
    """Return one sentence for each place where the lock or the environment disagrees with the list."""
    locked = {line.strip().lower() for line in lock.splitlines() if line and not line.startswith("#")}
    missing = [line for line in lock_requirements(data) if line.lower() not in locked]
    found = [
        f"requirements.lock lacks {line} of setup/packages.yml: run setup/lock.py --resolve."
        for line in missing
    ]
    if environment != environment_text(data):
        found.append("environment.yml is not what setup/packages.yml gives: run setup/lock.py.")
    return found


def resolve(data: dict[str, Any]) -> str:
    """Install the list into a new environment and return all versions that came with it.

    Raises:
        MlhpcError: if this is another Python than the lock is for, or pip fails.
    """
    wanted = data["python"]["lock"]
    if f"{sys.version_info.major}.{sys.version_info.minor}" != wanted:
        raise MlhpcError(f"The lock is for Python {wanted}: run this script with python{wanted}.")
    with tempfile.TemporaryDirectory() as folder:
        try:
            venv.create(folder, with_pip=True)
            python = str(Path(folder) / "bin" / "python")
            subprocess.run([python, "-m", "pip", "install", *lock_requirements(data)], check=True)
            subprocess.run([python, "-m", "pip", "check"], check=True)
            frozen = subprocess.run(
                [python, "-m", "pip", "freeze", "--all", "--exclude", "pip"],
                check=True,
                stdout=subprocess.PIPE,
                text=True,
            )
        except subprocess.CalledProcessError as error:
            step = " ".join(error.cmd[1:4])
            raise MlhpcError(
                f"{step} failed with status {error.returncode}; the lines above say why. Nothing was changed."
            ) from error
    return LOCK_HEADER.format(python=wanted) + frozen.stdout


def main() -> int:
    """Run the command line; a fault is one sentence, and no file is left half written."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--resolve", action="store_true")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    try:
        with terminate_as_interrupt():
            return check() if options.check else write(with_lock=options.resolve)
    except MlhpcError as error:
        print(f"lock: {error}", file=sys.stderr)
        return error.exit_status
    except OSError as error:
        print(f"lock: {error.filename}: {error.strerror}.", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("lock: interrupted; run it again.", file=sys.stderr)
        return 128 + signal.SIGINT


def check() -> int:
    """Print where the three files differ and return 1, or say that they agree and return 0."""
    found = differences(
        read_packages(), LOCK.read_text(encoding="utf-8"), ENVIRONMENT.read_text(encoding="utf-8")
    )
    print("\n".join(found) or "packages.yml, requirements.lock and environment.yml agree.")
    return 1 if found else 0


def write(*, with_lock: bool) -> int:
    """Write ``environment.yml``, and ``requirements.lock`` before it if asked to; return 0."""
    data = read_packages()
    if with_lock:
        write_atomically(LOCK, resolve(data))
    write_atomically(ENVIRONMENT, environment_text(data))
    return 0


if __name__ == "__main__":
    sys.exit(main())
