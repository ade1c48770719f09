import ast
import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlhpc.errors import MlhpcError
from mlhpc.lessons.blank import blank_blocks, blank_cell, has_blocks, names_read


def run(code: str) -> dict[str, object]:
    """Return the names that ``code`` binds."""
    names: dict[str, object] = {}
    exec(compile(code, "cell", "exec"), names)
    return names


def test_a_whole_cell_keeps_what_later_code_reads_and_nothing_else() -> None:
    code = '''
import math
secret = 42
def area(radius: float, *, digits: int = 2) -> float:
    """Return the area of a circle."""
    # think of pi
    return round(math.pi * radius**2, digits)
def helper():
    return secret
class Circle(tuple):
    """A circle."""
    size = 3
    def grow(self, by):
        """Grow."""
        self.size += by
first, (second, *rest) = 1, (2, 3)
for index in range(3):
    total = index
'''
    read = {"math", "area", "Circle", "first", "second", "rest", "total"}
    blank = blank_cell(code, "Exercise 901-1: Find it (5 minutes)", read)
    assert blank == textwrap.dedent('''\
        # Exercise 901-1: Find it (5 minutes)
        # Your code here.
        import math
        def area(radius: float, *, digits: int=2) -> float:
            """Return the area of a circle."""
            ...
        class Circle(tuple):
            """A circle."""

            def grow(self, by):
                """Grow."""
                ...
        first = ...
        second = ...
        rest = ...
        total = ...''')
    assert run(blank)["first"] is ...


def test_a_cell_that_binds_nothing_read_later_still_holds_a_statement() -> None:
    assert blank_cell("print(1)", "Do it", set()) == "# Do it\n# Your code here.\n..."


def test_a_block_is_blanked_at_its_indentation() -> None:
    code = textwrap.dedent("""\
        def double(numbers):
            result = []
            for number in numbers:
                # solution
                text = '''
        far left'''
                result.append(2 * number)
                # end of solution
            return result
        # solution
        answer = double([1])
        unread = 1
        # end of solution
        print(answer)""")
    blank = blank_blocks(code, read_later=())
    assert blank == textwrap.dedent("""\
        def double(numbers):
            result = []
            for number in numbers:
                # Your code here.
                ...
            return result
        # Your code here.
        answer = ...
        print(answer)""")


@pytest.mark.parametrize("mark", ["#solution", "# Solution", "##  SOLUTION "])
def test_marks_are_recognised_whatever_their_spaces_and_capitals(mark: str) -> None:
    assert "secret" not in blank_blocks(f"{mark}\nx = 'secret'\n# End of  solution", ())


def test_a_line_of_a_string_is_no_mark() -> None:
    code = "text = '''\n# solution\n'''"
    assert not has_blocks(code)
    assert blank_blocks(code, ()) == code


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("# solution\nx = 1", "line 1 of the cell: '# solution' without a '# end of solution' after it"),
        (
            "x = 1\n# end of solution",
            "line 2 of the cell: '# end of solution' without a '# solution' before it",
        ),
        ("# solution\n# solution\n# end of solution", "line 2 of the cell"),
        ("x = 1  # solution\n# end of solution", "line 1 of the cell: '# solution' must stand alone"),
        ("if a:\n    x = 1\n# solution\nelse:\n    x = 2\n# end of solution", "whole Python statements"),
        ("%timeit x\n# solution\nx = 1\n# end of solution", "magics"),
    ],
)
def test_marks_that_cannot_be_meant_are_refused(code: str, expected: str) -> None:
    with pytest.raises(MlhpcError, match=expected):
        blank_blocks(code, ())


def test_a_cell_that_is_no_python_cannot_be_blanked() -> None:
    with pytest.raises(MlhpcError, match="magics"):
        blank_cell("%timeit x", "Do it", ())


def test_names_read_are_those_loaded() -> None:
    assert names_read("x = y + f(z).a") == {"y", "f", "z"}
    assert {"ls", "folder"} <= names_read("!ls {folder}")


_NAMES = st.sampled_from(["alpha", "beta", "gamma"])
_STATEMENTS = st.recursive(
    st.one_of(
        st.builds("{} = 'secret'".format, _NAMES),
        st.builds("{} += 'secret'".format, _NAMES),
        st.builds("import secret as {}".format, _NAMES),
        st.builds("print('secret', {})".format, _NAMES),
        st.builds("{} = [x for x in 'secret']".format, _NAMES),
        st.just("text = '''\nsecret\n  # solution\n'''"),
    ),
    lambda inner: st.builds(
        lambda head, body: f"{head}:\n{textwrap.indent(chr(10).join(body), '    ', lambda line: True)}",
        st.sampled_from(
            ["if True", "for alpha in 'secret'", "def beta(secret_argument)", "with open('secret') as gamma"]
        ),
        st.lists(inner, min_size=1, max_size=3),
    ),
    max_leaves=8,
)  # fmt: skip


@given(st.lists(_STATEMENTS, min_size=1, max_size=4), st.sets(_NAMES))
def test_a_blanked_cell_is_python_and_binds_what_is_read(statements: list[str], read: set[str]) -> None:
    code = "\n".join(statements)
    blank = blank_cell(code, "Do it", read)
    ast.parse(blank)
    for node in ast.walk(ast.parse(blank)):
        assert not (isinstance(node, ast.Constant) and "secret" in str(node.value))
    top = [name for name in read if any(f"{name} = 'secret'" == statement for statement in statements)]
    assert all(name in blank for name in top)


@given(
    st.lists(_STATEMENTS, max_size=3),
    st.lists(_STATEMENTS, min_size=1, max_size=3),
    st.integers(0, 2),
    st.sets(_NAMES),
)
def test_a_blanked_block_is_python_and_leaves_the_rest_alone(
    before: list[str], block: list[str], depth: int, read: set[str]
) -> None:
    open_lines = [f"{'    ' * level}if True:" for level in range(depth)]
    marked = "\n".join(["# solution", *block, "# end of solution"])
    # A string's further lines stay where they are, as an author's do.
    inner = "\n".join("    " * depth + line for line in marked.split("\n"))
    code = "\n".join([*before, *open_lines, inner])
    blank = blank_blocks(code, read)
    ast.parse(blank)
    kept = "\n".join([*before, *open_lines])
    assert blank.startswith(kept)
    assert "'secret'" not in blank[len(kept) :]
