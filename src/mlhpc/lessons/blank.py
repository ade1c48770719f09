"""Blank the solutions in code: text in, text out.

A solution is a whole cell, or the lines between ``# solution`` and ``# end of solution``. What takes its
place says where the learner's code goes, and binds to ``...`` each name that later code reads: so the check
of the exercise runs, and it is its assertion that fails, not a missing name.
"""

import ast
import io
import textwrap
import tokenize
from collections.abc import Iterable
from dataclasses import dataclass

from mlhpc.errors import MlhpcError

START, END = "# solution", "# end of solution"
INVITATION = "# Your code here."


def blank_cell(code: str, heading: str, read_later: Iterable[str]) -> str:
    """Return what stands in place of a cell that is a solution as a whole.

    Imports stay. Of the names in ``read_later`` that the cell binds, functions and classes keep their first
    line and docstring, and the others are bound to ``...``.

    Args:
        code: the cell, plain Python.
        heading: the task in one line, without ``#``.
        read_later: the names that later cells read.

    Raises:
        MlhpcError: if the cell is not plain Python.
    """
    wanted = frozenset(read_later)
    body = _outline(_parse(code).body, wanted)
    return "\n".join([f"# {heading}", INVITATION, body or "..."])


def blank_blocks(code: str, read_later: Iterable[str]) -> str:
    """Return ``code`` with the lines between the marks blanked, at their indentation.

    Names that a block binds at the top level are bound to ``...`` where they are in ``read_later`` or read in
    the rest of the cell. A block inside a function becomes ``...`` only.

    Raises:
        MlhpcError: if a mark is without its pair, a block is not made of whole statements, or the cell is not
            plain Python.
    """
    _parse(code)
    lines = code.splitlines()
    kept: list[str] = []
    position = 0
    for block in _blocks(code):
        rest = "\n".join(lines[block.end :])
        wanted = frozenset(read_later) | _identifiers(rest)
        # Not textwrap.dedent, which gives up where a string inside stands further to the left.
        inner = "\n".join(line.removeprefix(block.indentation) for line in lines[block.start : block.end - 1])
        outline = _outline(_parse(inner).body, wanted if not block.indentation else frozenset())
        kept += lines[position : block.start - 1]
        kept += textwrap.indent(f"{INVITATION}\n{outline or '...'}", block.indentation).splitlines()
        position = block.end
    blanked = "\n".join(kept + lines[position:])
    _parse(blanked)
    return blanked


def has_blocks(code: str) -> bool:
    """Return whether lines of ``code`` are marked as a solution.

    Raises:
        MlhpcError: if a mark is without its pair.
    """
    return bool(_blocks(code))


def names_read(code: str) -> frozenset[str]:
    """Return the names that ``code`` reads; where it is not plain Python, all words in it."""
    try:
        tree = ast.parse(code)
    except SyntaxError:
        return _identifiers(code)
    return frozenset(
        node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    )


@dataclass(frozen=True)
class _Block:
    start: int
    """Line of the opening mark, from 1."""
    end: int
    """Line of the closing mark."""
    indentation: str


def _blocks(code: str) -> list[_Block]:
    """Return the marked blocks. Only real comments count, not lines of a string that look like one."""
    blocks: list[_Block] = []
    opened: tuple[int, str] | None = None
    for line, before, mark in _marks(code):
        if before.strip():
            raise MlhpcError(f"line {line} of the cell: '{mark}' must stand alone on its line.")
        if mark == START and opened is None:
            opened = (line, before)
        elif mark == END and opened is not None:
            blocks.append(_Block(opened[0], line, opened[1]))
            opened = None
        else:
            missing = END if mark == START else START
            raise MlhpcError(f"line {line} of the cell: '{mark}' without a '{missing}' before it.")
    if opened is not None:
        raise MlhpcError(f"line {opened[0]} of the cell: '{START}' without a '{END}' after it.")
    return blocks


def _marks(code: str) -> list[tuple[int, str, str]]:
    """Return line, text before it and kind of each comment that is a mark, whatever its capitals and spaces.

    A mark that is not recognised would put the solution into the learner's copy.
    """
    if "solution" not in code.lower():
        return []
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(code).readline))
    except (tokenize.TokenError, IndentationError) as error:
        raise MlhpcError(f"the cell is not plain Python: {error.args[0]}.") from error
    marks = []
    for token in tokens:
        text = " ".join(token.string.lstrip("#").lower().split())
        if token.type == tokenize.COMMENT and f"# {text}" in (START, END):
            marks.append((token.start[0], token.line[: token.start[1]], f"# {text}"))
    return marks


def _parse(code: str) -> ast.Module:
    try:
        return ast.parse(code)
    except (SyntaxError, ValueError) as error:
        raise MlhpcError(
            f"the solution is not made of whole Python statements ({error.args[0]}): "
            "move its marks, and keep magics such as %timeit out of it."
        ) from error


def _outline(statements: list[ast.stmt], wanted: frozenset[str]) -> str:
    """Return what remains of a solution: imports, empty definitions, and names bound to ``...``."""
    lines: list[str] = []
    for statement in statements:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            lines.append(ast.unparse(statement))
        elif isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            if statement.name in wanted:
                lines.append(ast.unparse(_emptied(statement)))
        else:
            lines += [f"{name} = ..." for name in _bound(statement) if name in wanted]
    return "\n".join(dict.fromkeys(lines))


def _emptied(
    definition: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef,
) -> ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef:
    """Return a definition with its first line and docstring; of a class, also its methods' ones."""
    docstring = definition.body[:1] if ast.get_docstring(definition) is not None else []
    inner: list[ast.stmt] = []
    if isinstance(definition, ast.ClassDef):
        methods = (ast.FunctionDef, ast.AsyncFunctionDef)
        inner = [_emptied(part) for part in definition.body if isinstance(part, methods)]
    definition.body = docstring + (inner or [ast.Expr(ast.Constant(...))])
    return definition


def _bound(statement: ast.stmt) -> list[str]:
    """Return the names that a statement binds in its own scope, in the order of the text."""
    names: list[str] = []
    pending: list[ast.AST] = [statement]
    while pending:
        node = pending.pop(0)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.append(node.name)
            continue
        if isinstance(node, ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.append(node.id)
        if isinstance(node, ast.ExceptHandler) and node.name:
            names.append(node.name)
        pending = list(ast.iter_child_nodes(node)) + pending
    return names


def _identifiers(code: str) -> frozenset[str]:
    """Return all words of ``code`` that could be names."""
    words = "".join(
        character if character.isidentifier() or character.isdigit() else " " for character in code
    )
    return frozenset(word for word in words.split() if word.isidentifier())
