"""A shell over a network that stands until one leaves: `cellrate live shell`.

The network and its hosts live in one process, the first of a process namespace (`doctor.isolation_words`), which has
the terminal. When it ends, however it ends, everything that was started on hosts ends with it.
"""

from __future__ import annotations

import cmd
import contextlib
import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from .. import _native
from ..errors import CellrateError, LiveUnavailable
from ..folders.owned import temporary
from ..plugins.collection import NOTHING, Plugins
from ..scenario import Scenario
from . import adapters, names, privileges
from .attempt import NICENESS, Engine, prefer, prefer_session
from .doctor import isolation_words
from .links import Links
from .plugin_pipes import pack_plugins, take_plugins
from .process import environment, inside, search_path
from .supervision import TEMPORARY
from .theory import CELL_BITS

if TYPE_CHECKING:
    from ..seam import Recent

REQUEST = "shell.json"
STANDS = "1440 min"
"""How long a network stands at most."""
EVERY = "100 ms"
"""How often figures are renewed."""
PING_WITHIN_S = 2
"""How long the answer to a ping is waited for [s]."""
IPERF_S = 5
"""How long `iperf` sends, if one does not say [s]."""

WELCOME = """\
{count} hosts stand: {hosts}. Their names are in /etc/hosts.
HOST COMMAND runs a command on a host, HOST alone opens its shell; exit leaves. Also: pingall, iperf, rates, queues,
hosts, links, and link LINK rate=5Mbps delay=20ms loss=1% to change one.
"""


def open_shell(scenario: Scenario, host: str | None = None, plugins: Plugins = NOTHING) -> int:
    """Have a network of real hosts stand, with a shell over it, until one leaves; give the exit status.

    Parameters
    ----------
    scenario
        The network. It stands for 24 hours at most. Its duration, probes and applications are left aside: programs run
        when one types them.
    host
        A host, whose own shell it is then.
    plugins
        What is not built in.

    Raises
    ------
    CellrateError
        If a plugin is missing.
    ScenarioError
        If the scenario cannot be run live.
    LiveUnavailable
        If this machine or user cannot have hosts.
    """
    standing = _standing(scenario)
    standing.check()
    plugins.check([standing])
    with temporary(TEMPORARY) as folder:
        (folder / REQUEST).write_text(json.dumps({"toml": standing.toml, "file": standing.file, "host": host}))
        read, write = os.pipe()
        words = [*isolation_words(), sys.executable, "-m", "cellrate.live", "shell", str(folder), str(read)]
        package = str(Path(__file__).resolve().parents[2])
        paths = os.pathsep.join(filter(None, [package, os.environ.get("PYTHONPATH")]))
        # Ctrl-C is for what runs in the foreground; one leaves by `exit`, or by the end of the input.
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            with subprocess.Popen(
                words,
                pass_fds=[read],
                env={**os.environ, "PATH": search_path(), "PYTHONPATH": paths},
                preexec_fn=_hear_interrupts,
            ) as process:
                os.close(read)
                with os.fdopen(write, "wb") as pipe, contextlib.suppress(BrokenPipeError):
                    pipe.write(pack_plugins(plugins))
                return process.wait()
        except OSError as error:
            raise LiveUnavailable(
                f"{words[0]} cannot be started: {error.strerror}. `cellrate doctor` says what is missing."
            ) from None
        finally:
            signal.signal(signal.SIGINT, before)


def _standing(scenario: Scenario) -> Scenario:
    """Give the network of a scenario for as long as a shell may be open, with what `queues` shows and nothing else."""
    document = scenario.to_dict()
    for key in ("application", "sweep", "warm_up", "window"):
        document.pop(key, None)
    recorded = {"record": ["queue", "utilization"], "every": EVERY}
    return Scenario.from_dict({**document, "duration": STANDS, "probe": [recorded]}, file=scenario.file)


def _hear_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Shell(cmd.Cmd):
    """Commands over hosts that stand.

    Parameters
    ----------
    hosts
        Hosts by name.
    engine
        The network.
    series
        Probe and entity of each series, by its place.
    home
        Folder in which programs run.
    variables
        What programs find in their environment.
    """

    prompt = "cellrate> "

    def __init__(
        self,
        hosts: Mapping[str, _native.Host],
        engine: Engine,
        series: Sequence[tuple[str, str]],
        home: Path,
        variables: Mapping[str, str],
    ) -> None:
        super().__init__()
        self.hosts = hosts
        self.engine = engine
        self.series = series
        self.home = home
        self.variables = variables
        self.identity = privileges.identity_for([["sh"]], search_path(), home)
        privileges.hand_over(home, self.identity)
        self.latest: dict[int, float] = {}
        self.links = Links(engine.network)

    def look(self, _now_s: float, recent: Recent) -> None:
        """Take in what series have recorded."""
        for place, _, values in recent:
            if len(values):
                self.latest[place] = float(values[-1])

    def run_on(self, name: str, words: Sequence[str], *, prompt: str | None = None) -> int:
        """Run a program on a host, in the foreground of the terminal; give its exit status."""
        host = self.hosts[name]
        variables = dict(self.variables) | ({} if prompt is None else {"PS1": prompt})
        command = inside(host, [*self.identity.words(), *words])
        with subprocess.Popen(command, pass_fds=[host.fileno()], cwd=self.home, env=variables) as process:
            while True:
                with contextlib.suppress(KeyboardInterrupt):
                    return process.wait()

    def shell_on(self, name: str) -> int:
        """Open the shell of a host."""
        if not sys.stdin.isatty():
            return self.run_on(name, ["sh"])
        bash = shutil.which("bash", path=search_path())
        words = ["sh", "-i"] if bash is None else [bash, "--norc", "--noprofile", "-i"]
        return self.run_on(name, words, prompt=f"{name}> ")

    def pairs(self) -> list[tuple[str, str]]:
        """Give the pairs of hosts between which a VC carries packets, each both ways."""
        found = []
        for pair in itertools.permutations(self.hosts, 2):
            with contextlib.suppress(LookupError):
                self.engine.offer(*pair)
                found.append(pair)
        return found

    def default(self, line: str) -> None:
        """Run the rest of a line on the host that it begins with."""
        first, _, command = line.strip().partition(" ")
        if first not in self.hosts:
            self._complain(f'"{first}" is neither a command nor a host; hosts: {", ".join(self.hosts)}; `help`')
        elif not command:
            self.shell_on(first)
        else:
            # A shell of the host reads it, so that pipes and redirections work.
            self.run_on(first, ["sh", "-c", command])

    def _at_the_end(self, _line: str) -> bool:
        print()
        return True

    # What cmd calls at the end of the input.
    do_EOF = _at_the_end  # noqa: N815

    def do_pingall(self, _line: str) -> None:
        """Ping every host from every other one that a VC leads to."""
        if shutil.which("ping", path=search_path()) is None:
            self._complain("ping is not installed: apt install iputils-ping")
            return
        pairs, lost = self.pairs(), 0
        for one, other in pairs:
            words = ["ping", "-c", "1", "-W", str(PING_WITHIN_S), "-q", other]
            answered = self._quietly(one, words).returncode == 0
            lost += not answered
            print(f"{one} -> {other}: {'answered' if answered else 'no answer'}")
        print(f"{lost} of {len(pairs)} without an answer")

    def do_iperf(self, line: str) -> None:
        """Send TCP from one host to another, for 5 s if not said otherwise: iperf FROM TO [SECONDS]."""
        words = line.split()
        seconds = words[2] if len(words) == 3 else str(IPERF_S)
        if len(words) not in (2, 3) or not set(words[:2]) <= self.hosts.keys() or not seconds.isdecimal():
            self._complain(f"write: iperf FROM TO [SECONDS]; hosts: {', '.join(self.hosts)}")
            return
        if shutil.which("iperf3", path=search_path()) is None:
            self._complain("iperf3 is not installed: apt install iperf3")
            return
        sender, receiver = words[:2]
        self._quietly(receiver, ["iperf3", "--server", "--one-off", "--daemon"])
        self.run_on(sender, ["iperf3", "--client", receiver, "--time", seconds])

    def do_rates(self, _line: str) -> None:
        """Show ACR and PCR of each way as they are."""
        for one, other in self.pairs():
            acr, pcr = (rate * CELL_BITS / 1e6 for rate in self.engine.offer(one, other))
            print(f"{one} -> {other}: ACR {acr:.3f} of {pcr:.3f} Mbps")

    def do_queues(self, _line: str) -> None:
        """Show queue and utilization of each port as they are."""
        values: dict[str, dict[str, float]] = {}
        for place, (probe, entity) in enumerate(self.series):
            if probe in ("queue", "utilization") and place in self.latest:
                values.setdefault(entity, {})[probe] = self.latest[place]
        for port, read in values.items():
            print(f"{port}: {read.get('queue', 0):.0f} cells, {100 * read.get('utilization', 0):.1f} % in use")

    def do_hosts(self, _line: str) -> None:
        """Show the hosts with their addresses."""
        for name, host in self.hosts.items():
            print(f"{name}\t{host.address}")

    def do_links(self, _line: str) -> None:
        """Show rate, delay and loss of each link as they are."""
        print("\n".join(self.links.told()))

    def do_link(self, line: str) -> None:
        """Change a link, both ways, within some 50 ms: link LINK rate=5Mbps delay=20ms loss=1%, one of them or more."""
        try:
            print(self.links.change(line))
        except CellrateError as error:
            self._complain(str(error))

    def do_exit(self, _line: str) -> bool:
        """Leave; the network and everything on it ends."""
        return True

    do_quit = do_exit

    def emptyline(self) -> bool:
        """Do nothing."""
        return False

    def postcmd(self, stop: bool, line: str) -> bool:
        """Leave also where the network has ended."""
        if self.engine.error is not None:
            print(f"the network has ended: {self.engine.error}", file=sys.stderr)
            return True
        return stop

    def completenames(self, text: str, *ignored: object) -> list[str]:
        """Complete commands and hosts."""
        commands = [name for name in super().completenames(text, *ignored) if name != "EOF"]
        return commands + [name for name in self.hosts if name.startswith(text)]

    def completedefault(self, text: str, *_ignored: object) -> list[str]:
        """Complete hosts behind the first word."""
        return [name for name in self.hosts if name.startswith(text)]

    complete_iperf = completedefault

    def complete_link(self, text: str, line: str, begin: int, _end: int) -> list[str]:
        """Complete the link, and what of it changes."""
        return self.links.completions(text, line[:begin].split()[1:])

    def _quietly(self, name: str, words: Sequence[str]) -> subprocess.CompletedProcess[bytes]:
        host = self.hosts[name]
        command = inside(host, [*self.identity.words(), *words])
        return subprocess.run(
            command, pass_fds=[host.fileno()], cwd=self.home, env=dict(self.variables), capture_output=True, check=False
        )

    def _complain(self, text: str) -> None:
        print(text, file=sys.stderr)


def main(folder: Path, plugins_at: int) -> int:
    """Have the network stand, and read commands from the terminal."""
    request = json.loads((folder / REQUEST).read_text())
    with os.fdopen(plugins_at, "rb") as pipe:
        plugins = take_plugins(pipe.read())
    prefer_session(NICENESS)
    prefer(NICENESS)
    scenario = Scenario.parse(request["toml"], file=request["file"])
    hosts = {host.name: host for host in _native.make_hosts(scenario._native)}
    if request["host"] not in (None, *hosts):
        print(f'cellrate: there is no host "{request["host"]}"; hosts: {", ".join(hosts)}', file=sys.stderr)
        return 2
    engine = Engine(scenario, list(hosts.values()), plugins=plugins, changes_links=True)
    tools = names.prepare(folder, list(hosts.values()))
    folder.chmod(0o711)
    (home := folder / "home").mkdir()
    socket = folder / "adapters.sock"
    path = os.pathsep.join([str(tools), search_path()])
    variables = environment(home, {"PATH": path, adapters.ENVIRONMENT: str(socket)})
    series = [(probe, entity) for probe, entity, _, _ in scenario._series()]
    shell = Shell(hosts, engine, series, home, variables)
    with adapters.served(socket, engine.offer):
        engine.start(lambda _: None, None, shell.look)
        # The session is told to prefer the network, not what is typed.
        prefer(0)
        if request["host"] is not None:
            status = shell.shell_on(request["host"])
        else:
            status = 0
            shell.intro = WELCOME.format(count=len(hosts), hosts=", ".join(hosts))
            _commands(shell)
    sys.stdout.flush()
    # The engine's thread goes on: it ends with this process, and with it everything on hosts.
    os._exit(int(engine.error is not None) or status)


def _commands(shell: Shell) -> None:
    """Read commands until one leaves; Ctrl-C leaves a line, not the shell."""
    with contextlib.suppress(ImportError):
        import readline

        readline.set_completer_delims(" \t\n")
    while True:
        try:
            return shell.cmdloop()
        except KeyboardInterrupt:
            print()
            shell.intro = None
