"""How this process came to run here: in a job, in an Open OnDemand session, on a login node, on a laptop."""

import re
import shutil

from mlhpc.machine.model import Scheduler, SessionKind
from mlhpc.machine.sources import Sources

SUBMIT_COMMANDS = ("sbatch", "condor_submit", "qsub")

# Open OnDemand sets no variable of its own inside a job. What marks its sessions (the dashboard's
# app/models/batch_connect/session.rb): the job name PORTAL/sys/dashboard/(sys|dev|usr)/APP, with another
# separator where the scheduler forbids slashes, and the folder that it submits from,
# .../batch_connect/.../output/SESSION-ID.
_JOB_NAME = re.compile(r"(?:^|[/_-])sys[/_-]dashboard[/_-](?:sys|dev|usr)[/_-]")
_FOLDER = re.compile(r"/batch_connect/(?:.+/)?output/[0-9a-f]{8}-[0-9a-f-]{27}(?:/|$)")


def session_kind(sources: Sources, scheduler: Scheduler | None) -> SessionKind:
    """Return the kind of session; a machine that is none of the others counts as a laptop."""
    environment = sources.environment
    if _is_ondemand(sources, scheduler):
        return "ondemand"
    if scheduler is not None:
        return "batch"
    if environment.get("CI", "").lower() not in ("", "0", "false"):
        return "continuous-integration"
    path = environment.get("PATH", "")
    if any(shutil.which(command, path=path) for command in SUBMIT_COMMANDS):
        return "login"
    return "laptop"


def _is_ondemand(sources: Sources, scheduler: Scheduler | None) -> bool:
    """Say whether this is an interactive session of Open OnDemand.

    Only what the scheduler sets anew for each job counts: a job that someone submits from a notebook inherits
    the variables of the session, but has its own name and folder. A session outside of any job (the portal's
    Linux host adapter) is known by the folder that it starts in.
    """
    environment = sources.environment
    if scheduler is not None and _JOB_NAME.search(environment.get("SLURM_JOB_NAME", "")):
        return True
    folder = environment.get("SLURM_SUBMIT_DIR" if scheduler is not None else "PWD", "")
    return bool(_FOLDER.search(folder))
