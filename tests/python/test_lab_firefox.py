"""The lab in Firefox without a window: the page opens, its simulator runs to the end, nothing goes wrong.

All that Chromium is asked is not asked again. A page around the lab looks into it and tells this test, so that no
driver of Firefox is needed.
"""

from __future__ import annotations

import functools
import http.server
import json
import os
import queue
import shutil
import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest

from cellrate.watching.lab import write_lab
from lab_pages import TRANSIENT, needs_lab

FIREFOX = shutil.which("firefox-esr") or shutil.which("firefox")
WITHIN_S = 120.0

AROUND = """<!doctype html>
<meta charset="utf-8">
<iframe src="index.html%s" width="1400" height="1000"></iframe>
<script>
const wrong = [];
const lab = document.querySelector("iframe");
const tell = (told) => fetch("/told", { method: "POST", body: JSON.stringify({ wrong, ...told }) });
lab.addEventListener("load", async () => {
  const page = lab.contentWindow;
  page.addEventListener("error", (event) => wrong.push(event.message));
  page.addEventListener("unhandledrejection", (event) => wrong.push(String(event.reason)));
  const fault = () => page.document.getElementById("fault");
  const until = async (is) => { while (!is() && fault().hidden) await new Promise((go) => setTimeout(go, 50)); };
  await until(() => page.cellrate?.lab.summary);
  const summary = page.cellrate?.lab.summary;
  const drawn = [...page.document.querySelectorAll("#panels canvas")].filter(({ width }) => width > 0).length;
  const fallen = fault().hidden ? "" : fault().textContent;
  tell({ summary, drawn, fallen, agent: navigator.userAgent });
});
</script>
"""


class Heard(http.server.SimpleHTTPRequestHandler):
    """Files of a folder, and a place to tell what one saw."""

    told: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()

    def do_POST(self) -> None:
        """Take what the page around the lab tells."""
        self.told.put(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@needs_lab
@pytest.mark.skipif(FIREFOX is None, reason="no Firefox on this machine: apt install firefox-esr")
def test_the_lab_runs_in_firefox(tmp_path: Path) -> None:
    folder = write_lab(tmp_path / "lab")
    (folder / "around.html").write_text(AROUND % TRANSIENT)
    (home := tmp_path / "home").mkdir()
    handler = functools.partial(Heard, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/around.html"
        words = [str(FIREFOX), "--headless", "--no-remote", "--profile", str(home), address]
        # A home of its own: the profiles of the one who runs the tests stay as they are.
        firefox = subprocess.Popen(
            words, env={**os.environ, "HOME": str(home)}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            told = Heard.told.get(timeout=WITHIN_S)
        finally:
            firefox.terminate()
            firefox.wait()
            server.shutdown()
    assert "Firefox" in told["agent"]
    assert (told["wrong"], told["fallen"]) == ([], "")
    assert told["summary"]["run"]["scenario"] == "two-source-transient"
    assert sum(row["data_delivered"] for row in told["summary"]["vcs"]) > 0
    assert told["drawn"] > 0
