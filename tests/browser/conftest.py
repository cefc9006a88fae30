"""A browser for the inspector's page.

The page is tested in a real browser: Debian's chromium, driven by Playwright. Where either is missing the tests are
skipped and say so (``make test`` installs chromium where it may). What the page says on its console is kept: an error, a
warning, or something that its content security policy forbids fails the test.

Tests wait for what the page shows and never for a time; worlds are stepped quickly, and those that must not move are
paused.
"""

from __future__ import annotations

import os
import shutil
from contextlib import ExitStack
from pathlib import Path

import pytest

PATIENCE = 60_000  # milliseconds until something has to be on the page; a loaded machine is no bug


def find_chromium():
    return os.environ.get("AGENTRT_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")


_HERE = Path(__file__).parent
_started = ExitStack()  # what is ended after the last test of this folder
_launched = []


@pytest.fixture
def browser():
    """One for all tests of the folder: starting it takes a second or two, and each test has a window of its own."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = find_chromium()
    if path is None:
        pytest.skip("there is no chromium here: install it, or name it by AGENTRT_CHROMIUM")
    if not _launched or not _launched[0].is_connected():
        _started.close()
        playwright.expect.set_options(timeout=PATIENCE)
        started = _started.enter_context(playwright.sync_playwright())
        _launched[:] = [started.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])]
        _started.callback(_launched[0].close)
        _started.callback(_launched.clear)
    return _launched[0]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item, nextitem):
    """While Playwright runs, an event loop does on this thread: the tests of other folders could run none."""
    result = yield
    if nextitem is None or _HERE not in nextitem.path.parents:
        _started.close()
    return result


@pytest.fixture
def look(browser):
    """Opens a page at an address, in a window of its own; in the end, its console has to be silent."""
    complaints, contexts = [], []

    def heard(said):
        # The browser itself tells of servers that are gone, or that refuse it.
        is_refused = said.text.startswith("WebSocket connection to ") or "_REFUSED" in said.text or "401" in said.text
        if said.type in ("error", "warning") and not is_refused:
            complaints.append(said.text)

    def open_page(url, *, dark=False, size=(1280, 720)):
        context = browser.new_context(
            viewport={"width": size[0], "height": size[1]}, color_scheme="dark" if dark else "light"
        )
        context.set_default_timeout(PATIENCE)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", heard)
        page.on("dialog", lambda dialog: complaints.append(f"a dialog: {dialog.message}"))
        page.goto(url)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []
