"""The app's files, made from the templates in ``ondemand/app`` and a site's profile."""

import json
import re
from collections.abc import Mapping
from pathlib import Path

import yaml

from mlhpc import __version__
from mlhpc.errors import MlhpcError
from mlhpc.ondemand.choices import Choice
from mlhpc.ondemand.folder import AppFile
from mlhpc.ondemand.form import Form, form
from mlhpc.ondemand.readme import readme
from mlhpc.ondemand.request import AppRequest
from mlhpc.ondemand.variant import class_form
from mlhpc.paths import course_root

TEMPLATES = Path("ondemand") / "app"
WRITTEN = "# Written by `mlhpc ondemand build` from the profile of {site}: change that, and build again.\n"


def app_files(request: AppRequest) -> Mapping[str, AppFile]:
    """Return all files of the app by their relative path.

    Raises:
        UsageError: if the class fixes what the cluster does not offer.
        MlhpcError: if the templates cannot be read.
    """
    written = WRITTEN.format(site=request.site.id)
    files = _templates()
    files["manifest.yml"] = AppFile(written + _yaml(_manifest(request)))
    files["form.yml.erb"] = AppFile(written + _erb_text(_yaml(form(request))))
    files["submit.yml.erb"] = AppFile(
        files["submit.yml.erb"].text.replace("@@choices@@", _table(request.choices))
    )
    if request.variant is not None:
        local = class_form(request, request.variant)
        files[f"local/{request.variant.name}.yml.erb"] = AppFile(written + _erb_text(_yaml(local)))
    files["README.md"] = AppFile(readme(files["README.md"].text, request))
    # The portal shows it as the app's version.
    files["VERSION"] = AppFile(f"{__version__}\n")
    return files


def _templates() -> dict[str, AppFile]:
    folder = course_root() / TEMPLATES
    found = {}
    try:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                name = path.relative_to(folder).as_posix()
                executable = bool(path.stat().st_mode & 0o100)
                found[name] = AppFile(path.read_text(encoding="utf-8"), executable)
    except OSError as error:
        raise MlhpcError(f"Cannot read the app's template {error.filename}: {error.strerror}.") from error
    if not {"submit.yml.erb", "README.md"} <= found.keys():
        raise MlhpcError(f"The app's templates are not in {folder}: get a whole checkout of the course.")
    return found


def _manifest(request: AppRequest) -> Form:
    return {
        "name": "ML on HPC",
        "category": "Interactive Apps",
        "subcategory": "Courses",
        "role": "batch_connect",
        "description": "JupyterLab with the course ML on HPC: its notebooks, its packages and its kernel, on "
        f"{request.cluster.name}.\n",
    }


def _table(rows: tuple[Choice, ...]) -> str:
    """Return what submit.yml.erb knows of each choice: YAML, one line each, safe inside an ERB tag."""
    lines = []
    for row in rows:
        values = {
            "name": f"the partition {row.partition}" if row.partition else "the portal",
            "partition": row.partition,
            "gpu": list(row.gpu_options) or None,
            **{
                key: limit if isinstance(limit := row.limit(key), int) else None
                for key in ("hours", "cores", "memory", "gpus")
            },
            "fixed_share": row.fixed_share,
        }
        text = f"{json.dumps(row.key)}: {json.dumps(values)}"
        lines.append("    " + re.sub("[<%>]", lambda match: f"\\u{ord(match[0]):04x}", text))
    return "\n".join(lines)


class _Dumper(yaml.SafeDumper):
    """Without anchors, which the portal's reader refuses."""

    def ignore_aliases(self, data: object) -> bool:
        return True

    def text(self, data: str) -> yaml.ScalarNode:
        """Quote all but plain words: Ruby takes 01:00 for a number and :a for a symbol, unlike Python."""
        style = "|" if "\n" in data else None if re.fullmatch("[A-Za-z_]+", data) else '"'
        return self.represent_scalar("tag:yaml.org,2002:str", data, style)


_Dumper.add_representer(str, _Dumper.text)


def _yaml(content: Form) -> str:
    # ASCII, as the portal reads the files in whatever locale its web server has.
    return yaml.dump(content, Dumper=_Dumper, sort_keys=False, allow_unicode=False, width=110)


def _erb_text(text: str) -> str:
    """Return text that ERB prints as it is."""
    return text.replace("<%", "<%%")
