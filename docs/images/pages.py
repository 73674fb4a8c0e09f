"""Takes the pictures of the page anew: `python docs/images/pages.py [lab] [moving] [watching] [watching-live]`.

It needs the page (`make lab`), Playwright and Chromium; watching-live also root and iperf3, and half a minute.
"""

from __future__ import annotations

import io
import shutil
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Queue
from typing import TYPE_CHECKING, Any

from PIL import Image
from playwright.sync_api import sync_playwright

import cellrate
from cellrate.watching.lab import lab

if TYPE_CHECKING:
    from playwright.sync_api import Page

FOLDER = Path(__file__).parent


@contextmanager
def browsed(height: int = 900) -> Iterator[Page]:
    """Have a page in a browser as long as this is entered."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        yield browser.new_page(viewport={"width": 1400, "height": height}, color_scheme="light")
        browser.close()


def until(page: Page, condition: str) -> None:
    """Wait for something in the page; its policy forbids Playwright's own way."""
    while not page.evaluate(condition):
        page.wait_for_timeout(10)


def shown_lab() -> None:
    """Slow motion as the page opens, when the second source has begun: each cell on its way is one dot."""
    # The server is there before Playwright, whose event loop takes this thread.
    with lab() as address, browsed() as page:
        page.goto(address)
        until(page, "Boolean(globalThis.cellrate?.lab?.store?.now_s > 0.0125)")
        page.locator("#pause").click()
        page.evaluate("document.activeElement.blur()")
        page.wait_for_timeout(200)
        page.screenshot(path=FOLDER / "lab.png")


def moving_lab() -> None:
    """The page as it opens and goes on, as a moving picture: a frame for each fifth of a millisecond of the network."""
    frames = []
    with lab() as address, browsed(660) as page:
        page.goto(address)
        until(page, "Boolean(globalThis.cellrate?.lab?.store?.now_s > 0.008)")
        page.evaluate("document.activeElement.blur()")
        for number in range(FRAMES):
            until(page, f"globalThis.cellrate.lab.store.now_s > {0.008 + number * 2e-4}")
            shot = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
            frames.append(shot.resize((WIDTH, round(shot.height * WIDTH / shot.width)), Image.Resampling.LANCZOS))
    frames[0].save(
        FOLDER / "lab.webp", save_all=True, append_images=frames[1:], duration=120, loop=0, quality=50, method=6
    )


FRAMES, WIDTH = 40, 900
"""Frames of the moving picture, and its width [pixels]."""


def watched(watch: Callable[..., Any], seen_s: float, name: str, height: int = 900) -> None:
    """A run that is watched, at some instant of it."""
    addresses: Queue[str] = Queue()
    run = threading.Thread(target=watch, kwargs={"on_ready": addresses.put})
    run.start()
    with browsed(height) as page:
        page.goto(addresses.get())
        until(page, f"(globalThis.cellrate?.lab?.store?.now_s ?? 0) > {seen_s}")
        page.screenshot(path=FOLDER / f"{name}.png")
        if page.locator("#fastest").is_visible():
            page.locator("#fastest").click()
    run.join()


PICTURES: dict[str, Callable[[], None]] = {
    "lab": shown_lab,
    "moving": moving_lab,
    "watching": lambda: watched(
        lambda **given: cellrate.watch("weighted-shares", speed=0.05, **given), 0.4, "watching"
    ),
    "watching-live": lambda: watched(
        lambda **given: cellrate.live.live_watch("live/reno-10", **given), 14.0, "watching-live", 1150
    ),
}


def main() -> None:
    """Take those that are wanted, or all."""
    for name in sys.argv[1:] or PICTURES:
        PICTURES[name]()
        print(name)


if __name__ == "__main__":
    main()
