"""Reading profiles: by the site's name, from a file, or all of them."""

import difflib
import os
from pathlib import Path

from mlhpc.errors import MlhpcError, UsageError
from mlhpc.paths import course_root
from mlhpc.sites.check import faults
from mlhpc.sites.schema import Site
from mlhpc.yaml_lines import LocatedYaml, load_yaml, parse_yaml, validate


def sites_folder() -> Path:
    """Return ``data/sites`` of the checkout; ``MLHPC_SITES`` overrides it."""
    setting = os.environ.get("MLHPC_SITES")
    return Path(setting) if setting else course_root() / "data" / "sites"


def site_ids() -> tuple[str, ...]:
    """Return the names of the profiles of the course, in alphabetical order."""
    return tuple(sorted(path.stem for path in sites_folder().glob("*.yml")))


def find_profile(name: str) -> Path:
    """Return the file of a profile: of the course's one with this name, or the file that ``name`` leads to.

    Raises:
        UsageError: if there is neither; names the nearest profile.
    """
    if "/" in name or name.endswith((".yml", ".yaml")):
        return Path(name)
    known = site_ids()
    if name in known:
        return sites_folder() / f"{name}.yml"
    close = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {close[0]}?" if close else f"known are {', '.join(known)}"
    raise UsageError(f"No site profile named {name!r}; {hint} (or name a file: ./{name}.yml).")


def read_profile(path: Path) -> tuple[Site, LocatedYaml]:
    """Return a profile and the places of its keys, checked for its types only.

    Raises:
        MlhpcError: if the file cannot be read or does not follow the schema: one line per fault.
    """
    located = load_yaml(path)
    return validate(Site, located), located


def load_site(name: str) -> Site:
    """Return a profile by its name or file, checked for its types and across its rows.

    Raises:
        UsageError: if there is no such profile.
        MlhpcError: if the file cannot be read or a check fails: one line per fault, with file, line and key.
    """
    return checked(*read_profile(find_profile(name)))


def check_text(text: str, path: Path) -> Site:
    """Return the profile that ``text`` holds, checked like one in the file ``path``.

    Raises:
        MlhpcError: if it is not valid or a check fails: one line per fault.
    """
    located = parse_yaml(text, path)
    return checked(validate(Site, located), located)


def checked(site: Site, located: LocatedYaml) -> Site:
    """Return ``site`` if its rows agree with each other.

    Raises:
        MlhpcError: if they do not: one line per fault, with file, line and key.
    """
    found = faults(site)
    if found:
        raise MlhpcError("\n".join(located.fault(fault.place, fault.reason) for fault in found))
    return site


def load_sites() -> tuple[Site, ...]:
    """Return all profiles of the course, in alphabetical order of their names.

    Raises:
        MlhpcError: as ``load_site``.
    """
    return tuple(load_site(name) for name in site_ids())
