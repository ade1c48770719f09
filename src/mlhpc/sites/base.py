"""What the parts of a profile share: strict models, names, and where a row comes from."""

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

Identifier = Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]
"""Lower-case words and numbers joined by hyphens; part of addresses on the site and of file names."""

Known = Literal["yes", "no"]

PLACEHOLDERS: Mapping[str, str] = {
    "user": "your login name",
    "user_initial": "the first letter of your login name",
    "project": "your project's name",
    "lab": "your group's name",
    "job_id": "the job's number",
}
"""What may stand in braces in a path of a profile, and what it means."""

_BRACES = re.compile(r"\{([^{}]*)\}")


class Model(BaseModel):
    """A part of a profile: no unknown keys, no infinite numbers, never changed once read."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, use_attribute_docstrings=True)


def _as_tuple(value: Any) -> Any:
    """Allow one word in place of a list of one."""
    return (value,) if isinstance(value, str) else value


def _check_braces(path: str) -> str:
    for name in _BRACES.findall(path):
        if name not in PLACEHOLDERS:
            known = ", ".join(f"{{{one}}}" for one in PLACEHOLDERS)
            raise ValueError(f"{{{name}}} is not a placeholder; known here: {known}")
    if "{" in _BRACES.sub("", path) or "}" in _BRACES.sub("", path):
        raise ValueError("a brace is left open")
    if any(ord(character) < 32 or character in "\"'`\\" for character in path):
        raise ValueError("a path with quotes, backslashes or control characters is not supported")
    return path


Words = Annotated[tuple[str, ...], BeforeValidator(_as_tuple, json_schema_input_type=str | tuple[str, ...])]
"""A list of words; one word may stand without brackets."""

PathTemplate = Annotated[str, Field(min_length=1), AfterValidator(_check_braces)]
"""A path with placeholders in braces, for instance ``/bigdata/{lab}``."""


class Row(Model):
    """A row of a profile: it names the source, or sources, that its values come from."""

    source: Annotated[Words, Field(min_length=1)]
    """Key, or keys, of the profile's sources."""
    note: str | None = None
    """One sentence that a person reads beside the row."""


def fill(template: str, values: Mapping[str, str]) -> str:
    """Return ``template`` with each placeholder in braces replaced by its value; others stay as they are."""
    return _BRACES.sub(lambda match: values.get(match[1], match[0]), template)
