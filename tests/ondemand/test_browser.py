"""The way of a learner: the Connect button of the session's card, JupyterLab, a cell."""

import contextlib
import re
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.ondemand.portal import Session, dashboard

BROWSER_PATIENCE = 60_000
"""Milliseconds."""


class Portal:
    """A stand-in for the portal's web server: the session's card, and a way through to the node for all else.

    The real one passes on ``/node/HOST/PORT/...``; this one knows a single session and passes on whole
    connections.
    """

    def __init__(self, card: str, node: tuple[str, int]) -> None:
        self.card, self.node = card.encode(), node
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with contextlib.suppress(OSError), client:
            start = client.recv(65536)
            if re.match(rb"GET /card ", start):
                head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n"
                client.sendall(head + b"Content-Length: %d\r\n\r\n" % len(self.card) + self.card)
            elif start:
                with socket.create_connection(self.node) as node:
                    node.sendall(start)
                    back = threading.Thread(target=_pass_on, args=(node, client), daemon=True)
                    back.start()
                    _pass_on(client, node)
                    back.join()

    def close(self) -> None:
        """Stop listening."""
        self.listener.close()


def _pass_on(source: socket.socket, sink: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            sink.sendall(data)
    with contextlib.suppress(OSError):
        sink.shutdown(socket.SHUT_WR)


@pytest.fixture
def portal(app: Path, session: Callable[..., Session]) -> Iterator[Portal]:
    """Return a portal that shows the card of a running session."""
    running = session(app)
    assert running.connection, running.log
    card = dashboard("view", str(app), str(running.folder / "connection.yml"))
    found = Portal(f"<!doctype html><title>Card</title>{card}", ("127.0.0.1", running.connection["port"]))
    yield found
    found.close()


@pytest.mark.slow
@pytest.mark.browser
def test_the_button_opens_the_notebook_with_the_courses_kernel(portal: Portal, browser: Browser) -> None:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(BROWSER_PATIENCE)
    expect.set_options(timeout=BROWSER_PATIENCE)
    try:
        card = context.new_page()
        card.goto(f"{portal.address}/card")
        with context.expect_page() as opened:
            card.get_by_role("button", name="Open the course in JupyterLab").click()
        lab = opened.value
        panel = lab.locator(".jp-NotebookPanel")
        expect(panel.locator(".jp-Toolbar-kernelName")).to_contain_text("ML on HPC")
        expect(lab.get_by_role("tab", name="101-first.ipynb").first).to_be_visible()
        # Jupyter drops what is asked of a kernel that is not there yet, and moves the focus while it opens.
        expect(panel.locator(".jp-Notebook-ExecutionIndicator[data-status=idle]")).to_be_visible()
        panel.locator(".jp-Notebook .cm-content").first.click()
        panel.get_by_role("button", name=re.compile("Run")).first.click()
        expect(panel.locator(".jp-OutputArea-output").first).to_contain_text("first 42")
        assert re.match(rf"{portal.address}/node/localhost/\d+/lab/tree/101-first\.ipynb", lab.url)
    finally:
        context.close()
