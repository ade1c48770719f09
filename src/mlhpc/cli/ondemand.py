"""``mlhpc ondemand ...``: an Open OnDemand app for the course."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from mlhpc.ondemand.request import ClassVariant


def register(app: typer.Typer) -> None:
    """Add the commands to the application."""
    ondemand = typer.Typer(help="Make the course's Open OnDemand app for a site.", no_args_is_help=True)
    ondemand.callback()(_group)
    ondemand.command("build")(build)
    app.add_typer(ondemand, name="ondemand")


def _group() -> None:
    """Make the course's Open OnDemand app for a site."""


def build(
    site: Annotated[str, typer.Option(help="Profile to follow: a name from `mlhpc site list`, or a file.")],
    out: Annotated[Path, typer.Option(help="Folder to write; it must not exist yet.")],
    cluster: Annotated[str | None, typer.Option(help="Cluster of the site, if it has several.")] = None,
    cluster_id: Annotated[
        str | None, typer.Option(help="What the portal calls the cluster. (default: the profile's)")
    ] = None,
    course_root: Annotated[
        str | None,
        typer.Option(help="Folder with the course that all learners can read. (default: the profile's)"),
    ] = None,
    environment: Annotated[
        str | None, typer.Option(help="Folder of the Python environment. (default: .venv in the course's)")
    ] = None,
    files: Annotated[
        str, typer.Option(help="Folder inside the course's that learners get a copy of.")
    ] = "learner",
    learner_folder: Annotated[
        str,
        typer.Option(
            help="Where: a folder of the home folder, or an absolute path; {user} stands for the name."
        ),
    ] = "ml-on-hpc",
    class_: Annotated[
        str | None, typer.Option("--class", help="Add a variant for a class of this name.")
    ] = None,
    account: Annotated[str | None, typer.Option(help="Class: account to charge.")] = None,
    reservation: Annotated[str | None, typer.Option(help="Class: reservation to use.")] = None,
    hours: Annotated[int | None, typer.Option(help="Class: length of a session.")] = None,
    partition: Annotated[str | None, typer.Option(help="Class: partition.")] = None,
    gpu: Annotated[str | None, typer.Option(help="Class: kind of GPU, `any` or `none`.")] = None,
    gpus: Annotated[int | None, typer.Option(help="Class: number of GPUs.")] = None,
    cores: Annotated[int | None, typer.Option(help="Class: number of cores.")] = None,
    memory: Annotated[str | None, typer.Option(help="Class: main memory with its unit: '16 GiB'.")] = None,
    csc: Annotated[
        bool,
        typer.Option("--csc", help="Write course files for CSC's 'Jupyter for courses' in place of an app."),
    ] = False,
    git_repo: Annotated[
        str | None, typer.Option(help="With --csc: address of the course's repository.")
    ] = None,
    git_ref: Annotated[str | None, typer.Option(help="With --csc: branch, tag or commit.")] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace a folder that this command wrote and nobody changed.")
    ] = False,
) -> None:
    """Write an Open OnDemand app that follows a site's limits.

    What the profile does not know has no limit in the form, and says whom to ask. The README in the folder
    says how to install it.
    """
    from mlhpc.ondemand.build import app_files
    from mlhpc.ondemand.csc import CscCourse, csc_files
    from mlhpc.ondemand.folder import write_folder
    from mlhpc.ondemand.readme import remarks
    from mlhpc.ondemand.request import app_request
    from mlhpc.sites.load import load_site

    variant = _variant(
        class_,
        account=account,
        reservation=reservation,
        hours=hours,
        partition=partition,
        gpu=gpu,
        gpus=gpus,
        cores=cores,
        memory=memory,
    )
    request = app_request(
        load_site(site),
        cluster=cluster,
        portal_cluster=cluster_id,
        course_root=course_root,
        environment=environment,
        files=files,
        learner_folder=learner_folder,
        variant=variant,
        with_portal=not csc,
    )
    _check_git(csc, git_repo, git_ref)
    written = csc_files(request, CscCourse(git_repo or "", git_ref)) if csc else app_files(request)
    write_folder(out, written, force=force)
    typer.echo(f"{out}: {', '.join(sorted(written))}")
    if not csc:
        typer.echo(f"How to install it: {out / 'README.md'}")
    for remark in remarks(request):
        typer.echo(f"note: {remark}", err=True)


def _variant(name: str | None, *, memory: str | None, **fixed: Any) -> "ClassVariant | None":
    from mlhpc.errors import UsageError
    from mlhpc.ondemand.request import ClassVariant
    from mlhpc.scripts.units import read_memory

    size = read_memory(memory)
    gibibytes = size.bytes // 2**30 if size else None
    if name is not None:
        return ClassVariant(name, memory=gibibytes, **fixed)
    given = [key for key, value in (*fixed.items(), ("memory", memory)) if value is not None]
    if given:
        raise UsageError(f"--{given[0]} is fixed for a class: name the class with --class NAME.")
    return None


def _check_git(csc: bool, repository: str | None, revision: str | None) -> None:
    from mlhpc.errors import UsageError

    if csc and repository is None:
        raise UsageError(
            "--csc needs the address that learners' copies are cloned from: --git-repo https://..."
        )
    if not csc and (repository or revision):
        raise UsageError("--git-repo and --git-ref belong to --csc.")
