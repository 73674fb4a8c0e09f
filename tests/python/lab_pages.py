"""The lab in a browser, for tests: Playwright with the machine's Chromium."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from browsing import CHROMIUM
from cellrate.watching.site import FOLDER

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

needs_lab = pytest.mark.skipif(not (FOLDER / "kernel.js").is_file(), reason="the lab has not been built here: make lab")

OPTIONS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]

ENDED = "the run has ended"

TRANSIENT = "#scenario=two-source-transient"
"""Address of a scenario that runs at once; the page by itself opens in slow motion."""


class Seen:
    """A page that is looked at, and what it has said or asked for that it should not have."""

    def __init__(self, page: Page, origin: str) -> None:
        self.page = page
        self.wrong: list[str] = []
        page.on("console", lambda said: self.wrong.append(said.text) if said.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: self.wrong.append(str(error)))
        own = (origin, "blob:", "data:")
        page.on("request", lambda request: None if request.url.startswith(own) else self.wrong.append(request.url))

    def value(self, expression: str) -> Any:
        """Give the value of an expression in the page."""
        return self.page.evaluate(expression)

    def until(self, expression: str, seconds: float = 60.0) -> Any:
        """Wait until an expression is true, and give its value. The policy of the page forbids Playwright's own way."""
        last = time.monotonic() + seconds
        while not (value := self.value(expression)):
            assert time.monotonic() < last, f"{expression} has not come about: {self.value('document.body.innerText')}"
            time.sleep(0.02)
        return value

    def ended(self) -> dict[str, Any]:
        """Wait for the end of the run, and give its summary."""
        self.until("Boolean(cellrate.lab.summary) || !document.getElementById('fault').hidden")
        assert self.value("document.getElementById('fault').hidden"), self.value("document.body.innerText")
        summary: dict[str, Any] = self.value("cellrate.lab.summary")
        return summary

    def text(self, element: str) -> str:
        """Give the text of the element with that id."""
        return str(
            self.value(f"(({{ value, textContent }}) => value ?? textContent)(document.getElementById('{element}'))")
        )

    def click(self, element: str) -> None:
        """Click the element with that id."""
        self.page.locator(f"#{element}").click()


class _Chromium:
    """The browser of all pages of a file of tests: a start of it costs more than most pages."""

    def __init__(self) -> None:
        self._ends = ExitStack()
        self._browser: Browser | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    @contextmanager
    def context(self, **options: Any) -> Iterator[BrowserContext]:
        """Have storage, cookies and caches that no other page shares."""
        asyncio._set_running_loop(self._loop)
        try:
            with (self._browser or self._start()).new_context(**options) as context:
                yield context
        finally:
            # Playwright's loop stands still between pages, but counts as running, and no other could run.
            asyncio._set_running_loop(None)

    def _start(self) -> Browser:
        api = pytest.importorskip("playwright.sync_api", reason="Playwright for Python is not installed")
        if CHROMIUM is None:
            pytest.skip("no Chromium on this machine")
        playwright = self._ends.enter_context(api.sync_playwright())
        self._loop = asyncio._get_running_loop()
        browser: Browser = playwright.chromium.launch(executable_path=CHROMIUM, args=OPTIONS)
        self._browser = self._ends.enter_context(browser)
        return browser

    def end(self) -> None:
        """End it, if it has been started."""
        asyncio._set_running_loop(self._loop)
        self._ends.close()
        self._browser = self._loop = None
        asyncio._set_running_loop(None)


CHROME = _Chromium()
"""The fixture `browser_of_a_file` ends it."""


@contextmanager
def opened(address: str, **options: Any) -> Iterator[Seen]:
    """Have a page open as long as this is entered; nothing may have gone wrong in it by then."""
    with CHROME.context(**{"viewport": {"width": 1400, "height": 1000}, **options}) as context:
        page = context.new_page()
        seen = Seen(page, address.split("#")[0].rpartition("/")[0])
        page.goto(address)
        yield seen
    assert seen.wrong == []
