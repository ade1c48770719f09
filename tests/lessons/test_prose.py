from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlhpc.lessons.layout import LessonFiles
from mlhpc.lessons.prose import check_prose, quantities
from tests.lessons.conftest import Edit

EPISODE = Path("episodes/901-x.md")

QUANTITIES = [
    "15x", "15-20x", "15–20×", "15 to 20 times", "×15", "tenfold", "ten-fold", "twice as fast",
    "three times faster", "a factor of 2", "a factor of ten", "2 orders of magnitude", "10 %", "10%",
    "5 percent", "5 per cent", "-5 %", "3 GB", "3GB", "64 GB", "1.5 TB/s", "350 W", "24.3 GFLOP", "2.5 ms",
    "5 s", "30s", "(5 s)", "0.5 s.", "1e-3 s", "10-minute run", "two hours", "Two to three hours",
    "half an hour", "7 days", "~3 h", "32 cores", "100 GPU hours", "581 images/s", "581 images per second",
    "20 images a second", "10 ms/batch", "3 steps per epoch", "1,000 rows", "10 000 rows",
    "10 million rows", "a million rows", "64k", "10M",
]  # fmt: skip
NO_QUANTITIES = [
    "ResNet-50", "ResNet-50 is", "H100", "L40S", "A100-80", "bf16", "fp32 s", "Python 3.11", "v1.5 s",
    "lesson 101", "exercise 101-1", "step 3", "Step 3 is a step", "Figure 2 shows", "two loaders",
    "10 images", "4 GPUs", "2 × 2", "224x224", "224 × 224", "28-256-256-1", "the 1990s", "in 2024",
    "one hour", "three times", "run it twice", "once a second", "a few seconds", "per second", "times",
    "seconds matter",
]  # fmt: skip


def findings(body: str) -> list[tuple[int | None, str]]:
    """Return line and message of each finding in an episode of front matter (three lines) and ``body``."""
    return [(found.line, found.message) for found in check_prose(f"---\nsites: []\n---\n{body}", EPISODE)]


@pytest.mark.parametrize("text", QUANTITIES)
def test_a_quantity_in_prose_is_found_once(text: str) -> None:
    assert len(findings(f"It was {text} then.")) == 1


@pytest.mark.parametrize("text", NO_QUANTITIES)
def test_what_is_no_quantity_is_left_alone(text: str) -> None:
    assert findings(f"It was {text}.") == []


@pytest.mark.parametrize(
    "form",
    [
        "It takes {{claim}}`{}` here.",
        "It takes {{measured}}`{}`, or {{record}}`{}`, or {{site}}`{}`.",
        "It takes {{illustration}}`{}`.",
        "As in `{}`.",
        "```python\n{}\n```",
        ":::{{record-table}} {}\n:columns: {}\n:::",
        ":::{{claim-plot}} {}\n:alt: text\n:::",
        "```{{code-block}} bash\n{}\n```",
        "$x = {}$",
        "% {}",
        "<!-- {} -->",
        "See [this](<https://example.org/{}>).",
    ],
)
def test_roles_code_and_mathematics_are_not_prose(form: str) -> None:
    for text in QUANTITIES:
        assert findings(form.replace("{}", text).replace("{{", "{").replace("}}", "}")) == [], text


@pytest.mark.parametrize(
    "form",
    [
        "# {}",
        "- item\n  - {}",
        "> {}",
        "| a |\n|---|\n| {} |",
        "Term\n: {}",
        "**{}**",
        "[{}](x.md)",
        "![It shows {}](x.svg)",
        ":::{note}\n{}\n:::",
        ":::{admonition} {}\n:class: x\n:::",
        "::::{exercise} Title\n:label: 901-1\n\n:::{note}\n{}\n:::\n::::",
        "```{figure} x.svg\n:alt: text\n{}\n```",
        "```{figure} x.svg\n:alt: {}\n```",
        ":::{claim-plot} id\n:alt: {}\n:::",
        ":::{claim-plot} id\n:alt: text\n  goes on to {}\n:::",
        ":::{record-plot} id\n:alt: text\n:caption: {}\n:::",
        "{abbr}`{}`",
        "<p>{}</p>",
    ],
)
def test_prose_is_found_wherever_it_stands(form: str) -> None:
    found = findings(form.replace("{}", "3 GB"))
    assert len(found) == 1
    assert "'3 GB'" in found[0][1]


def test_markup_between_number_and_unit_hides_nothing() -> None:
    assert len(findings("It takes **3** *GB*, or 4\nGB.")) == 2


def test_a_finding_names_its_line_and_the_way_out() -> None:
    body = "# Title\n\nFirst line\nand 3 GB here.\n\n:::{note}\n:class: x\n\nOne\nand 4 GB.\n:::\n"
    assert [line for line, _ in findings(body)] == [7, 13]
    assert "{illustration}`3 GB`" in findings(body)[0][1]


def test_a_table_of_bare_numbers_is_not_typed_by_hand() -> None:
    assert [line for line, _ in findings("| rows | time |\n|---|---|\n| small | 1.23 |\n")] == [6]
    assert findings("| rows | time |\n|---|---|\n| small | {record}`x#y` |\n") == []


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("title: Some the title", "title: A 3 GB title", 2),
        ("- Some the one-line rule.", "- It takes 3 GB.", 14),
        ("title: Compare with a tolerance", "title: Save 3 GB", 20),
    ],
)
def test_front_matter_is_prose_too(lesson: LessonFiles, edit: Edit, old: str, new: str, line: int) -> None:
    assert check_prose(lesson.episode.read_text(), lesson.episode) == ()
    edit(lesson.episode, old, new)
    assert [found.line for found in check_prose(lesson.episode.read_text(), lesson.episode)] == [line]


def test_key_points_may_hold_roles(lesson: LessonFiles, edit: Edit) -> None:
    edit(lesson.episode, "- Some the one-line rule.", "- It takes {claim}`3 GB`.")
    assert check_prose(lesson.episode.read_text(), lesson.episode) == ()


NUMBER_WORDS = [
    "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "fifteen",
    "ty", "hundred", "thousand", "illion", "half", "dozen", "twice", "thrice",
]  # fmt: skip
_UNITS = ["s", "ms", "GB", "MB/s", "%", "x", "×", "hours", "cores", "images/s", "times", "kWh"]


@given(
    number=st.integers(0, 10**7) | st.decimals(0, 1000, places=2, allow_nan=False),
    separator=st.sampled_from(["", " ", "\u00a0", "\n"]),
    unit=st.sampled_from(_UNITS),
    before=st.sampled_from(["", "It took ", "(", "about ", "“", "~"]),
    after=st.sampled_from(["", ".", ", then", ")", " of it"]),
)
def test_any_number_with_a_unit_is_a_quantity(
    number: object, separator: str, unit: str, before: str, after: str
) -> None:
    text = f"{before}{number}{separator}{unit}{after}"
    decade = (
        unit == "s" and not separator and str(number) in {f"{c}{d}0" for c in (19, 20) for d in range(10)}
    )
    assert len(list(quantities(text))) == (0 if decade else 1)


@given(
    st.text(st.characters(exclude_categories=["Nd", "Nl", "No", "Cs"], exclude_characters="`"), max_size=80)
)
def test_text_without_digits_and_number_words_has_no_quantity(text: str) -> None:
    if not any(word in text.lower() for word in NUMBER_WORDS):
        assert list(quantities(text)) == []


@given(st.text(max_size=200))
def test_no_text_breaks_the_check(text: str) -> None:
    lines = text.count("\n") + text.count("\r") + 4
    for line, message in findings(text):
        assert line is not None
        assert 4 <= line <= lines
        assert "has nothing behind it" in message
