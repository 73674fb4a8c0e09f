"""Measure the lab in a browser: its rate beside the native one, first run, answer to a slider, pictures, memory.

`make bench-lab` runs it in headless Chromium with the page that `make lab` built and the module as it is installed.
Rates are of `greedy-15` with its series (W1 with what it records), the page and the module in turn, each warm. All of
it is by the clock: a figure means something on a machine that does nothing else. `--json` gives the figures alone.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import cellrate
from cellrate.watching.lab import fragment, lab

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

OPTIONS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]

FIRST = """(async () => {
  for (;;) {
    const lab = globalThis.cellrate?.lab;
    if (lab?.summary) return performance.now();
    await new Promise((done) => setTimeout(done, 5));
  }
})()"""
"""Resolves with the time since the page was asked for at which the first run has ended [ms]."""

AGAIN = """(async () => {
  const begun = performance.now();
  document.getElementById('again').click();
  let seen = null;
  for (;;) {
    await new Promise((done) => setTimeout(done, 2));
    const { summary } = cellrate.lab;
    if (summary === null) seen = true;
    else if (seen) return { seconds: (performance.now() - begun) / 1e3, hops: summary.run.cell_hops };
  }
})()"""
"""Runs once more, and resolves with what that took."""

ANSWER = """(async () => {
  while (!cellrate.lab.summary) await new Promise((done) => setTimeout(done, 20));
  await new Promise((done) => setTimeout(done, 300));
  const slider = document.getElementById('slider defaults.abr.nrm');
  const before = cellrate.lab.store;
  slider.value = String((Number(slider.value) + 1) % 8);
  const begun = performance.now();
  slider.dispatchEvent(new Event('input'));
  while (cellrate.lab.store === before) await new Promise((done) => setTimeout(done, 1));
  return performance.now() - begun;
})()"""
"""Moves a slider when a run has ended, and resolves with the time until the run with it has begun [ms]."""

PICTURES = """(async (seconds) => {
  const gaps = [];
  let last = performance.now();
  const end = last + seconds * 1e3;
  while (last < end) {
    const now = await new Promise((drawn) => requestAnimationFrame(drawn));
    gaps.push(now - last);
    last = now;
  }
  return { gaps: gaps.slice(1), over: cellrate.lab.summary !== null };
})(%g)"""
"""Resolves with the times between pictures [ms]."""


def scenario(connections: int, duration: str) -> cellrate.Scenario:
    """Give `greedy-15` with as many connections and that duration."""
    content = cellrate.Scenario.load("greedy-15").to_dict()
    for rows in (content["host"], content["link"], content["vc"]):
        for row in rows:
            if row.get("count") == 15:
                row["count"] = connections
    return cellrate.Scenario.from_dict({**content, "duration": duration})


AT_ONCE = "#scenario=two-source-transient"
"""A scenario that runs at once; the page by itself opens in slow motion."""


def opened(browser: Browser, address: str) -> tuple[Page, float]:
    """Open the lab in a context of its own; give the page and when its first run had ended [s]."""
    page = browser.new_context(viewport={"width": 1400, "height": 1000}).new_page()
    page.goto(address, wait_until="commit")
    return page, page.evaluate(FIRST) / 1e3


def memory_mb(browser: Browser) -> float:
    """Give the memory of the largest renderer, shared pages by their part [MB]."""
    session = browser.new_browser_cdp_session()
    found = session.send("SystemInfo.getProcessInfo")["processInfo"]
    session.detach()
    sizes = [0.0]
    for process in found:
        if process["type"] == "renderer":
            rollup = Path(f"/proc/{process['id']}/smaps_rollup").read_text()
            sizes += [int(line.split()[1]) / 1024 for line in rollup.splitlines() if line.startswith("Pss:")]
    return max(sizes)


def processor_s(browser: Browser) -> dict[str, float]:
    """Give the processor time of the renderer that simulates: of its worker, and of the page's own thread [s]."""
    session = browser.new_browser_cdp_session()
    found = session.send("SystemInfo.getProcessInfo")["processInfo"]
    session.detach()
    for process in found:
        threads = Path(f"/proc/{process['id']}/task")
        names = {thread: (thread / "comm").read_text().strip() for thread in threads.glob("*")}
        workers = [thread for thread, name in names.items() if name.startswith("DedicatedWorker")]
        if workers:
            used = {"page": threads / str(process["id"]), "worker": workers[0]}
            return {name: int((thread / "schedstat").read_text().split()[0]) / 1e9 for name, thread in used.items()}
    raise LookupError("no page of the browser has a worker")


def rates(browser: Browser, page: Page, of: cellrate.Scenario, turns: int) -> dict[str, Any]:
    """Run in the page and natively in turn; give the medians of both [cell hops/s] and of their ratios.

    One ratio is by the clock, the other by the processor time of the worker and of this process: that one stays what it
    is where others use the machine, too.
    """
    here, there, worker, process = [], [], [], []
    for _ in range(turns):
        begun = time.process_time()
        run = cellrate.run(of).summary["run"]
        process.append(time.process_time() - begun)
        there.append(run["cell_hops_per_s"])
        used = processor_s(browser)["worker"]
        done = page.evaluate(AGAIN)
        worker.append(processor_s(browser)["worker"] - used)
        here.append(done["hops"] / done["seconds"])
    return {
        "page_cell_hops_per_s": statistics.median(here),
        "native_cell_hops_per_s": statistics.median(there),
        "ratio": statistics.median(one / other for one, other in zip(here, there, strict=True)),
        "processor_ratio": statistics.median(one / other for one, other in zip(process, worker, strict=True)),
    }


def answer_s(page: Page, turns: int) -> float:
    """Give the time from a move of a slider until the run with it begins [s], the median of some."""
    return float(statistics.median(page.evaluate(ANSWER) for _ in range(turns))) / 1e3


def pictures(browser: Browser, address: str, seconds: float) -> dict[str, float]:
    """Draw a network of 50 connections while it runs.

    Give pictures per second, within what 99 in 100 come [ms], and the processor time of the page's thread per picture
    [ms]: 60 a second need less than 16.7.
    """
    page = browser.new_context(viewport={"width": 1400, "height": 1000}).new_page()
    page.goto(address + fragment(scenario(50, "600 s")), wait_until="commit")
    until = time.monotonic() + 30
    while not page.evaluate("Boolean(globalThis.cellrate?.lab?.store)"):
        if time.monotonic() > until:
            raise TimeoutError("the page has begun no run within 30 s")
    # What a page does once is over by then.
    time.sleep(2)
    used = processor_s(browser)["page"]
    found = page.evaluate(PICTURES % seconds)
    used = processor_s(browser)["page"] - used
    page.context.close()
    gaps = sorted(found["gaps"])
    return {
        "pictures_per_s": 1e3 * len(gaps) / sum(gaps),
        "gap_p99_ms": gaps[int(0.99 * (len(gaps) - 1))],
        "page_ms_per_picture": 1e3 * used / len(gaps),
        "ran_all_the_while": not found["over"],
    }


def main() -> int:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--turns", type=int, default=5, help="runs of the page and natively, in turn (default 5)")
    parser.add_argument("--json", action="store_true", help="the figures alone")
    given = parser.parse_args()
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        print("bench-lab: there is no Chromium on this machine", file=sys.stderr)
        return 1
    from playwright.sync_api import sync_playwright

    long = scenario(15, "60 s")
    # The server is there before Playwright, whose event loop takes this thread.
    with lab() as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=OPTIONS)
        firsts = []
        for _ in range(given.turns):
            page, first = opened(browser, address + AT_ONCE)
            firsts.append(first)
            page.context.close()
        page, _ = opened(browser, address + AT_ONCE)
        answer = answer_s(page, given.turns)
        page.context.close()
        page, _ = opened(browser, f"{address}#lesson=abr")
        lesson_mb = memory_mb(browser)
        page.context.close()
        page, _ = opened(browser, address + fragment(long))
        speed = rates(browser, page, long, given.turns)
        page.context.close()
        drawn = pictures(browser, address, 5.0)
        browser.close()
    figures = {"first_run_s": statistics.median(firsts), "answer_s": answer, "lesson_mb": lesson_mb, **speed, **drawn}
    if given.json:
        print(json.dumps(figures, indent=2))
        return 0
    print(f"first run ended {figures['first_run_s']:.2f} s after the page was asked for")
    print(f"a run with another setting began {answer * 1e3:.0f} ms after a slider was let go")
    print(f"memory of a lesson {figures['lesson_mb']:.0f} MB")
    print(
        f"greedy-15 for 60 s: {speed['page_cell_hops_per_s'] / 1e6:.0f} million cell hops/s in the page, "
        f"{speed['native_cell_hops_per_s'] / 1e6:.0f} natively, {speed['ratio']:.0%}; "
        f"{speed['processor_ratio']:.0%} by processor time"
    )
    print(
        f"50 connections: {drawn['pictures_per_s']:.0f} pictures/s, 99 in 100 within {drawn['gap_p99_ms']:.0f} ms; "
        f"{drawn['page_ms_per_picture']:.1f} ms of processor time each"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
