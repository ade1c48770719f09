"""GPU and storage of this node, and whether the scheduler takes a job."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from mlhpc.doctor.finding import Finding
from mlhpc.errors import UsageError
from mlhpc.scripts import JobRequest, Script, write_script
from mlhpc.sites.clusters import Cloud
from mlhpc.sites.quantities import Duration
from mlhpc.sites.schema import Site

LEAST_BYTES = 2 * 10**9
"""A learner's copy of the course with its records is far below this; caches of Python packages are not."""
LEAST_FILES = 5000
SECONDS = 60
PROGRAMS = {"slurm": "sbatch", "htcondor": "condor_submit"}


def check_gpu() -> Finding:
    """Ask torch for the GPUs, and the driver where torch sees none."""
    import torch

    if torch.cuda.is_available():
        names = ", ".join(torch.cuda.get_device_name(number) for number in range(torch.cuda.device_count()))
        return Finding("GPU", "ok", f"torch sees {names}.")
    if shutil.which("nvidia-smi") is None:
        reason = "this node has no GPU driver: run mlhpc doctor in a GPU job, too"
        return Finding("GPU", "not checked", f"{reason[0].upper()}{reason[1:]}.")
    driver = subprocess.run(
        ["nvidia-smi", "-L"], capture_output=True, text=True, timeout=SECONDS, check=False
    )
    if driver.returncode or not driver.stdout.strip():
        return Finding(
            "GPU", "not checked", "nvidia-smi lists no GPU on this node: run mlhpc doctor in a GPU job."
        )
    return Finding(
        "GPU",
        "failed",
        f"The driver lists a GPU and torch {torch.__version__} does not see it: is "
        "CUDA_VISIBLE_DEVICES empty, or was torch built for another CUDA?",
    )


def check_room(folders: tuple[Path, ...]) -> Iterator[Finding]:
    """Look for free space and free files where learners write."""
    for folder in folders:
        try:
            state = os.statvfs(folder)
        except OSError as error:
            yield Finding("room", "failed", f"{folder} cannot be looked at ({error.strerror}).")
            continue
        free = state.f_bavail * state.f_frsize
        if free < LEAST_BYTES:
            yield Finding(
                "room", "failed", f"{folder} has {free / 1e9:.1f} GB left: make room, or choose another."
            )
        elif state.f_files > 0 and state.f_favail < LEAST_FILES:
            yield Finding("room", "failed", f"{folder} can take {state.f_favail} more files: delete some.")
        else:
            yield Finding(
                "room",
                "ok",
                f"{folder} has {free / 1e9:.0f} GB left (a quota below the file system may be less).",
            )


def check_job(site: Site, cluster: str | None, account: str | None) -> Finding:
    """Let the scheduler judge a small job without running it."""
    cluster = cluster or _only_one_here(site)
    with_gpus = any(
        one.gpus for one in site.clusters if cluster in (None, one.id) and not isinstance(one, Cloud)
    )
    request = JobRequest(
        command=("true",),
        cluster=cluster,
        gpu="any" if with_gpus else None,
        time=Duration.parse("5 min"),
        account=account,
        name="doctor",
        output=".",
    )
    try:
        script = write_script(site, request)
    except UsageError as error:
        return Finding("test job", "not checked", str(error))
    return _judge(script)


def _only_one_here(site: Site) -> str | None:
    """Return the cluster whose scheduler's commands are on this machine, if that is one."""
    here = [one.id for one in site.clusters if shutil.which(PROGRAMS.get(one.scheduler, "")) is not None]
    return here[0] if len(here) == 1 else None


def _judge(script: Script) -> Finding:
    program = PROGRAMS[script.kind]
    if shutil.which(program) is None:
        return Finding("test job", "not checked", f"{program} is not here: run mlhpc doctor on a login node.")
    command = [program, "--test-only"] if script.kind == "slurm" else [program, "-dry-run", "-", "-"]
    # Inside a session, the variables of its own job would change what is asked for.
    variables = {
        name: value
        for name, value in os.environ.items()
        if name == "SLURM_CONF" or not name.startswith(("SLURM_", "SBATCH_"))
    }
    try:
        done = subprocess.run(
            command,
            input=script.text,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
            env=variables,
        )
    except subprocess.TimeoutExpired:
        return Finding(
            "test job", "failed", f"{program} gave no answer within {SECONDS} s: is the scheduler up?"
        )
    said = (done.stderr.strip() or done.stdout.strip()).splitlines()
    if done.returncode:
        reason = said[-1] if said else "no message"
        return Finding("test job", "failed", f"{program} refuses a small job: {reason}.")
    return Finding("test job", "ok", f"{program} would take it: {said[0] if said else 'no objection'}.")
