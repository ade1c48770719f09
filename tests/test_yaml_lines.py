"""Every fault of a YAML file is named with file, line and key."""

from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field

from mlhpc.errors import MlhpcError
from mlhpc.yaml_lines import load_yaml, validate


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Circle(Strict):
    kind: Literal["circle"]
    radius: float


class Square(Strict):
    kind: Literal["square"]
    width: float


class Drawing(Strict):
    title: str
    shapes: list[Annotated[Circle | Square, Field(discriminator="kind")]] = []
    colours: dict[str, Circle] = {}
    frame: Square | None = None


def _file(folder: Path, text: str) -> Path:
    path = folder / "drawing.yml"
    path.write_text(text)
    return path


def _fault(folder: Path, text: str) -> str:
    with pytest.raises(MlhpcError) as caught:
        validate(Drawing, load_yaml(_file(folder, text)))
    return str(caught.value).replace(f"{folder}/", "")


def test_a_good_file_is_read(tmp_path: Path) -> None:
    path = _file(
        tmp_path, "title: A\nshapes:\n- {kind: circle, radius: 1}\nframe: {kind: square, width: 2}\n"
    )
    assert validate(Drawing, load_yaml(path)).shapes == [Circle(kind="circle", radius=1)]


ALIASES = "".join(f"{chr(98 + n)}: &{chr(98 + n)} [{','.join(['*' + chr(97 + n)] * 9)}]\n" for n in range(8))
BOMB = f"a: &a [{','.join('x' * 9)}]\n{ALIASES}"
"""A few lines whose aliases stand for hundreds of millions of values."""


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("title: A\ntitel: B\n", "drawing.yml:2: titel: unknown key; did you mean title."),
        ("title: A\nq: B\n", "drawing.yml:2: q: unknown key; known here: colours, frame, shapes, title."),
        ("shapes: []\n", "drawing.yml:1: title: this key is missing."),
        (
            "title: A\nshapes:\n- kind: circle\n  radius: 1\n- kind: circle\n  radias: 2\n",
            "drawing.yml:5: shapes[1].radius: this key is missing.\n"
            "drawing.yml:6: shapes[1].radias: unknown key; did you mean radius.",
        ),
        (
            "title: A\nshapes:\n- kind: square\n  width: 1\n  radius: 2\n",
            "drawing.yml:5: shapes[0].radius: unknown key; known here: kind, width.",
        ),
        (
            "title: A\ncolours:\n  red:\n    kind: circle\n    radius: wide\n",
            "drawing.yml:5: colours.red.radius: input should be a valid number, unable to parse string as a "
            "number (it is 'wide').",
        ),
        (
            "title: A\nframe: {kind: square, width: 1, widht: 2}\n",
            "frame.widht: unknown key; did you mean width",
        ),
        ("title: A\nframe: {}\n", "drawing.yml:2: frame.kind: this key is missing."),
        ("title:\n", "drawing.yml:1: title: input should be a valid string (it is None)."),
        ("title: A\nshapes:\n- kind: star\n", "drawing.yml:3: shapes[0]: input tag 'star'"),
        ("title: A\ntitle: B\n", "drawing.yml:2: title: line 1 has this key already; keep one."),
        ("a: {b: {c: 1,\n c: 2}}\n", "drawing.yml:2: c: line 1 has this key already; keep one."),
        ("- 1\n- 2\n", "drawing.yml:1: input should be a valid dictionary or instance of Drawing."),
        ("title: [\n", "drawing.yml:2: not valid YAML"),
        ("title: A\n  b: c\n", "drawing.yml:2: not valid YAML"),
        ("a: 1\n---\nb: 2\n", "drawing.yml:2: not valid YAML"),
        ("title: !!python/object/apply:os.getcwd []\n", "drawing.yml:1: not valid YAML: could not determine"),
        ("a: &a [*a]\n", "drawing.yml:1: this part refers to itself."),
        ("? [1, 2]\n: 3\n", "drawing.yml:1: a key must be a plain word."),
        ("date: 2026-99-99\n", "drawing.yml:1: not valid YAML: '2026-99-99' cannot be read as timestamp"),
        ("title: A\n\u0007\n", "drawing.yml:2: not valid YAML"),
        ("title: A\nsize: !!bool maybe\n", "drawing.yml:2: not valid YAML: 'maybe' cannot be read as bool"),
        ("title: A\nsize: !!int ''\n", "drawing.yml:2: not valid YAML: '' cannot be read as int"),
        (f"title: A\nsize: {'9' * 6000}\n", "drawing.yml:2: not valid YAML"),
        ("title: A\n\nsize: !!float abc\n", "drawing.yml:3: not valid YAML"),
        ("[" * 3000, "drawing.yml:1: not valid YAML: nested too deeply"),
        (BOMB, "more than 200000 parts"),
        ("", "drawing.yml is empty."),
        ("# only a comment\n", "drawing.yml is empty."),
    ],
)
def test_faults(tmp_path: Path, text: str, sentence: str) -> None:
    assert sentence in _fault(tmp_path, text)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(MlhpcError, match=r"Cannot read .*missing\.yml: No such file"):
        load_yaml(tmp_path / "missing.yml")
    (tmp_path / "bytes.yml").write_bytes(b"a: \xff\n")
    with pytest.raises(MlhpcError, match="not UTF-8 text"):
        load_yaml(tmp_path / "bytes.yml")


KEYS = st.from_regex(r"[a-z][a-z0-9]{0,5}", fullmatch=True).filter(
    lambda key: isinstance(yaml.safe_load(key), str)
)
TREES = st.recursive(
    st.integers() | st.text("abc ", min_size=1, max_size=5).map(lambda text: f"t{text}t"),
    lambda inner: (
        st.lists(inner, min_size=1, max_size=3) | st.dictionaries(KEYS, inner, min_size=1, max_size=3)
    ),
    max_leaves=12,
)


def _places(tree: Any, place: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    items = enumerate(tree) if isinstance(tree, list) else tree.items() if isinstance(tree, dict) else ()
    return [found for key, item in items for found in [(*place, key), *_places(item, (*place, key))]]


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(tree=st.dictionaries(KEYS, TREES, min_size=1, max_size=3))
def test_every_key_and_item_has_its_line(tmp_path: Path, tree: dict[str, Any]) -> None:
    text = yaml.safe_dump(tree, default_flow_style=False, sort_keys=False)
    located = load_yaml(_file(tmp_path, text))
    assert located.data == tree
    lines = text.splitlines()
    for place in _places(tree):
        line = lines[located.line_of(place) - 1]
        assert f"{place[-1]}:" in line if isinstance(place[-1], str) else "-" in line or "t" in line
    assert set(located.lines) == set(_places(tree))
