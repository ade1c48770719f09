"""A submit description for HTCondor, and the wrapper that it runs."""

import shlex
from collections.abc import Sequence

from mlhpc.errors import UsageError
from mlhpc.scripts.body import command_lines, thread_lines
from mlhpc.scripts.choose import choose_category, choose_gpu
from mlhpc.scripts.request import JobRequest, Script
from mlhpc.sites.clusters import CondorGpu, CondorPool, JobCategory
from mlhpc.sites.schema import Site


def condor_script(site: Site, pool: CondorPool, request: JobRequest) -> Script:
    """Return the submit description and its wrapper for a request at an HTCondor pool.

    The command stands in the wrapper and not in ``arguments``, so that it needs one kind of quoting only.

    Raises:
        UsageError: if the pool does not allow the request, or a file's name cannot stand in the description.
    """
    if request.signal is not None:
        raise UsageError(
            "HTCondor sends no signal before the time is up: let the program save a checkpoint and end with "
            "exit code 85, and leave --signal out."
        )
    gpu = choose_gpu(pool, request)
    category = choose_category(pool, request)
    wrapper = f"{request.name}.sh"
    lines, remarks = _resources(pool, request, gpu if isinstance(gpu, CondorGpu) else None, category)
    container, about_container = _container(site)
    text = [
        f"# {request.name}.sub: submit with condor_submit {request.name}.sub",
        *container,
        f"executable = {wrapper}",
        "",
        *lines,
        "",
        "# Files travel with the job: it starts in an empty folder on a machine that shares none of yours.",
        "should_transfer_files = YES",
        "when_to_transfer_output = ON_EXIT",
        *_transfers(request),
        "",
        *(f"{kind} = {_log(request)}.{suffix}" for kind, suffix in LOGS),
        f"log = {_folder(request)}/{request.name}.$(Cluster).log",
        "",
        "queue",
    ]
    submit = (f"mkdir -p -- {shlex.quote(request.output)}", f"condor_submit {request.name}.sub")
    return Script(
        "htcondor",
        "\n".join(text) + "\n",
        f"{request.name}.sub",
        submit,
        {wrapper: _wrapper(request)},
        (*remarks, *about_container),
    )


LOGS = (("output", "out"), ("error", "err"))


def _wrapper(request: JobRequest) -> str:
    *about, command = command_lines(request)
    lines = [
        "#!/bin/bash",
        "set -euo pipefail",
        *thread_lines(),
        "# HTCondor sets OMP_NUM_THREADS to the cores of the slot.",
        'export OMP_NUM_THREADS="${OMP_NUM_THREADS:-1}"',
        "",
        *about,
        f"exec {command}",
    ]
    return "\n".join(lines) + "\n"


def _resources(
    pool: CondorPool, request: JobRequest, gpu: CondorGpu | None, category: JobCategory | None
) -> tuple[list[str], list[str]]:
    remarks: list[str] = []
    lines = [f"request_cpus = {request.cores}"]
    if request.memory is not None:
        lines.append(f"request_memory = {request.memory.mebibytes} MB")
    else:
        remarks.append("No memory was named: the pool's default applies, which is small; use --memory.")
    remarks.append(
        "Not known: the disk that the job needs; add request_disk with its unit, for instance 10 GB."
    )
    if request.gpu is not None:
        lines += gpu.request.lines(request.gpus) if gpu else [f"request_gpus = {request.gpus}"]
    if category is not None:
        about = f"# Jobs of this class end after {category.max_time}." if category.max_time else ""
        lines += [*([about] if about else []), *category.lines()]
        if category.preemptible:
            remarks.append("The job may be interrupted and start again elsewhere: save checkpoints.")
        if category.note:
            remarks.append(f"The profile says of the class {category.name}: {category.note}")
    lines += _account(pool, request, remarks)
    if request.time is not None:
        lines.append(f"allowed_execute_duration = {round(request.time.seconds)}")
    return lines, remarks


def _account(pool: CondorPool, request: JobRequest, remarks: list[str]) -> list[str]:
    attribute = pool.account.attribute
    if request.account is None and pool.account.required and not request.placeholders:
        raise UsageError(f"{pool.name} needs a project: name yours with --account.")
    name = request.account or ("YOUR_PROJECT" if pool.account.required else None)
    if name and attribute:
        return [f'{attribute} = "{name}"']
    if name:
        remarks.append(
            f"Not known: which attribute names the account at {pool.name}; the script leaves it out."
        )
    return []


def _container(site: Site) -> tuple[list[str], list[str]]:
    if site.software.container is None:
        return ["universe = vanilla"], []
    sentence = "Not known: the container image with your environment; set container_image."
    return [f"# {sentence}", "# container_image = osdf:///PATH/TO/IMAGE.sif"], [sentence]


def _transfers(request: JobRequest) -> list[str]:
    lines = []
    for key, paths in (
        ("transfer_input_files", request.stage_in),
        ("transfer_output_files", request.stage_out),
    ):
        if paths:
            lines.append(f"{key} = {_file_list(paths)}")
    return lines


def _file_list(paths: Sequence[str]) -> str:
    """Return a list of files as HTCondor separates it: by commas, with no way to write one in a name."""
    for path in paths:
        if (
            not path.isprintable()
            or set(path) & set(",$\"'\\#")
            or path != path.strip()
            or path.endswith("/")
        ):
            raise UsageError(
                f"HTCondor cannot transfer {path!r}: names must be printable, without commas, quotes, '$', "
                "'#' and backslashes, and not end with '/' or a blank. Rename it, or put it into an archive."
            )
    return ", ".join(paths)


def _folder(request: JobRequest) -> str:
    folder = request.output
    if not folder or not folder.isprintable() or set(folder) & set("$\"'\\#") or folder != folder.strip():
        raise UsageError(
            f"The output folder {folder!r} must be printable, without quotes, '$', '#' and backslashes."
        )
    return folder.rstrip("/")


def _log(request: JobRequest) -> str:
    return f"{_folder(request)}/{request.name}.$(Cluster).$(Process)"
