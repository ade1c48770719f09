"""Every page in real Chromium: nothing from outside, no error, no accessibility violation."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, Response, ViewportSize

pytestmark = pytest.mark.browser

WIDTHS = (1280, 320)
HEIGHT = 900

# Without preload: axe would fetch style sheets again, and resolves their imports against the page.
AXE = "options => axe.run(document, {resultTypes: ['violations'], preload: false, ...options})"
# Sphinx gives an image without alternative text its file name for one.
NAMELESS_IMAGES = r"""[...document.images]
    .filter(one => one.closest("article") && (!one.alt.trim() || /\.(png|svg|jpe?g|gif)$/.test(one.alt)))
    .map(one => one.src)"""
COLOUR_RULES = {"runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}}
"""All that a change of theme can break; the other rules do not look at colours."""


def pages_of(site: Path) -> list[str]:
    """Return the addresses of all pages, without the first one, which only leads to the landing page."""
    found = [page.relative_to(site).as_posix() for page in sorted(site.rglob("*.html"))]
    return [page for page in found if not page.startswith("_static/") and page != "index.html"]


class Listener:
    """Collects what a page does that it should not."""

    def __init__(self, page: Page, address: str) -> None:
        self.problems: list[str] = []
        self.address = address
        page.on("request", self._on_request)
        page.on("requestfailed", lambda request: self.problems.append(f"failed request: {request.url}"))
        page.on("response", self._on_response)
        page.on("console", self._on_console)
        page.on("pageerror", lambda error: self.problems.append(f"script error: {error}"))

    def _on_request(self, request: Request) -> None:
        if not request.url.startswith((self.address, "data:", "blob:")):
            self.problems.append(f"request to another host: {request.url}")

    def _on_response(self, response: Response) -> None:
        if response.status >= 400:
            self.problems.append(f"status {response.status}: {response.url}")

    def _on_console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.problems.append(f"console {message.type}: {message.text}")


def violations(page: Page, options: dict[str, Any]) -> list[str]:
    """Return what axe-core finds on the page as it is shown, one line for each element."""
    result = page.evaluate(AXE, options)
    return [f"{rule['id']}: {node['html'][:120]}" for rule in result["violations"] for node in rule["nodes"]]


def show(page: Page, theme: str) -> None:
    """Bring an open page into a theme, and wait until it is drawn so."""
    page.evaluate(
        """theme => {
            document.documentElement.dataset.mode = document.documentElement.dataset.theme = theme;
            return new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
        }""",
        theme,
    )


def faults_of(page: Page, listener: Listener, name: str) -> Iterator[str]:
    """Yield what is wrong with one page, in both themes, on a wide and a narrow screen."""
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": HEIGHT})
        page.goto(f"{listener.address}/{name}")
        page.evaluate(AXE_SCRIPT)
        found = page.evaluate("document.documentElement.scrollWidth")
        if found > width:
            yield f"at {width} pixels the page is {found} pixels wide"
        show(page, "light")
        yield from (f"light, {width} pixels: {fault}" for fault in violations(page, {}))
        show(page, "dark")
        yield from (f"dark, {width} pixels: {fault}" for fault in violations(page, COLOUR_RULES))
    yield from (f"image without alternative text: {source}" for source in page.evaluate(NAMELESS_IMAGES))
    page.wait_for_load_state("networkidle")
    yield from listener.problems
    listener.problems.clear()


def all_faults(browser: Browser, site: Path, address: str) -> list[str]:
    """Return what is wrong with any page of a site."""
    names = pages_of(site)
    assert names, f"no page in {site}"
    with browser.new_context(reduced_motion="reduce") as context, context.new_page() as page:
        listener = Listener(page, address)
        return [f"{name}: {fault}" for name in names for fault in faults_of(page, listener, name)]


@pytest.mark.slow
def test_no_page_of_the_course_has_a_fault(browser: Browser, course_site: Path, course_address: str) -> None:
    """Every page is read in both themes, on a wide and a narrow screen."""
    assert all_faults(browser, course_site, course_address) == []


@pytest.mark.slow
def test_no_directive_makes_a_fault(browser: Browser, sample_site: Path, sample_address: str) -> None:
    """The sample uses every directive, also those that no lesson uses yet."""
    assert all_faults(browser, sample_site, sample_address) == []


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """Return a new page on a wide screen, of a reader who prefers light."""
    viewport: ViewportSize = {"width": WIDTHS[0], "height": HEIGHT}
    context = browser.new_context(viewport=viewport, color_scheme="light", reduced_motion="reduce")
    with context, context.new_page() as opened:
        yield opened


def test_the_checks_see_a_faulty_page(page: Page, sample_address: str) -> None:
    """A page that asks another host, fails, and hides an image from some readers is not passed over."""
    page.route(
        "**/faulty.html",
        lambda route: route.fulfill(
            content_type="text/html",
            body="<!doctype html><title>x</title><article><img src='missing.png' alt='a/missing.png'>"
            "<img src='http://other.invalid/x.png'><div style='width:3000px'>wide</div></article>",
        ),
    )
    faults = "\n".join(faults_of(page, Listener(page, sample_address), "faulty.html"))
    for expected in (
        "request to another host: http://other.invalid/x.png",
        "status 404",
        "pixels wide",
        "image without alternative text",
        "html-has-lang",
    ):
        assert expected in faults


def test_the_first_page_leads_to_the_course(page: Page, course_address: str) -> None:
    """The address that the commands print shows the landing page."""
    page.goto(f"{course_address}/")
    page.wait_for_url("**/book/index.html")
    assert page.get_by_role("heading", level=1).inner_text().strip("#\n ") == "ML on HPC"


def test_search_finds_a_word(page: Page, course_address: str) -> None:
    """Search works without a network: a term of the glossary is found there."""
    listener = Listener(page, course_address)
    page.goto(f"{course_address}/search.html?q=roofline")
    result = page.locator("#search-results li a", has_text="Glossary").first
    result.wait_for(timeout=10_000)
    assert "glossary.html" in (result.get_attribute("href") or "")
    assert listener.problems == []


def test_search_opens_from_the_keyboard(page: Page, course_address: str) -> None:
    """Ctrl-K opens the search field, and Enter leads to the results."""
    page.goto(f"{course_address}/book/index.html")
    page.keyboard.press("Control+k")
    page.keyboard.type("baseline")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search.html?q=baseline")
    page.locator("#search-results li a").first.wait_for(timeout=10_000)


def test_the_theme_button_changes_the_colours(page: Page, course_address: str) -> None:
    """The button goes through the modes, and the choice stays on the next page."""
    page.goto(f"{course_address}/book/index.html")
    background = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(background)
    button = page.get_by_role("button", name="Color mode")
    for _ in range(3):
        button.click()
        if page.evaluate("document.documentElement.dataset.mode") == "dark":
            break
    dark = page.evaluate(background)
    assert dark != light
    assert page.evaluate("localStorage.getItem('mode')") == "dark"


FOCUS = """(() => {
    const shown = document.activeElement, style = getComputedStyle(shown);
    return {
        text: shown.textContent.trim() || shown.getAttribute("aria-label"),
        inMain: document.querySelector("main").contains(shown),
        ring: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2,
    };
})()"""


def test_the_keyboard_reaches_the_text(page: Page, course_address: str) -> None:
    """The first Tab offers to skip to the main content; all that follow stand in it, and can be seen."""
    page.goto(f"{course_address}/book/setup.html")
    page.keyboard.press("Tab")
    assert page.evaluate(FOCUS)["text"] == "Skip to main content"
    assert page.locator("#pst-skip-link").bounding_box() is not None
    page.keyboard.press("Enter")
    for _ in range(6):
        page.keyboard.press("Tab")
        focus = page.evaluate(FOCUS)
        assert focus["inMain"], focus
        assert focus["ring"], focus


def test_printing_shows_the_text_without_the_frame(page: Page, sample_address: str) -> None:
    """On paper there is the lesson and no navigation."""
    page.goto(f"{sample_address}/episodes/101-sample.html")
    page.emulate_media(media="print")
    assert page.get_by_role("heading", level=1, name="A sample lesson").first.is_visible()
    assert page.get_by_text("The source says").is_visible()
    assert not page.locator("#pst-primary-sidebar").is_visible()
    assert not page.locator(".prev-next-footer").is_visible()
