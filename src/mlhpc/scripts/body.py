"""The part of a script that both schedulers share: the environment, staging, and running the command."""

import shlex
from collections.abc import Sequence
from pathlib import PurePosixPath

from mlhpc.scripts.request import JobRequest
from mlhpc.sites.base import fill
from mlhpc.sites.schema import Site, Tier

VARIABLES = {"user": "${USER}", "job_id": "${SLURM_JOB_ID}"}
"""Placeholders of a profile's paths that a job knows by itself."""


def environment_lines(site: Site, request: JobRequest) -> tuple[list[str], list[str]]:
    """Return the lines that make Python ready, and remarks on what is not known."""
    software = site.software
    lines: list[str] = []
    if software.module_setup or software.python.modules:
        lines.append("# Before set -u: modules and environments use variables that may not be set.")
    if software.module_setup:
        lines += ["# shellcheck source=/dev/null", f"source {shlex.quote(software.module_setup)}"]
    lines += [f"module load {shlex.quote(module)}" for module in software.python.modules]
    activation, remarks = _activation(site, request)
    return [*lines, *activation], remarks


def _activation(site: Site, request: JobRequest) -> tuple[list[str], list[str]]:
    if request.environment is not None:
        return ["# shellcheck source=/dev/null", f"source {_path(request.environment)}/bin/activate"], []
    root = site.course.root
    shown = fill(root, VARIABLES) if root else None
    if shown and "{" not in shown:
        return ["# shellcheck source=/dev/null", f'source "{shown}/.venv/bin/activate"'], []
    where = f" (the course's would be {root}/.venv)" if root else ""
    sentence = f"Not known: the folder of your Python environment{where}. Name it with --environment."
    return [f"# {sentence}"], [sentence]


def thread_lines() -> list[str]:
    """Return the settings that keep Python to its own packages and threads to the cores of the job."""
    return [
        "export PYTHONNOUSERSITE=1  # packages in ~/.local would shadow those of the environment",
        "export PYTHONUNBUFFERED=1  # print appears in the log at once",
    ]


def stage_in_lines(site: Site, cluster: str, request: JobRequest) -> tuple[list[str], list[str]]:
    """Return the lines that make the working folder and copy files into it, and remarks."""
    tier = next(site.tiers(cluster, "job-local"), None)
    base, remarks = _job_local(tier)
    lines = [
        "",
        "# Work in storage of this node. It is gone after the job, so results are copied back at the end.",
        "submitted_from=$PWD",
        f"node_local={base}",
        'mkdir -p -- "$node_local"',
        'work=$(mktemp -d -- "$node_local/work.XXXXXX")',
        f'results="$submitted_from"/{_path(f"{request.output}/results")}-"$SLURM_JOB_ID"',
        *_stage_out(request.stage_out),
        *(f'cp -R -- {_source(path)} "$work"/' for path in request.stage_in),
        'cd -- "$work"',
    ]
    return lines, remarks


def _job_local(tier: Tier | None) -> tuple[str, list[str]]:
    if tier is not None and tier.variable:
        return f'"${{{tier.variable}:?this job has no node-local folder}}"', []
    shown = fill(tier.path, VARIABLES) if tier is not None and tier.path else None
    if shown and "{" not in shown:
        return f'"{shown}"', []
    return '"${TMPDIR:-/tmp}"', [
        "Not known: the node-local folder of a job. The script uses $TMPDIR, or /tmp."
    ]


def _stage_out(paths: Sequence[str]) -> list[str]:
    """Return the function that runs at the end, whatever the end is, and the trap that calls it."""
    copies = [
        '    for name in "${outputs[@]}"; do',
        '        [ -e "$work/$name" ] || { echo "not made: $name" >&2; continue; }',
        '        mkdir -p -- "$(dirname -- "$results/$name")" || { kept=1; continue; }',
        '        cp -R -- "$work/$name" "$results/$name" || kept=1',
        "    done",
    ]
    names = " ".join(_path(path) for path in paths)
    return [
        *([f"outputs=({names})"] if paths else []),
        "stage_out() {",
        "    status=$?",
        "    trap - EXIT",
        "    trap '' TERM INT  # being told twice must not stop the copying",
        "    kept=0",
        *(copies if paths else []),
        '    if [ "$kept" = 1 ]; then',
        '        echo "results could not be copied back; they are in $work on $(hostname)" >&2',
        '        [ "$status" -ne 0 ] || status=1',
        "    else",
        '        cd / && rm -rf -- "$work"',
        "    fi",
        '    exit "$status"',
        "}",
        "trap stage_out EXIT",
    ]


def command_lines(request: JobRequest) -> list[str]:
    """Return the command as one line of a shell script, after a note to shellcheck where it needs one."""
    command = shlex.join(request.command)
    note = ["# shellcheck disable=SC2016  # passed on as it was given, without expansion"]
    return [*(note if "$" in command or "`" in command else []), command]


def run_lines(request: JobRequest) -> list[str]:
    """Return the lines that run the command, and pass signals on where that matters."""
    *about, command = command_lines(request)
    if request.signal is None and not request.staged:
        return ["", *about, command]
    forwarded = sorted({"TERM", *([request.signal] if request.signal else [])})
    return [
        "",
        "# In the background: bash handles a signal only between commands. Each is passed on to the command.",
        *about,
        f"{command} &",
        "child=$!",
        *(f"trap 'kill -{name} \"$child\" 2>/dev/null || true' {name}" for name in forwarded),
        "# A signal ends wait early: wait until the command has ended; its status is then the script's.",
        'while kill -0 "$child" 2>/dev/null; do wait "$child" || true; done',
        'wait "$child"',
    ]


def unstaged(request: JobRequest) -> list[str]:
    """Return a remark for each argument that looks like a file of the submit folder and is not staged."""
    if not request.staged:
        return []
    names = {PurePosixPath(path).name for path in request.stage_in}
    scripts = [
        part
        for part in request.command
        if part.endswith((".py", ".sh", ".r", ".jl"))
        and not part.startswith("/")
        and part.split("/")[0] not in names
    ]
    return [
        f"The command runs in the node-local folder, where {part} is not: add --stage-in {shlex.quote(part)}."
        for part in scripts
    ]


def _source(path: str) -> str:
    return _path(path) if path.startswith("/") else f'"$submitted_from"/{_path(path)}'


def _path(path: str) -> str:
    """Return a path quoted for the shell, and safe from being read as an option."""
    return shlex.quote(f"./{path}" if path.startswith("-") else path)
