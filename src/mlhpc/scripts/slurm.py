"""A batch script for Slurm."""

import math
import shlex

from mlhpc.errors import UsageError
from mlhpc.scripts.body import environment_lines, run_lines, stage_in_lines, thread_lines, unstaged
from mlhpc.scripts.choose import choose_gpu, choose_partition
from mlhpc.scripts.limits import check_limits, disagreements, remarks_on
from mlhpc.scripts.request import JobRequest, Script
from mlhpc.sites.clusters import Gpu, Partition, SlurmCluster, SlurmGpu, SlurmGpuRequest
from mlhpc.sites.quantities import Duration
from mlhpc.sites.schema import Site

UNPRINTABLE = (
    "must be printable, without quotes, backslashes, '#' and line breaks, as it stands on an #SBATCH line"
)


def slurm_script(site: Site, cluster: SlurmCluster, request: JobRequest) -> Script:
    """Return the batch script for a request at a Slurm cluster.

    Raises:
        UsageError: if the cluster does not allow the request.
    """
    gpu = choose_gpu(cluster, request)
    row, why = choose_partition(cluster, request, gpu)
    if row is not None:
        check_limits(cluster, row, request)
    options, remarks = _options(site, cluster, request, gpu, row, why)
    environment, more = environment_lines(site, request)
    staging, about_storage = stage_in_lines(site, cluster.id, request) if request.staged else ([], [])
    lines = [
        "#!/bin/bash",
        *options,
        "",
        "set -eo pipefail",
        *environment,
        "set -u",
        "",
        *thread_lines(),
        'export OMP_NUM_THREADS="$SLURM_CPUS_PER_TASK"  # as many threads as cores of this job',
        'export SRUN_CPUS_PER_TASK="$SLURM_CPUS_PER_TASK"  # since Slurm 22.05 srun does not take it over',
        *staging,
        *run_lines(request),
    ]
    remarks += [*more, *about_storage, *unstaged(request)]
    remarks += disagreements(site, cluster, row, gpu, storage=request.staged)
    name = f"{request.name}.sh"
    submit = (f"mkdir -p -- {shlex.quote(request.output)}", f"sbatch {shlex.quote(name)}")
    return Script("slurm", "\n".join(lines) + "\n", name, submit, remarks=tuple(remarks))


def _options(
    site: Site, cluster: SlurmCluster, request: JobRequest, gpu: Gpu | None, row: Partition | None, why: str
) -> tuple[list[str], list[str]]:
    """Return the #SBATCH lines and the remarks that go with them."""
    lines = [f"--job-name={request.name}", "--ntasks=1"]
    comments: list[str] = []
    remarks: list[str] = []
    if row is not None:
        lines.append(f"--partition={row.name}")
        comments.append(f"# Partition {row.name}: {why}.")
        remarks += remarks_on(cluster, row, request)
    elif request.partition is not None:
        lines.append(f"--partition={request.partition}")
    else:
        comments.append(f"# Not known: the partition. Ask {site.site.support}, or list them with: sinfo -s")
        remarks.append(f"Not known: the partitions of {cluster.name}; the scheduler's default is used.")
    lines += _gpu_options(cluster, request, gpu)
    if row is None or row.allocation != "per-gpu":
        lines.append(f"--cpus-per-task={request.cores}")
        lines += [f"--mem={request.memory.mebibytes}M"] if request.memory else []
    lines += [f"--time={slurm_time(request.time)}"] if request.time else []
    if request.time is None:
        remarks.append("No time was named: the partition's default applies, which may be short.")
    account, about_account = _account(cluster, request)
    lines += account
    remarks += about_account
    lines += [f"--reservation={request.reservation}"] if request.reservation else []
    lines += [f"--signal=B:{request.signal}@{request.signal_seconds}"] if request.signal else []
    lines.append(f"--output={_log(request.output)}")
    comments.append("# The folder of the log must exist before the job starts, or the job fails without one.")
    return [f"#SBATCH {line}" for line in lines] + comments, remarks


def _gpu_options(cluster: SlurmCluster, request: JobRequest, gpu: Gpu | None) -> tuple[str, ...]:
    if request.gpu is None:
        return ()
    if isinstance(gpu, SlurmGpu):
        return gpu.request.options(request.gpus)
    first = next(iter(cluster.gpus), None)
    option = first.request.option if first else "gpus-per-node"
    return SlurmGpuRequest(option=option).options(request.gpus)


def _account(cluster: SlurmCluster, request: JobRequest) -> tuple[list[str], list[str]]:
    if request.account is not None:
        return [f"--account={request.account}"], []
    if cluster.account.required and request.placeholders:
        return ["--account=YOUR_ACCOUNT"], []
    if cluster.account.required:
        example = f", which looks like {cluster.account.example}" if cluster.account.example else ""
        raise UsageError(f"{cluster.name} needs an account{example}: name yours with --account.")
    unknown = f"Not known: whether {cluster.name} needs --account."
    return [], [unknown] if cluster.account.required is None else []


def _log(folder: str) -> str:
    """Return the log's name pattern, quoted as sbatch reads it from a script.

    In Slurm, ``%%`` stands for a percent sign.

    Raises:
        UsageError: if the folder's name cannot stand there.
    """
    if not folder or not folder.isprintable() or set(folder) & set("\"'\\#`$"):
        raise UsageError(f"The output folder {folder!r} {UNPRINTABLE}.")
    pattern = folder.replace("%", "%%").rstrip("/") + "/%x-%j.out"
    return f'"{pattern}"' if any(character.isspace() for character in pattern) else pattern


def slurm_time(time: Duration) -> str:
    """Return a time as Slurm writes it, ``D-HH:MM:SS``, rounded up to whole minutes as Slurm counts."""
    minutes = math.ceil(time.seconds / 60)
    days, minutes = divmod(minutes, 24 * 60)
    hours, minutes = divmod(minutes, 60)
    return f"{days}-{hours:02}:{minutes:02}:00" if days else f"{hours:02}:{minutes:02}:00"
