"""A browser for tests: Chromium without a window, asked over a pipe (the DevTools protocol)."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


class Browser:
    """As long as it is entered."""

    def __init__(self, folder: Path) -> None:
        told, tell = os.pipe()
        heard, hear = os.pipe()
        options = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder}"]
        # The descriptors that it takes are 3 and 4.
        script = f'exec "$@" 3<&{told} 4>&{hear}'
        self.process = subprocess.Popen(
            ["bash", "-c", script, "bash", str(CHROMIUM), *options, "--remote-debugging-pipe", "about:blank"],
            pass_fds=[told, hear],
            stderr=subprocess.DEVNULL,
        )
        os.close(told)
        os.close(hear)
        self._tell, self._heard = os.fdopen(tell, "wb", buffering=0), os.fdopen(heard, "rb")
        self._number = 0
        self._rest = b""
        self._apart: dict[str, str] = {}

    def __enter__(self) -> Browser:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.process.kill()
        self.process.wait()
        self._tell.close()
        self._heard.close()

    def ask(self, method: str, session: str | None = None, **parameters: object) -> Any:
        """Have something done, and give what comes of it."""
        self._number += 1
        request = {"id": self._number, "method": method, "params": parameters}
        if session is not None:
            request["sessionId"] = session
        self._tell.write(json.dumps(request).encode() + b"\0")
        while True:
            while b"\0" not in self._rest:
                more = self._heard.read1()
                assert more, "the browser has ended"
                self._rest += more
            one, self._rest = self._rest.split(b"\0", 1)
            answer = json.loads(one)
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                return answer["result"]

    @contextmanager
    def apart(self) -> Iterator[None]:
        """Have pages that are opened meanwhile share nothing with others, and close them in the end."""
        self._apart = self.ask("Target.createBrowserContext")
        try:
            yield
        finally:
            self.ask("Target.disposeBrowserContext", **self._apart)
            self._apart = {}

    def open(self, address: str) -> Page:
        """Open a page in a tab of its own, which is the one that is seen."""
        target = self.ask("Target.createTarget", url=address, **self._apart)["targetId"]
        return Page(self, self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"])


class Page:
    """A page in a tab."""

    def __init__(self, browser: Browser, session: str) -> None:
        self._browser = browser
        self._session = session

    def ask(self, method: str, **parameters: object) -> Any:
        """Have something done with it."""
        return self._browser.ask(method, self._session, **parameters)

    def value(self, expression: str) -> Any:
        """Give the value of an expression of JavaScript in it."""
        told = self.ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in told, told
        return told["result"].get("value")

    def until(self, expression: str, seconds: float = 30.0) -> Any:
        """Wait until an expression is true, and give its value."""
        last = time.monotonic() + seconds
        while not (value := self.value(expression)):
            assert time.monotonic() < last, f"{expression} has not come about: {self.value('document.body.innerText')}"
            time.sleep(0.05)
        return value
