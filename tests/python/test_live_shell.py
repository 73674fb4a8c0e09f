"""A shell over a network that stands: names, ping, TCP, the terminal's keys, and that nothing stays behind.

Skipped, with the reason, where hosts cannot be had.
"""

from __future__ import annotations

import contextlib
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from cellrate.command_line.main import status
from cellrate.live import doctor
from cellrate.live.process import environment, search_path

_FOUND = doctor.findings()
pytestmark = pytest.mark.skipif(bool(doctor.missing_requirements(_FOUND)), reason=doctor.sentence(_FOUND))

WITHIN_S = 60.0
PROMPT = "cellrate> "


class Terminal:
    """A terminal with `cellrate live shell` in it."""

    def __init__(self, *words: str, term: str = "dumb") -> None:
        self.shown = ""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ["TERM"] = term
            command = [sys.executable, "-m", "cellrate", "live", "shell", *words]
            os.execv(command[0], command)

    def type(self, text: str) -> None:
        """Type a line."""
        os.write(self.fd, f"{text}\n".encode())

    def until(self, pattern: str) -> str:
        """Read until the screen shows a pattern; give what came before it, and forget it."""
        last = time.monotonic() + WITHIN_S
        while (found := re.search(pattern, self.shown)) is None:
            # A screen on which nothing more comes fails as one does on which something else comes.
            ready, _, _ = select.select([self.fd], [], [], max(0.0, last - time.monotonic()))
            assert ready, (pattern, self.shown)
            self.shown += os.read(self.fd, 65536).decode(errors="replace")
        before, self.shown = self.shown[: found.end()], self.shown[found.end() :]
        return before

    def does(self, line: str) -> str:
        """Type a line and give what is shown before the next prompt."""
        self.type(line)
        self.until(re.escape(line))
        return self.until(PROMPT)

    def status(self) -> int:
        """Wait until it has ended; give its exit status."""
        with contextlib.suppress(OSError):
            while os.read(self.fd, 65536):
                pass
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    opened = Terminal("live/reno-10")
    opened.until(PROMPT)
    yield opened
    with contextlib.suppress(ProcessLookupError):
        os.kill(opened.pid, signal.SIGKILL)
    os.close(opened.fd)


def is_running(mark: str) -> bool:
    """Whether a process has this text in its command line."""
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if entry.name.isdecimal() and mark.encode() in (entry / "cmdline").read_bytes():
                return True
    return False


def await_end(mark: str) -> None:
    """Wait until no process has this text in its command line."""
    last = time.monotonic() + WITHIN_S
    while is_running(mark):
        assert time.monotonic() < last
        time.sleep(0.02)


def test_hosts_know_each_other_and_commands_run_on_them(terminal: Terminal) -> None:
    assert "client\t10.0.0.2" in terminal.does("hosts").replace("\r", "")
    assert "10.0.0.1" in terminal.does("client getent hosts server")
    assert "nobody" in terminal.does("server id -un")
    assert "3\r\n" in terminal.does("server printf 'a\\nb\\nc\\n' | wc -l")
    assert "ACR" in terminal.does("rates")
    assert "hosts: server, client" in terminal.does("elsewhere ls")
    if shutil.which("ping", path=search_path()) is not None:
        assert "0 of 2 without an answer" in terminal.does("pingall")
        # Four lines of 2 ms and the time of cells.
        assert 8.0 < float(re.findall(r"time=([\d.]+) ms", terminal.does("server ping -c 1 client"))[0]) < 1000
    terminal.type("exit")
    assert terminal.status() == 0


def test_a_link_changes_while_the_network_stands(terminal: Terminal) -> None:
    """The engine takes a change in; ping and the links themselves show it, and what cannot be is refused."""
    assert "server-sw: 10 Mbps, 2 ms, loss 0 %" in terminal.does("links")
    # By its ends in either order.
    assert "sw-client: 10 Mbps, 52 ms, loss 0 %" in terminal.does("link client-sw delay=52ms")
    if shutil.which("ping", path=search_path()) is not None:
        assert float(re.findall(r"time=([\d.]+) ms", terminal.does("server ping -c 2 client"))[-1]) > 108.0
        terminal.does("link sw-server loss=100% rate='2 Mbps'")
        assert "100% packet loss" in terminal.does("server ping -c 1 -W 1 client")
        assert "server-sw: 2 Mbps, 2 ms, loss 100 %" in terminal.does("links")
        terminal.does("link sw-server loss=0")
        assert " 0% packet loss" in terminal.does("server ping -c 2 client")
    for line, told in {
        "link": "write: link LINK",
        "link nosuch rate=1Mbps": 'there is no link "nosuch"; links: server-sw, sw-client',
        "link sw-client icr=1Mbps": '"icr" does not change while the network stands',
        "link sw-client rate": "rate is given without a value",
        "link sw-client loss=2": "the loss must be from 0 to 1",
        "link sw-client delay=2min": "the delay must be at most 60 s",
        "link sw-client rate=5": "has no unit",
        "link sw-client rate='1 Mbps": "No closing quotation",
    }.items():
        assert told in terminal.does(line), line


def test_tab_completes_links_and_what_changes_of_them() -> None:
    opened = Terminal("live/reno-10", term="xterm")
    opened.until(PROMPT)
    os.write(opened.fd, b"link sw-c\t")
    opened.until("link sw-client ?")
    os.write(opened.fd, b"\x15link sw-client del\t")
    opened.until("delay=")
    os.write(opened.fd, b"30ms\n")
    opened.until("sw-client: 10 Mbps, 30 ms")
    opened.until(PROMPT)
    opened.type("exit")
    assert opened.status() == 0
    os.close(opened.fd)


def test_ctrl_c_ends_what_runs_and_not_the_shell(terminal: Terminal) -> None:
    mark = f"{uuid.uuid4().int % 10**6}.25"
    terminal.type(f"server sleep {mark}")
    terminal.until(re.escape(mark))
    while not is_running(mark):
        time.sleep(0.02)
    os.write(terminal.fd, b"\x03")
    terminal.until(PROMPT)
    await_end(mark)
    os.write(terminal.fd, b"half a line")
    terminal.until("half a line")
    os.write(terminal.fd, b"\x03")
    terminal.until(PROMPT)
    terminal.type("server")
    terminal.until("server> ")
    terminal.type("echo $((6 * 7)); exit")
    assert "42" in terminal.until(PROMPT)
    # The end of the input leaves as well.
    os.write(terminal.fd, b"\x04")
    assert terminal.status() == 0


def test_what_was_started_ends_with_the_shell_however_it_ends(terminal: Terminal) -> None:
    mark = f"{uuid.uuid4().int % 10**6}.75"
    terminal.does(f"client sleep {mark} &")
    assert is_running(mark)
    os.kill(terminal.pid, signal.SIGKILL)
    terminal.status()
    await_end(mark)


def test_nothing_of_it_stays_and_etc_hosts_is_as_it_was() -> None:
    hosts = Path("/etc/hosts").read_bytes()
    command = [sys.executable, "-m", "cellrate", "live", "shell", "live/reno-10", "server"]
    # A folder of its own for temporary files: other tests have networks of theirs at the same time. Programs on hosts
    # may run as another user, who has to reach it.
    with tempfile.TemporaryDirectory() as own:
        Path(own).chmod(0o755)
        done = subprocess.run(
            command,
            input="pwd; grep client /etc/hosts; exit 3\n",
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "TMPDIR": own},
        )
        assert done.returncode == 3, done.stderr
        home, address = done.stdout.splitlines()
        assert home.startswith(f"{own}/cellrate-live-")
        assert address == "10.0.0.2\tclient"
        assert not list(Path(own).iterdir())
    assert Path("/etc/hosts").read_bytes() == hosts


def test_a_host_that_there_is_not_is_told(capfd: pytest.CaptureFixture[str]) -> None:
    assert status(["live", "shell", "live/reno-10", "nosuch"]) == 2
    assert 'there is no host "nosuch"; hosts: server, client' in capfd.readouterr().err


def test_programs_on_hosts_see_few_of_the_callers_variables(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "s")
    monkeypatch.setenv("TZ", "UTC")
    seen = environment(tmp_path, {"MORE": "m"})
    assert seen.keys() <= {"LANG", "PATH", "TERM", "TZ", "HOME", "MORE"}
    assert (seen["HOME"], seen["TZ"], seen["MORE"]) == (str(tmp_path), "UTC", "m")
