"""Writes ``book/sites/NAME.md``, the page "Your cluster" of each site that a build shows.

The pages are made and not kept: a new profile has its page at the next build.
"""

from pathlib import Path

from mlhpc.files import write_atomically
from mlhpc.sites.load import load_site, site_ids
from mlhpc.sites.schema import Site

MARK = "<!-- Made by book/site_pages.py from the profile; changes are lost. -->"
SECTIONS = (
    ("Where jobs go", "partitions"),
    ("GPUs", "gpus"),
    ("Storage", "storage"),
    ("Limits and access", "limits"),
    ("Software", "software"),
    ("Where sources disagree", "conflicts"),
    ("What is not known", "unknown"),
    ("Sources", "sources"),
)


def page_text(site: Site) -> str:
    """Return the page of one site as MyST text."""
    lines = [
        MARK,
        "",
        f"(site-{site.id})=",
        "",
        f"# {site.site.name}",
        "",
        f"```{{site-about}} {site.id}\n```",
        "",
    ]
    for title, kind in SECTIONS:
        lines += [f"## {title}", ""]
        if kind == "storage":
            lines += [f"```{{storage-picture}} {site.id}\n```", ""]
        lines += [f"```{{site-rows}} {site.id} {kind}\n```", ""]
    return "\n".join(lines)


def write_pages(book: Path, only: str | None) -> None:
    """Write the pages of all sites, or of the one called ``only``, and remove those of others.

    Raises:
        UsageError: if there is no such site.
        MlhpcError: if a profile is faulty, or the folder cannot be written.
    """
    names = (only,) if only else site_ids()
    texts = {name: page_text(load_site(name)) for name in names}
    folder = book / "sites"
    for path in folder.glob("*.md"):
        if path.stem not in texts and path.read_text(encoding="utf-8").startswith(MARK):
            path.unlink()
    for name, text in texts.items():
        path = folder / f"{name}.md"
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            write_atomically(path, text)
