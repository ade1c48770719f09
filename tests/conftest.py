"""What tests of several folders share: one Chromium, as Playwright allows one of its own in a process."""

import os
import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Return a running Chromium (``CHROMIUM`` names another than the one on the path)."""
    setting = os.environ.get("CHROMIUM")
    executable = shutil.which(setting) if setting else next(filter(None, map(shutil.which, BROWSERS)), None)
    assert executable, "no Chromium found: run setup/system.sh browser, or name it with CHROMIUM"
    switches = [
        "--disable-gpu",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
    ]
    if os.geteuid() == 0:
        switches.append("--no-sandbox")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=executable, args=switches)
        yield chromium
        chromium.close()
