"""``{{ scratch.path }}`` and the like, in text that is written once and shown for each cluster."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import get_args

from mlhpc.errors import UsageError
from mlhpc.sites.clusters import Cloud, CondorPool, SlurmCluster
from mlhpc.sites.facts import Fact, fact
from mlhpc.sites.schema import Site, Tier

ROLES: tuple[str, ...] = get_args(Tier.model_fields["role"].annotation)
_PLACEHOLDER = re.compile(r"\{\{\s*([^{}\n]*?)\s*\}\}")
_FENCE = re.compile(r"^\s*(`{3,}|~{3,})")
OWN_PLACEHOLDERS = re.compile(r"\{(user|user_initial|project|lab|job_id)\}")
IN_COMMANDS = {
    "user": "$USER",
    "user_initial": "${USER:0:1}",
    "project": "YOUR_PROJECT",
    "lab": "YOUR_LAB",
    "job_id": "$SLURM_JOB_ID",
}
"""How a path's placeholders stand in a command that a reader copies."""


@dataclass
class Filled:
    """Text for one cluster, and the facts in its code that are not known."""

    text: str
    missing: list[Fact] = field(default_factory=list)


def fill(text: str, site: Site, cluster: SlurmCluster | CondorPool | Cloud) -> Filled:
    """Return ``text`` with the placeholders replaced by facts of the cluster.

    In prose, a fact that is not known becomes the box that says whom to ask; in code it becomes a word in
    angle brackets, and is listed in ``missing``.

    Raises:
        UsageError: if a placeholder names no fact.
    """
    filled = Filled("")
    lines = []
    for line, in_code in _with_code(text):

        def replace(match: re.Match[str], in_code: bool = in_code) -> str:
            found = lookup(match[1], site, cluster)
            return _in_code(found, filled) if in_code else _in_prose(found)

        lines.append(_PLACEHOLDER.sub(replace, line))
    filled.text = "\n".join(lines)
    return filled


def _with_code(text: str) -> Iterator[tuple[str, bool]]:
    """Yield each line and whether it stands in a block of code."""
    fence = ""
    for line in text.splitlines():
        match = _FENCE.match(line)
        if match and not fence:
            fence = match[1]
            yield line, False
        elif match and fence and match[1].startswith(fence):
            fence = ""
            yield line, False
        else:
            yield line, bool(fence)


def lookup(name: str, site: Site, cluster: SlurmCluster | CondorPool | Cloud) -> Fact:
    """Return the fact that a placeholder names.

    ``site.NAME`` and ``cluster.NAME`` are keys of the profile; ``ROLE.NAME``, as in ``scratch.path``, is one
    of the cluster's first storage tier with that role, and ``ROLE.place`` its variable or path.

    Raises:
        UsageError: if it names none.
    """
    first, separator, rest = name.partition(".")
    if first == "cluster" and separator:
        return fact(site, f"clusters.{cluster.id}.{rest}")
    if first == "site" and separator:
        return fact(site, f"site.{rest}" if "." not in rest else rest)
    if first in ROLES and separator:
        tier = next(site.tiers(cluster.id, first), None)
        if tier is None:
            return Fact(name, None, (), None, site.site.support)
        if rest == "place":
            found = fact(site, f"storage.{tier.id}.path")
            return Fact(name, tier.place, found.sources, found.conflict, found.ask)
        return fact(site, f"storage.{tier.id}.{rest}")
    known = ", ".join(f"{one}.NAME" for one in ("site", "cluster", *ROLES))
    raise UsageError(f"{{{{ {name} }}}} names no fact: write {known}.")


def _in_prose(found: Fact) -> str:
    if found.text is None:
        return f"{{not-known}}`{found.ask.replace('`', '')}`"
    shown = f"`{found.text}`" if "/" in found.text or "$" in found.text else found.text
    return f"{shown} (sources disagree: {found.conflict.said})" if found.conflict else shown


def _in_code(found: Fact, filled: Filled) -> str:
    if found.text is None:
        if found not in filled.missing:
            filled.missing.append(found)
        return f"<{found.place}: not known>"
    return OWN_PLACEHOLDERS.sub(lambda match: IN_COMMANDS[match[1]], found.text)
