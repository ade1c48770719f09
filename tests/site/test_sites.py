"""Sites on pages: tabs in step, what is not known, one site alone, nothing invented for "your cluster"."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from mlhpc.sites.load import load_site
from mlhpc.storage_plot import PLACES, describe, fate, seen_from
from tests.site import sample


def only(root: Path, name: str) -> subprocess.CompletedProcess[str]:
    """Build a course for one site."""
    environment = {**os.environ, "MLHPC_RECORDS": str(root / "none"), "NO_COLOR": "1"}
    command = [sys.executable, str(root / "book" / "build.py"), "--site", name]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


def built_alone(root: Path, name: str) -> Path:
    """Return a course that was built for one site."""
    done = only(sample.write_course(root), name)
    assert done.returncode == 0, done.stderr
    return root


@pytest.fixture(scope="module")
def osc_alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built_alone(tmp_path_factory.mktemp("osc"), "osc")


@pytest.fixture(scope="module")
def generic_alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built_alone(tmp_path_factory.mktemp("generic"), "generic")


def html(root: Path, page: str) -> str:
    return (root / "_build" / "html" / "book" / f"{page}.html").read_text(encoding="utf-8")


def article(text: str) -> str:
    """Return what stands in the page itself, without its frame, as text without tags."""
    body = text[text.index("<article") : text.index("</article>")]
    return re.sub(r"<[^>]*>", " ", body)


class TestOneSite:
    def test_shows_no_tabs_of_sites_and_no_other_sites_page(self, osc_alone: Path) -> None:
        page = html(osc_alone, "your-cluster")
        assert 'data-sync-group="site"' not in page
        assert "Sagehen" not in article(page)
        pages = {path.stem for path in (osc_alone / "_build" / "html" / "book" / "sites").glob("*.html")}
        assert pages == {"osc"}

    def test_keeps_the_tabs_of_its_own_clusters(self, osc_alone: Path) -> None:
        assert 'data-sync-group="cluster-osc"' in html(osc_alone, "your-cluster")

    def test_a_fact_of_another_site_is_shown_without_a_link(self, generic_alone: Path) -> None:
        assert "sources disagree: 60 days or 90 days" in article(html(generic_alone, "your-cluster"))

    def test_your_cluster_is_built_without_an_invented_number(self, generic_alone: Path) -> None:
        text = article(html(generic_alone, "sites/generic"))
        # The only digits are those of the date on which this course wrote the profile.
        assert re.findall(r"\d+", text.replace("2026-12-01", "")) == []
        assert "not known: ask" in text

    def test_what_is_not_known_in_a_command_is_named_and_asked_for(self, generic_alone: Path) -> None:
        text = article(html(generic_alone, "your-cluster"))
        assert "storage.scratch.path" in text.replace(" ", "")
        assert "Not known in the commands above" in text

    def test_an_unknown_site_is_one_sentence_and_keeps_the_last_site(self, osc_alone: Path) -> None:
        done = only(osc_alone, "ocs")
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
        assert "did you mean osc" in done.stderr
        assert (osc_alone / "_build" / "html" / "index.html").exists()


class TestAllSites:
    @pytest.fixture
    def page(self, browser: Browser) -> Iterator[Page]:
        context = browser.new_context()
        yield context.new_page()
        context.close()

    def test_a_choice_holds_on_the_page_on_the_next_and_after_a_reload(
        self, page: Page, sample_address: str
    ) -> None:
        page.goto(f"{sample_address}/book/your-cluster.html")
        chosen = page.locator("label.sd-tab-label", has_text="Sagehen")
        assert chosen.count() == 3
        chosen.nth(1).click()
        for number in range(3):
            assert page.evaluate(
                "label => document.getElementById(label.htmlFor).checked", chosen.nth(number).element_handle()
            )
        page.goto(f"{sample_address}/book/more-clusters.html")
        expect(page.get_by_text("/bigdata/{lab}").first).to_be_visible()
        page.reload()
        expect(page.get_by_text("/bigdata/{lab}").first).to_be_visible()
        expect(page.get_by_text("/fs/ess/{project}").first).to_be_hidden()

    def test_tabs_can_be_chosen_with_the_keyboard(self, page: Page, sample_address: str) -> None:
        page.goto(f"{sample_address}/book/more-clusters.html")
        first = page.locator("input[id^=sd-tab-item]").first
        first.focus()
        first.press("ArrowRight")
        expect(page.get_by_text("/fs/ess/{project}").first).to_be_visible()

    def test_each_site_has_a_page_with_its_whole_profile(self, page: Page, sample_address: str) -> None:
        page.goto(f"{sample_address}/book/sites/osc.html")
        for heading in (
            "Where jobs go",
            "GPUs",
            "Storage",
            "Limits and access",
            "Sources",
            "Where sources disagree",
        ):
            expect(page.get_by_role("heading", name=re.compile(f"^{heading}")).first).to_be_visible()
        expect(
            page.get_by_role("img", name=re.compile("^Storage tiers, the fastest class first"))
        ).to_be_visible()
        expect(page.get_by_text("gpubackfill").first).to_be_visible()
        assert page.locator("text=60 days").count() >= 2

    def test_a_script_follows_each_sites_profile(self, page: Page, sample_address: str) -> None:
        page.goto(f"{sample_address}/book/your-cluster.html")
        text = page.locator("article").inner_text()
        page_source = page.content()
        assert "YOUR_ACCOUNT" in page_source
        assert "sbatch job.sh" in text or "sbatch job.sh" in page_source


def test_the_picture_says_in_words_what_it_shows() -> None:
    sagehen = load_site("sagehen")
    scratch = next(tier for tier in sagehen.storage if tier.role == "job-local")
    assert dict(zip(PLACES, seen_from(scratch), strict=True)) == {
        "this job": True, "the next job": False, "login node": False, "OnDemand": False,
    }  # fmt: skip
    assert "gone when the job ends" in fate(scratch)
    assert f"{scratch.id} (node-local): seen from this job" in describe(sagehen.storage)
    generic = load_site("generic").storage
    assert seen_from(generic[0]) == (None,) * len(PLACES)
    assert "quota not known, purge not known, backup not known" in describe(generic)
