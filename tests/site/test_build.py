"""The strict build: what a page may not do, and what it says then."""

import shutil
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from mlhpc.records.store import append_record
from tests.site import sample
from tests.site.conftest import build

FAULTS = {
    "{claim}`no-such-claim`": "There is no claim no-such-claim",
    "{claim}`sample-sped-up`": "did you mean sample-speedup?",
    "{measured}`sample-cited`": "Nothing was measured for the claim sample-cited",
    "{record}`resnet50?precision=fp16#throughput`": "No record matches",
    "{record}`resnet50#throughput`": "add a condition on that",
    "{record}`resnet50?precision=fp32#energy`": "has no quantity energy",
    "{record}`?precision=fp32`": "must start with the name of a workload",
    "{illustration}` `": "illustration",
    "```{claim-table} no-such-claim\n```": "There is no claim no-such-claim",
    "```{claim-table}\n:source: nobody\n```": "No claim has the source nobody",
    "```{claim-plot} sample-speedup\n```": "':alt:' missing",
    "```{claim-plot} sample-speedup sample-cited\n:alt: text\n```": "need one unit",
    "```{record-table} resnet50\n```": "':columns:' is missing",
    "```{record-table} resnet50?device=tpu\n:columns: precision\n```": "No published record matches",
    "```{record-table} loading\n:columns: method\n```": "choose one with tier=",
    "```{record-table} resnet50\n:columns: colour\n```": "has no quantity colour",
    "```{record-plot} dense\n:x: batch\n:y: throughput\n```": "':alt:' missing",
    "```{record-plot} dense\n:x: depth\n:y: throughput\n:alt: text\n```": "has no parameter 'depth'",
    "```{record-plot} dense\n:x: batch\n:y: throughput\n:alt: text\n:colour: red\n```": "colour",
    "```{lesson-overview}\n```": "is not the episode of a lesson",
    "{site}`osc storage.scrach.quota`": "did you mean scratch",
    "{site}`nowhere storage`": "No site profile named 'nowhere'",
    "{site}`osc`": "must be a site and a place",
    "```{site-table} stories\n```": "there is no table 'stories'",
    "```{site-table} storage\n:sites: nowhere\n```": "there is no site 'nowhere'",
    "```{site-rows} osc stories\n```": "there is no table 'stories'",
    "```{storage-picture} nowhere\n```": "No site profile named 'nowhere'",
    ":::{on-your-cluster}\n{{ scrach.path }}\n:::": "{{ scrach.path }} names no fact",
    ":::{on-your-cluster}\n{{ scratch.pth }}\n:::": "did you mean path",
    ":::{on-your-cluster}\n:schedulers: pbs\n\ntext\n:::": "known are slurm",
    "```{job-script}\n:time: 30\npython train.py\n```": "--time",
    "$\\nosuchmacro$": "formula cannot be shown as MathML",
    "{ref}`claim-nobody`": "claim-nobody",
}
"""A piece of a page, and what the build must say about it."""


@pytest.fixture(scope="module")
def faulty_course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a course with one page that has all faults, each on a line of its own."""
    root = sample.write_course(tmp_path_factory.mktemp("faulty"))
    text = "# Faults\n\n" + "\n\n".join(FAULTS) + "\n"
    (root / "book" / "lists.md").write_text(text, encoding="utf-8")
    unlisted = sample.FRONT_MATTER.replace("101-", "102-") + "# A sample lesson\n"
    (root / "episodes" / "102-unlisted.md").write_text(
        unlisted.replace("102-sample.ipynb", "102-unlisted.ipynb"), encoding="utf-8"
    )
    return root


@pytest.fixture(scope="module")
def faulty_build(faulty_course: Path) -> CompletedProcess[str]:
    """Return how the build of the faulty course went, on a machine without own records."""
    return build(faulty_course, faulty_course / "none")


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_named_with_file_and_line(
    faulty_course: Path, faulty_build: CompletedProcess[str], fault: str
) -> None:
    """Each fault is a warning, which fails the strict build, at the line where it stands."""
    text = (faulty_course / "book" / "lists.md").read_text(encoding="utf-8")
    place = f"lists.md:{text[: text.index(fault)].count(chr(10)) + 1}"
    messages = (faulty_build.stdout + faulty_build.stderr).splitlines()
    assert any(place in message and FAULTS[fault] in message for message in messages), messages
    assert faulty_build.returncode != 0


def test_a_half_written_lesson_is_named(faulty_build: CompletedProcess[str]) -> None:
    """A lesson without its notebook, or not among the pages, is said to be so and ends nothing else."""
    messages = faulty_build.stderr
    assert "102-unlisted.ipynb is missing: make it with mlhpc lesson run 102-unlisted." in messages
    assert "unknown document: '/episodes/102-unlisted'" in messages
    assert "Traceback" not in messages.partition("Building your book")[0]


def test_a_second_strict_build_over_a_faulty_one_fails_too(
    faulty_course: Path, faulty_build: CompletedProcess[str]
) -> None:
    """Sphinx itself would call the second build clean, because it reads only what changed."""
    again = build(faulty_course, faulty_course / "none")
    assert again.returncode == faulty_build.returncode != 0
    assert "There is no claim no-such-claim" in again.stderr


def test_without_own_records_the_page_says_how_to_add_them(
    faulty_course: Path, faulty_build: CompletedProcess[str]
) -> None:
    """A reader of the published site sees no row that is not theirs."""
    del faulty_build  # its other pages are written all the same
    page = (faulty_course / "_build/html/episodes" / f"{sample.STEM}.html").read_text(encoding="utf-8")
    assert "make bench" in page
    assert "this machine</strong>" not in page


def test_a_damaged_claims_file_fails_with_its_line(tmp_path: Path) -> None:
    """The sentence names file, line and key; no page is built without the ledger."""
    course = sample.write_course(tmp_path)
    claims = course / "data" / "claims.yml"
    claims.write_text(claims.read_text(encoding="utf-8") + "    colour: red\n", encoding="utf-8")
    result = build(course, tmp_path / "own")
    assert result.returncode != 0
    assert "claims.yml:" in result.stderr
    assert "colour" in result.stderr


@pytest.fixture(scope="module")
def damaged_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the sample site again, built with a damaged line among its records."""
    root = sample.write_course(tmp_path_factory.mktemp("damaged"))
    with (root / "data/records/records.jsonl").open("a", encoding="utf-8") as stream:
        stream.write('{"half": a line\n')
    for record in sample.local():
        append_record(root / "own", record)
    result = build(root, root / "own")
    assert result.returncode == 0, result.stderr
    return root / "_build" / "html"


def test_a_damaged_record_is_shown_not_lost(damaged_site: Path) -> None:
    """The page on machines names the damaged line; everything else is still there."""
    page = (damaged_site / "book" / "measured-on.html").read_text(encoding="utf-8")
    assert f"records.jsonl, line {len(sample.published()) + 1}" in page
    assert "Example CPU 9000" in page


def test_figures_are_the_same_in_each_build(sample_site: Path, damaged_site: Path) -> None:
    """A figure changes only when its records do, so that one site can be compared with the next."""
    figures = sorted((damaged_site / "_images").glob("*.svg"))
    assert len(figures) == 7
    for figure in figures:
        assert figure.read_bytes() == (sample_site / "_images" / figure.name).read_bytes()


def test_own_records_stand_beside_the_published_ones(sample_site: Path) -> None:
    """Tables have the row "this machine"; the page on machines describes it."""
    page = (sample_site / "episodes" / f"{sample.STEM}.html").read_text(encoding="utf-8")
    assert "this machine</strong>" in page
    machines = (sample_site / "book" / "measured-on.html").read_text(encoding="utf-8")
    assert "This machine: Example CPU 9000, 4 cores" in machines


def test_own_records_are_shown_at_their_best_tier_only(sample_site: Path) -> None:
    """A quick smoke run does not stand beside the measurement that replaced it."""
    page = (sample_site / "episodes" / f"{sample.STEM}.html").read_text(encoding="utf-8")
    assert page.count("this machine</strong>") == 1
    assert "yours, measured at tier quick" in page
    assert "14.5\u00a0images/s" in page


def test_a_page_shows_what_the_records_say(sample_site: Path) -> None:
    """Values, intervals and verdicts on the page are those of claims and records."""
    page = (sample_site / "episodes" / f"{sample.STEM}.html").read_text(encoding="utf-8")
    for expected in (
        "1.5 to 2.5×",
        "✓\u00a0confirmed",
        "20.0\u00a0images/s",
        "95\u00a0% interval 19.6 to 20.4\u00a0images/s",
        "Exercise 101-1",
        "<math",
    ):
        assert expected in page


def test_a_folder_that_is_no_course_is_refused(tmp_path: Path) -> None:
    """One sentence, and nothing is written."""
    (tmp_path / "book").mkdir()
    shutil.copy(sample.COURSE / "book" / "build.py", tmp_path / "book")
    result = build(tmp_path, tmp_path / "own")
    assert result.returncode == 2
    assert "_config.yml" in result.stderr
    assert not (tmp_path / "_build").exists()
