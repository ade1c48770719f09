"""All checks, one after the other."""

from collections.abc import Iterator
from pathlib import Path

from mlhpc.doctor.environment import check_python, check_readable
from mlhpc.doctor.finding import Finding
from mlhpc.doctor.kernel import check_kernel
from mlhpc.doctor.places import check_gpu, check_job, check_room
from mlhpc.paths import home_folder
from mlhpc.sites.schema import Site


def examine(
    site: Site, course: Path, environment: Path, *, cluster: str | None = None, account: str | None = None
) -> Iterator[Finding]:
    """Yield each finding as soon as it is there."""
    yield check_python(environment)
    yield check_readable(environment, course)
    yield check_kernel()
    yield check_gpu()
    home = home_folder()
    if home is None:
        yield Finding("room", "failed", "This account has no home folder: set HOME to a folder of its own.")
    yield from check_room((course,) if home is None else (home, course))
    yield check_job(site, cluster, account)
