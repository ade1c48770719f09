"""The scheduler's job that this process belongs to, from what Slurm and HTCondor leave in its environment.

Slurm: the section on output environment variables of ``man sbatch`` and ``man srun``. HTCondor: "Services for
Running Jobs" in its manual (``_CONDOR_JOB_AD`` and ``_CONDOR_MACHINE_AD`` name two files of attributes).
"""

import re

from mlhpc.machine.model import Scheduler
from mlhpc.machine.sources import Sources


def read_scheduler(sources: Sources) -> Scheduler | None:
    """Return the innermost job; None outside of any.

    A pilot of HTCondor may itself run inside a Slurm job: the slot that HTCondor gave is then what counts.
    """
    return _read_htcondor(sources) or _read_slurm(sources)


def granted_memory(sources: Sources) -> int | None:
    """Return the bytes of memory that the scheduler gave this job here; None where it does not say."""
    mebibyte = 2**20
    job = read_scheduler(sources)
    if job is not None and job.kind == "htcondor":
        megabytes = _whole(_attributes(sources, "MACHINE").get("memory"))
        return megabytes * mebibyte if megabytes else None
    per_node = sources.integer("SLURM_MEM_PER_NODE")
    if per_node:
        return per_node * mebibyte
    per_core, cores = sources.integer("SLURM_MEM_PER_CPU"), job.cores if job is not None else None
    return per_core * cores * mebibyte if per_core and cores else None


def granted_cores(sources: Sources) -> int | None:
    """Return the cores meant for this process: its task's where Slurm started several, else the job's."""
    job = read_scheduler(sources)
    if job is None or job.kind == "htcondor":
        return job.cores if job is not None else None
    tasks = sources.integer("SLURM_STEP_NUM_TASKS") or 1
    return job.cores if tasks == 1 else sources.integer("SLURM_CPUS_PER_TASK")


def _read_slurm(sources: Sources) -> Scheduler | None:
    job_id = sources.environment.get("SLURM_JOB_ID")
    if not job_id:
        return None
    return Scheduler(
        kind="slurm",
        job_id=job_id,
        cluster=sources.environment.get("SLURM_CLUSTER_NAME"),
        partition=sources.environment.get("SLURM_JOB_PARTITION"),
        cores=sources.integer("SLURM_CPUS_ON_NODE") or _cores_of_node(sources),
    )


def _cores_of_node(sources: Sources) -> int | None:
    """Return this node's entry of ``SLURM_JOB_CPUS_PER_NODE``, for instance ``72(x2),36``."""
    per_node: list[int] = []
    for part in sources.environment.get("SLURM_JOB_CPUS_PER_NODE", "").split(","):
        match = re.fullmatch(r"(\d{1,6})(?:\(x(\d{1,6})\))?", part.strip())
        if match is None:
            return None
        per_node += [int(match[1])] * int(match[2] or 1)
    node = sources.integer("SLURM_NODEID") or 0
    return per_node[node] if node < len(per_node) else None


def _read_htcondor(sources: Sources) -> Scheduler | None:
    job = _attributes(sources, "JOB")
    cluster, process = _whole(job.get("clusterid")), _whole(job.get("procid"))
    if cluster is None or process is None:
        return None
    machine = _attributes(sources, "MACHINE")
    site = machine.get("glidein_site", "").strip('"')
    return Scheduler(
        kind="htcondor",
        job_id=f"{cluster}.{process}",
        cluster=site or None,
        partition=None,
        cores=_whole(machine.get("cpus")),
    )


def _attributes(sources: Sources, which: str) -> dict[str, str]:
    """Return the attributes of the job's or the slot's ClassAd file; their names ignore case: lower here."""
    path = sources.environment.get(f"_CONDOR_{which}_AD")
    if path is None and "_CONDOR_SCRATCH_DIR" in sources.environment:
        path = f"{sources.environment['_CONDOR_SCRATCH_DIR']}/.{which.lower()}.ad"
    fields: dict[str, str] = {}
    for line in (sources.text(path) or "").splitlines() if path else ():
        name, separator, value = line.partition("=")
        if separator:
            fields[name.strip().lower()] = value.strip()
    return fields


def _whole(text: str | None) -> int | None:
    return int(text) if text and text.isascii() and text.isdigit() else None
