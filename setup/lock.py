"""Make ``environment.yml`` and ``requirements.lock`` from ``setup/packages.yml``, or check that they agree.

python setup/lock.py            write environment.yml (no network)
python setup/lock.py --resolve  write requirements.lock too: installs the list into a new environment
python setup/lock.py --check    say where the three differ; exit status 1 if they do
"""

import argparse
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from typing import Any

import yaml

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
    """Return the parsed list of packages."""
    data: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
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
    """Install the list into a new environment and return all versions that came with it."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = str(Path(folder) / "bin" / "python")
        subprocess.run([python, "-m", "pip", "install", *lock_requirements(data)], check=True)
        subprocess.run([python, "-m", "pip", "check"], check=True)
        frozen = subprocess.run(
            [python, "-m", "pip", "freeze", "--all", "--exclude", "pip"],
            check=True,
            capture_output=True,
            text=True,
        )
    return LOCK_HEADER.format(python=data["python"]["lock"]) + frozen.stdout


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--resolve", action="store_true")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    data = read_packages()
    if options.check:
        found = differences(data, LOCK.read_text(encoding="utf-8"), ENVIRONMENT.read_text(encoding="utf-8"))
        print("\n".join(found) or "packages.yml, requirements.lock and environment.yml agree.")
        return 1 if found else 0
    if options.resolve:
        wanted = data["python"]["lock"]
        if f"{sys.version_info.major}.{sys.version_info.minor}" != wanted:
            sys.exit(f"The lock is for Python {wanted}: run this script with python{wanted}.")
        LOCK.write_text(resolve(data), encoding="utf-8")
    ENVIRONMENT.write_text(environment_text(data), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
