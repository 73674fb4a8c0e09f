"""Live runs on this machine: every kind of application, failures, and that nothing stays behind.

Skipped, with the reason, where hosts cannot be had.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import cellrate
from cellrate.command_line.main import status
from cellrate.live import doctor, live_run
from cellrate.live.attempt import session_niceness
from cellrate.live.process import search_path
from cellrate.wireshark.capture import Capture

_FOUND = doctor.findings()
pytestmark = pytest.mark.skipif(bool(doctor.missing_requirements(_FOUND)), reason=doctor.sentence(_FOUND))

NETWORK = """# Two hosts and a switch, live.
name = "live-pair"
duration = "{duration}"

[defaults]
link = {{ rate = "10 Mbps", delay = "1 ms" }}
switch.algorithm = {{ type = "erica", target_utilization = "95 %" }}
vc.traffic = {{ type = "none" }}

[[host]]
name = "a"

[[host]]
name = "b"

[[switch]]
name = "sw"

[[link]]
between = ["a", "sw"]

[[link]]
between = ["sw", "b"]

[[vc]]
name = "vc"
path = ["a", "sw", "b"]
"""


def scenario(duration: str, *applications: str) -> str:
    return NETWORK.format(duration=duration) + "\n".join(applications)


def application(name: str, kind: str, more: str = "") -> str:
    return f'\n[[application]]\nname = "{name}"\nhost = "a"\npeer = "b"\nkind = {kind}\n{more}\n'


def needs(*programs: str) -> None:
    missing = [program for program in programs if shutil.which(program, path=search_path()) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}; cellrate doctor says how to get it")


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "cellrate", *words]


def holders(text: str) -> list[int]:
    """Processes with this text among their words."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and int(folder.name) != os.getpid():
            try:
                words = (folder / "cmdline").read_bytes()
            except OSError:
                continue
            if text.encode() in words:
                found.append(int(folder.name))
    return found


def users_of(namespace: str) -> list[str]:
    """Processes in a network namespace, and descriptors that hold it."""
    found = []
    for link in [*Path("/proc").glob("[0-9]*/ns/net"), *Path("/proc").glob("[0-9]*/fd/*")]:
        try:
            if str(link.readlink()) == namespace:
                found.append(str(link))
        except OSError:
            continue
    return found


def until(condition: Callable[[], Any], seconds: float = 20.0) -> Any:
    last = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < last, "it has not come about in time"
        time.sleep(0.02)
    return value


@pytest.mark.clock
def test_every_kind_of_application_runs_over_one_connection(tmp_path: Path) -> None:
    needs("vsftpd", "curl", "nginx", "ffmpeg", "gst-launch-1.0", "iperf3")
    text = scenario(
        "5 s",
        application("bulk", '{ type = "ftp", size = "300 kB" }'),
        application("pages", '{ type = "web", pages = 2, image = "20 kB", gap = "100 ms" }', 'start = "500 ms"'),
        application("film", '{ type = "video", rate = "1.5 Mbps", frame_rate = 12 }', 'start = "500 ms"\nend = "4 s"'),
        application("talk", '{ type = "voice", redundancy = 1, playout_delay = "1 s" }', 'end = "4 s"'),
        application("meter", '{ type = "iperf3", protocol = "udp", rate = "500 kbps" }', 'start = "1 s"'),
        application("echo", '{ type = "command", words = ["echo", "{host}", "{peer}"] }'),
    )
    run = live_run(cellrate.Scenario.parse(text), attempts=1, allow_commands=True, folder=tmp_path)
    assert run.failed_applications == [], [row["complaints"] for row in run.result.summary["applications"]]
    results = {row["application"]: row["result"] for row in run.result.summary["applications"]}
    assert (results["bulk"]["octets"], results["bulk"]["complete"]) == (300_000, True)
    assert (results["pages"]["pages_complete"], results["pages"]["failed_objects"]) == (2, 0)
    # 12 per second from 0.5 to 4 s are 42, less what the sender takes to begin on a busy machine.
    assert 24 <= results["film"]["frames_sent"] <= 43
    assert results["film"]["frames_whole"] >= results["film"]["frames_sent"] - 2
    assert results["talk"]["packets"] > 100
    assert results["meter"]["goodput_bps"] == pytest.approx(500_000, rel=0.2)
    assert results["echo"]["output_tail"] == "10.0.0.1 10.0.0.2\n"
    kernels = {row["host"]: row for row in run.result.summary["kernels"]}
    assert kernels["a"]["settings"]["net.ipv4.tcp_no_metrics_save"] == "1"
    assert "congctl reno" in kernels["a"]["routes"]
    assert kernels["a"]["device"]["sent_packets"] > 300
    assert kernels["b"]["device"]["received_packets"] > 300
    kept = tmp_path / "attempt-1" / "applications"
    assert (kept / "bulk" / "vsftpd.conf").is_file()
    assert not (kept / "bulk" / "files").exists(), "the file itself is not worth keeping"


@pytest.mark.skipif(os.geteuid() != 0, reason="precedence over other programs is root's")
def test_the_engine_and_the_applications_go_before_other_sessions() -> None:
    if not Path("/proc/self/autogroup").exists():
        pytest.skip("this kernel does not schedule sessions as groups")
    needs()
    ours = session_niceness()
    words = json.dumps(["cat", "/proc/self/autogroup"])
    text = scenario("1 s", application("told", f'{{ type = "command", words = {words} }}'))
    run = live_run(cellrate.Scenario.parse(text), attempts=1, allow_commands=True)
    assert run.application("told")["result"]["output_tail"].split()[-1] == "-10"
    assert run.result.summary["run"]["session_niceness"] == -10
    assert session_niceness() == ours, "only the run's own session"


@pytest.mark.clock
def test_a_sender_that_follows_acr_sends_what_it_carries() -> None:
    needs("ffmpeg")
    # 24 frames of 20 kB per second are 3.84 Mbps; ABR has 2 Mbps.
    text = scenario("4 s", application("film", '{ type = "video", rate = "3.84 Mbps", follow_acr = true }'))
    run = live_run(cellrate.Scenario.parse(text), attempts=1, allow_commands=True, set={"link.sw-b.rate": "2 Mbps"})
    result = run.application("film")["result"]
    assert result["frames_lost_in_network"] <= 2, "but for what is on its way at the end"
    asked = [frame["acr_bps"] for frame in result["frames"][10:]]
    assert 1.0e6 < sum(asked) / len(asked) < 2.0e6
    assert 6 < result["sent_frame_rate"] < 12, "0.9 x 1.9 Mbps / 24 frames of 177 kbit each"


def test_a_crashed_application_fails_the_run_and_says_why(tmp_path: Path) -> None:
    file = tmp_path / "crash.toml"
    words = '["sh", "-c", "echo out of order >&2; exit 7"]'
    file.write_text(scenario("1 s", application("broken", f'{{ type = "command", words = {words} }}')))
    done = subprocess.run(
        command("live", "run", str(file), "--out", str(tmp_path / "out"), "--attempts", "1", "--json"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    row = json.loads(done.stdout)["applications"][0]
    assert (row["failed"], row["exit_status"], row["ended"]) == (True, 7, "by itself")
    assert row["complaints"] == ["program ended with status 7: out of order"]
    assert json.loads((tmp_path / "out" / "summary.json").read_text())["applications"][0] == row
    assert (tmp_path / "out" / "attempt-1" / "applications" / "broken" / "program.err").read_text() == "out of order\n"


DATAGRAM = json.dumps(
    [
        sys.executable,
        "-c",
        "import socket; socket.socket(type=socket.SOCK_DGRAM).sendto(bytes(400), ('{peer}', 9))",
    ]
)


def test_a_capture_of_the_last_attempt_is_whole_and_where_it_was_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "capture.toml"
    file.write_text(scenario("1 s", application("one", f'{{ type = "command", words = {DATAGRAM} }}')))
    folder = tmp_path / "capture"
    run = live_run(file, attempts=1, capture=Capture(folder=folder, ports=["sw->b"], pdus=False))
    (captured,) = run.result.captured
    assert captured.path == folder / "cells.pcapng"
    assert captured.octets == captured.path.stat().st_size
    (port,) = [row for row in run.result.summary["ports"] if row["port"] == "sw->b"]
    assert 0 < captured.records == port["transmitted"]
    assert [path.name for path in folder.iterdir()] == ["cells.pcapng"]


def capturing(tmp_path: Path, folder: Path) -> tuple[int, Path]:
    """A command that captures into `folder`: its status, and the folder of its results."""
    file, out = tmp_path / "capture.toml", tmp_path / "out"
    file.write_text(scenario("1 s", application("one", f'{{ type = "command", words = {DATAGRAM} }}')))
    words = ["live", "run", str(file), "--out", str(out), "--attempts", "1", "--capture", str(folder)]
    return status(words), out


def test_a_capture_that_cannot_be_written_is_said_before_anything_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cellrate.live.supervision.attempt", lambda *_: pytest.fail("it runs"))
    (tmp_path / "file").touch()
    exit_status, out = capturing(tmp_path, tmp_path / "file")
    assert exit_status == 1
    assert capsys.readouterr().err == f"cellrate: cannot write the capture {tmp_path / 'file'}: File exists\n"
    assert capturing(tmp_path, Path("/proc/cells"))[0] == 1
    assert "cannot write the capture /proc/cells: No such file" in capsys.readouterr().err
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=900_000))
    assert capturing(tmp_path, tmp_path / "cells")[0] == 1
    assert "0.9 MB are free there; 1 MB are the least" in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["capture.toml", "file"]
    assert not out.exists()


def test_a_capture_costs_no_figures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # Where a file should go there is a folder.
    (tmp_path / "cells" / "cells.pcapng").mkdir(parents=True)
    exit_status, out = capturing(tmp_path, tmp_path / "cells")
    assert exit_status == 1
    said = capsys.readouterr()
    assert f"cannot write the capture {tmp_path / 'cells' / 'cells.pcapng'}: Is a directory" in said.err
    assert f"{tmp_path / 'cells' / 'pdus.pcapng'}: " in said.out
    assert (out / "summary.json").exists()
    assert sorted(path.name for path in (tmp_path / "cells").iterdir()) == ["cells.pcapng", "pdus.pcapng"]


def test_a_capture_has_the_room_that_there_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cellrate.live.capture_staging.LEAST_OCTETS", 0)
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=4_000))
    folder = tmp_path / "cells"
    exit_status, out = capturing(tmp_path, folder)
    assert exit_status == 1
    assert f"the capture {folder / 'cells.pcapng'} is cut off, " in capsys.readouterr().err
    assert (out / "summary.json").exists()
    assert sum(path.stat().st_size for path in folder.iterdir()) < 4_000
    assert sorted(path.name for path in folder.iterdir()) == ["cells.pcapng", "pdus.pcapng"]


def test_a_server_that_does_not_come_up_is_an_error_with_its_last_words() -> None:
    words = '["sh", "-c", "echo no luck >&2; exit 3"]'
    kind = f'{{ type = "command", words = {words}, background = true, ready = {{ port = 99 }} }}'
    with pytest.raises(cellrate.RunError, match="ended with status 3 before it was ready: no luck"):
        live_run(cellrate.Scenario.parse(scenario("1 s", application("server", kind))), attempts=1, allow_commands=True)


def test_what_is_not_there_is_named_before_anything_runs(tmp_path: Path) -> None:
    def refused(word: str) -> str:
        kind = f'{{ type = "command", words = ["{word}"] }}'
        text = scenario("1 s", application("x", kind))
        with pytest.raises(cellrate.RunError) as caught:
            live_run(cellrate.Scenario.parse(text, file=str(tmp_path / "x.toml")), attempts=1, allow_commands=True)
        return str(caught.value)

    assert 'application "x": there is no program no-such-program on PATH' in refused("no-such-program")
    assert f"there is no program {tmp_path}/own.sh; a path is seen from the" in refused("./own.sh")
    (tmp_path / "own.sh").write_text("#!/bin/sh\n")
    assert f"{tmp_path}/own.sh may not be executed" in refused("./own.sh")


def test_a_command_beside_the_scenario_runs_in_a_folder_of_its_own(tmp_path: Path) -> None:
    own = tmp_path / "own.sh"
    own.write_text("#!/bin/sh\npwd; echo kept >kept.txt\n")
    own.chmod(0o755)
    file = tmp_path / "own.toml"
    file.write_text(scenario("1 s", application("x", '{ type = "command", words = ["./own.sh"] }')))
    (tmp_path / "results").mkdir()
    run = live_run(file, attempts=1, folder=tmp_path / "results")
    assert run.failed_applications == []
    assert run.application("x")["result"]["output_tail"].endswith("/applications/x\n")
    assert (tmp_path / "results" / "attempt-1" / "applications" / "x" / "kept.txt").exists()


def running(tmp_path: Path, temporary: Path) -> tuple[subprocess.Popen[bytes], str, str]:
    """A run of a minute under way: the supervisor, the mark of its program, and the network namespace of that."""
    mark = f"mark-{uuid.uuid4().hex}"
    file = tmp_path / "long.toml"
    # The program leaves a child in a session of its own, which no signal to a group reaches.
    words = json.dumps(["sh", "-c", f"setsid sleep 1000 {mark} 2>/dev/null & exec sh -c 'sleep 1000; : {mark}'"])
    words = words.replace(f"sleep 1000 {mark}", f"sh -c 'sleep 1000; : {mark}'")
    file.write_text(scenario("60 s", application("long", f'{{ type = "command", words = {words} }}')))
    supervisor = subprocess.Popen(
        command("live", "run", str(file), "--out", str(tmp_path / "out")),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        env={**os.environ, "TMPDIR": str(temporary)},
    )
    programs = until(lambda: [pid for pid in holders(mark) if pid != supervisor.pid])
    time.sleep(0.3)
    namespace = str(Path(f"/proc/{programs[0]}/ns/net").readlink())
    return supervisor, mark, namespace


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_nothing_stays_when_the_supervisor_is_ended(tmp_path: Path, number: signal.Signals) -> None:
    # Not below tmp_path: the path of a Unix socket is short.
    with tempfile.TemporaryDirectory(prefix="cr-") as temporary:
        supervisor, mark, namespace = running(tmp_path, Path(temporary))
        assert holders(mark)
        assert namespace != str(Path("/proc/self/ns/net").readlink())
        supervisor.send_signal(number)
        _, errors = supervisor.communicate(timeout=20)
        until(lambda: not holders(mark))
        until(lambda: not users_of(namespace))
        left = {path.name.split("-")[0] for path in Path(temporary).iterdir()}
    assert not (tmp_path / "out").exists(), "no half results"
    beside = {path.suffix for path in tmp_path.iterdir()} - {".toml"}
    if number == signal.SIGKILL:
        # As the guide says.
        assert (left, beside) == ({"cellrate"}, {".partial"})
    else:
        said = {
            signal.SIGINT: (1, b"interrupted"),
            signal.SIGTERM: (143, b"terminated"),
            signal.SIGHUP: (129, b"hung up"),
        }
        assert (supervisor.returncode, errors) == (said[number][0], b"cellrate: " + said[number][1] + b"\n")
        assert (left, beside) == (set(), set())


def test_a_killed_engine_is_told_without_what_unshare_says_of_itself(tmp_path: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="cr-") as temporary:
        supervisor, mark, _ = running(tmp_path, Path(temporary))
        # What setpriv has become, and below it the first process of the namespace.
        (unshare,) = children(supervisor.pid)
        (engine,) = children(unshare)
        os.kill(engine, signal.SIGKILL)
        _, errors = supervisor.communicate(timeout=20)
        until(lambda: not holders(mark))
    assert supervisor.returncode == 1
    assert b"the attempt was ended by SIGKILL, as the kernel does where memory is short, and without a result" in errors
    assert b"sigprocmask" not in errors


def children(pid: int) -> list[int]:
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for task in tasks for child in task.read_text().split()]


def test_without_the_rights_the_status_is_3_and_the_message_says_what_to_do(tmp_path: Path) -> None:
    fake = tmp_path / "unshare"
    fake.write_text('#!/bin/sh\necho "unshare: unshare failed: Operation not permitted" >&2\nexit 1\n')
    fake.chmod(0o755)
    file = tmp_path / "pair.toml"
    file.write_text(scenario("1 s"))
    done = subprocess.run(
        command("live", "run", str(file)),
        env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 3, done.stderr
    assert "Operation not permitted" in done.stderr
    assert "cellrate doctor" in done.stderr


def test_a_simulation_names_the_application_and_the_command_for_it(tmp_path: Path) -> None:
    file = tmp_path / "pair.toml"
    file.write_text(scenario("1 s", application("bulk", '"ftp"')))
    done = subprocess.run(command("run", str(file)), capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert 'the application "bulk" needs a live run' in done.stderr
    assert "cellrate live run" in done.stderr


def free_ports(number: int) -> list[int]:
    """UDP ports that nobody has, for now."""
    held = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(number)]
    for one in held:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in held]
    for one in held:
        one.close()
    return ports


@pytest.mark.clock
def test_a_switch_in_a_process_of_its_own_carries_the_same_packets(tmp_path: Path) -> None:
    a, b, sw = (f"127.0.0.1:{port}" for port in free_ports(3))
    sending = 'import socket; socket.socket(2, 2).sendto(b"x" * 5000, ("{peer}", 9))'
    words = json.dumps([sys.executable, "-c", sending])
    text = scenario(
        "2 s",
        application("datagram", f'{{ type = "command", words = {words} }}'),
        f'\n[live]\nnodes = {{ a = "{a}", b = "{b}", sw = "{sw}" }}\n',
    )
    run = live_run(cellrate.Scenario.parse(text), attempts=1, allow_commands=True, distributed=True, folder=tmp_path)
    assert run.failed_applications == []
    summary = run.result.summary
    assert [process["node"] for process in summary["processes"]] == ["sw"]
    assert {row["link"] for row in summary["links"]} >= {"sw-a", "sw-b"}
    adapters = {row["vc"]: row for row in summary["adapters"]}
    assert adapters["vc"]["packets_delivered"] == 1
    ports = {row["port"]: row for row in summary["ports"]}
    # 5000 + 28 octets with LLC/SNAP and trailer are 106 cells, and RM cells beside them.
    assert 106 < ports["sw->b"]["transmitted"] < 120
    assert (tmp_path / "attempt-1" / "nodes" / "sw.json").is_file()


def test_a_distributed_run_needs_addresses_and_a_start_for_what_is_elsewhere() -> None:
    plain = cellrate.Scenario.parse(scenario("1 s"))
    with pytest.raises(cellrate.CellrateError, match="no address of a, b, sw"):
        live_run(plain, distributed=True)
    nodes = '\n[live]\nnodes = { a = "127.0.0.1:1", b = "127.0.0.1:2", sw = "127.0.0.1:3" }\n'
    addressed = cellrate.Scenario.parse(scenario("1 s", nodes))
    with pytest.raises(cellrate.CellrateError, match=r"needs `start_unix_ns` \(--start\)"):
        live_run(addressed, distributed=True, elsewhere=["sw"])
    with pytest.raises(cellrate.CellrateError, match="a: no switch of that name; there are sw"):
        live_run(addressed, distributed=True, elsewhere=["a"], start_unix_ns=1)


@pytest.mark.clock
def test_the_throughput_of_the_engine_is_that_of_the_packets_that_came(capsys: pytest.CaptureFixture[str]) -> None:
    needs()
    assert status(["live", "throughput", "--seconds", "0.2", "--packet-octets", "1500", "--json"]) == 0
    memory, tun = json.loads(capsys.readouterr().out)["throughput"]
    assert (memory["devices"], tun["devices"]) == ("memory", "tun")
    for row in (memory, tun):
        # 1500 octets with LLC/SNAP and trailer are 32 cells; an RM cell more after 31 of data.
        assert row["cells"] > 32 * 10
        assert row["cells_per_s"] == pytest.approx(row["cells"] / row["wall_s"])
    assert status(["live", "throughput", "--packet-octets", "20"]) == 2
    assert "packet_octets is 20; it must be from 29 to 9180" in capsys.readouterr().err


def test_pings_beside_a_load_are_told_from_those_alone_and_pictures_lie_on_one_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    needs("ping", "iperf3")
    monkeypatch.chdir(tmp_path)
    probe = '\n[[probe]]\nrecord = ["acr"]\nof = ["vc"]\nevery = "100 ms"\n'
    ping = application("ping", '{ type = "ping", interval = "100 ms" }')
    bulk = application("bulk", '{ type = "iperf3", streams = 2 }', 'start = "1 s"\nend = "4 s"')
    Path("load.toml").write_text(scenario("6 s", ping, bulk, probe))
    # Exit status 1 where the machine was busy: figures are there all the same.
    assert status(["live", "run", "load.toml", "--attempts", "1", "--repeat", "2", "--out", "load"]) in (0, 1)
    told = capfd.readouterr().out
    assert told.count("Latency under load, ping: median") == 2
    assert told.count("Means over") + told.count("None of the 2 runs was in time") == 1
    for result in cellrate.load_sweep("load"):
        figures = result.summary["applications"][0]["result"]
        assert 0 < figures["received"] <= figures["sent"] == 50
        trips, goodput = (result.series(name, entity=of) for name, of in (("round_trip", "ping"), ("goodput", "bulk")))
        assert len(trips) == figures["received"]
        assert trips.values.min() > 0.004
        assert goodput.between("1 s", "2.9 s").values.max() > 1e6
    (simulated := Path("simulated.toml")).write_text(
        NETWORK.format(duration="6 s").replace('vc.traffic = { type = "none" }\n', "") + probe
    )
    assert status(["run", str(simulated), "--out", "simulated"]) == 0
    beside = ["load/run-001", "--beside", "load/run-002", "--beside", "simulated", "--out", "beside.svg"]
    assert status(["plot", *beside]) == 0
    drawn = Path("beside.svg").read_text()
    for name in ("run-001", "run-002", "simulated", "round trip", "goodput"):
        assert name in drawn, name
