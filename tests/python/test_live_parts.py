"""Parts of live runs, without hosts: playing, hearing, reading what programs say, theory, the doctor."""

from __future__ import annotations

import io
import json
import socket
from pathlib import Path
from typing import Any

import pytest

from cellrate.command_line.main import status
from cellrate.errors import CellrateError
from cellrate.live import adapters, doctor, table, theory
from cellrate.live.applications import Application, Plan, Surroundings, check, iperf3, plan, web
from cellrate.live.playout import Frame, hear, jitter, play, whole_frames
from cellrate.live.programs import datagram_recorder, video_sender
from cellrate.terminal import Console
from conftest import PAIR


def frames(*arrivals: float, octets: int = 1000, period: float = 1.0) -> list[Frame]:
    return [Frame(at, number * period, octets) for number, at in enumerate(arrivals)]


def test_frames_in_time_are_all_played_and_leave_the_buffer_as_they_are_shown() -> None:
    outcome = play(frames(0.0, 1.0, 2.0, 3.0), buffer_octets=2000, prebuffer_s=1.5, wait=True)
    # Shown at 1.5, 2.5, 3.5 ...: two are in the buffer when the third comes at 2 (the first has gone at 1.5).
    assert (outcome.played, outcome.overflowed, outcome.stalls) == (4, 0, 0)
    assert outcome.max_buffer_octets == 2000


def test_a_burst_overflows_the_buffer_by_what_does_not_fit() -> None:
    burst = frames(0.0, 0.1, 0.2, 0.3, 0.4)
    outcome = play(burst, buffer_octets=3000, prebuffer_s=1.0, wait=True)
    assert (outcome.played, outcome.overflowed) == (3, 2)
    assert play(burst, buffer_octets=5000, prebuffer_s=1.0, wait=True).overflowed == 0
    assert play(burst, buffer_octets=4999, prebuffer_s=1.0, wait=True).overflowed == 1


def test_a_late_frame_is_waited_for_or_lost() -> None:
    # Due at 0.5, 1.5, 2.5, 3.5; the third comes at 3.
    late = frames(0.0, 1.0, 3.0, 3.1)
    waits = play(late, buffer_octets=9000, prebuffer_s=0.5, wait=True)
    assert (waits.played, waits.stalls) == (4, 1)
    assert waits.stalled_s == pytest.approx(0.5)
    skips = play(late, buffer_octets=9000, prebuffer_s=0.5, wait=False)
    assert (skips.played, skips.late, skips.stalls) == (3, 1, 0)
    in_time = play(frames(0.0, 1.0, 2.5, 3.1), buffer_octets=9000, prebuffer_s=0.5, wait=False)
    assert in_time.late == 0, "at its very instant it is in time"


def test_a_frame_is_whole_when_every_piece_has_come_in_any_order() -> None:
    def piece(stamp: int, offset: int, at: float, *, marker: int = 0) -> dict[str, Any]:
        return {"at_s": at, "stamp": stamp, "offset": offset, "octets": 100, "marker": marker}

    packets = [
        piece(0, 0, 10.0),
        piece(0, 200, 10.2, marker=1),
        piece(0, 100, 10.3),
        piece(90_000, 0, 11.0),
        piece(90_000, 200, 11.1, marker=1),
        piece(180_000, 0, 12.0),
    ]
    whole, broken = whole_frames(packets)
    assert [(frame.media_s, frame.octets) for frame in whole] == [(0.0, 300)]
    assert whole[0].at_s == pytest.approx(0.3), "when its last piece came"
    assert broken == 2, "one lacks its middle, one its end"
    assert whole_frames([]) == ([], 0)


def voice(*numbers: int, late: dict[int, float] | None = None, copies: int = 0) -> list[dict[str, Any]]:
    return [
        {
            "at_s": 5 + number * 0.02 + (late or {}).get(number, 0.0),
            "sequence": number,
            "stamp": 1000 + number * 160,
            "copies": [160 * copies] if copies else [],
        }
        for number in numbers
    ]


def test_lost_and_late_packets_of_voice_are_silence() -> None:
    told = hear(voice(0, 1, 4, 5, 6, late={6: 0.07}), packet_s=0.02, playout_delay_s=0.06)
    assert (told["packets_due"], told["packets"], told["lost"], told["late"]) == (7, 5, 2, 1)
    assert (told["heard"], told["silent_periods"], told["silent_s"]) == (4, 2, pytest.approx(0.06))
    assert hear(voice(0, 1, late={1: 0.05}), packet_s=0.02, playout_delay_s=0.06)["late"] == 0
    assert hear([], packet_s=0.02, playout_delay_s=0.06) == {"packets": 0, "heard": 0}


def test_a_copy_in_a_later_packet_stands_in_if_it_comes_in_time() -> None:
    lost_one = voice(0, 1, 3, 4, copies=1)
    assert hear(lost_one, packet_s=0.02, playout_delay_s=0.03)["recovered"] == 1
    # The copy of packet 2 comes with packet 3, 20 ms after packet 2 should have.
    assert hear(lost_one, packet_s=0.02, playout_delay_s=0.01)["silent_periods"] == 1


def test_timestamps_of_rtp_begin_anywhere_and_go_round() -> None:
    plain = voice(0, 1, 2, 3, 5, 6, copies=1, late={3: 0.016})
    turned = [{**packet, "stamp": (packet["stamp"] + 2**32 - 1300) % 2**32} for packet in plain]
    assert turned[-1]["stamp"] < turned[0]["stamp"]
    told = hear(turned, packet_s=0.02, playout_delay_s=0.06)
    assert (told["packets_due"], told["recovered"]) == (7, 1)
    assert told == hear(plain, packet_s=0.02, playout_delay_s=0.06)


def test_jitter_is_that_of_rfc_3550() -> None:
    # One packet 16 ms late: |D| is 16 ms twice, and each counts a sixteenth.
    assert jitter(voice(0, 1, 2)) == pytest.approx(0.0)
    assert jitter(voice(0, 1, 2, late={1: 0.016})) == pytest.approx(0.001 + (0.016 - 0.001) / 16)


def test_the_most_that_tcp_can_carry_by_hand() -> None:
    # 9180 + 16 octets are 192 cells: 9128 / (192 x 53) of the line, less one cell in 32.
    most = theory.goodput(10e6, mtu_octets=9180)
    assert most.bps == pytest.approx(10e6 * 31 / 32 * 9128 / (192 * 53))
    # 1500 + 16 are 32 cells, nearly full.
    assert theory.goodput(10e6, mtu_octets=1500, nrm=None).bps == pytest.approx(10e6 * 1448 / (32 * 53))
    assert theory.goodput(10e6, mtu_octets=1520).payload == pytest.approx(1468 / (32 * 53))
    assert theory.goodput(10e6, mtu_octets=1521).payload == pytest.approx(1469 / (33 * 53)), "one octet, one more cell"


def test_pages_are_summed_up_with_failures_apart() -> None:
    def fetched(kind: str, seconds: float, status: int = 200) -> dict[str, Any]:
        return {"object": kind, "response_s": seconds, "connect_s": 0.0, "status": status, "at_s": 0.0, "page": 1}

    told = web.summary(
        [fetched("html", 0.004), fetched("image", 2.0), fetched("html", 0.006), fetched("image", 9.0, 0)], 3
    )
    assert (told["pages"], told["pages_complete"], told["failed_objects"]) == (3, 1, 1)
    assert told["html_response_s"]["mean"] == pytest.approx(0.005)
    assert told["image_response_s"] == {"mean": 2.0, "deviation": None, "least": 2.0, "most": 2.0}
    assert web.summary([], 3)["html_response_s"]["mean"] is None


def test_iperf3_counts_the_receivers_whole_seconds() -> None:
    def second(octets: int, seconds: float = 1.0) -> dict[str, Any]:
        return {"sum": {"bytes": octets, "seconds": seconds}}

    sender = {
        "end": {
            "streams": [{"sender": {"mean_rtt": 2000, "max_snd_cwnd": 90_000}}],
            "sum_sent": {"retransmits": 3},
        }
    }
    receiver = {"intervals": [second(1_000_000), second(1_250_000), second(0, 0.17)], "end": {"streams": [{}]}}
    told = iperf3.summary(sender, receiver)
    assert told["goodput_bps"] == pytest.approx(9e6)
    assert (told["retransmissions"], told["mean_rtt_s"]) == (3, pytest.approx(0.002))
    assert iperf3.summary({"error": "refused"}, {})["error"] == "refused"
    assert "no figures" in iperf3.summary({}, {})["error"]


class Host:
    """As much of a host as a plan needs."""

    name = "a"
    address = "10.0.0.1"

    def fileno(self) -> int:
        return 0


def planned(folder: Path, kind: str, **settings: Any) -> Plan:
    around = Surroundings(0, Host(), Host(), folder, folder, folder / "adapters.sock", 1500, 10.0)
    return plan(Application("x", kind, "a", "b", 0.0, 10.0, settings), around)


@pytest.mark.parametrize(("streams", "each"), [(1, 12_000_000), (4, 3_000_000), (7, 1_714_286)])
def test_the_rate_of_iperf3_is_that_of_all_its_streams(tmp_path: Path, streams: int, each: int) -> None:
    settings = {"rate_bps": 12_000_000, "udp": True, "length_octets": None}
    (client,) = planned(tmp_path, "iperf3", streams=streams, **settings).foreground
    assert client.words[client.words.index("--bitrate") + 1] == str(each)
    assert client.words[client.words.index("--parallel") + 1] == str(streams)


def test_iperf3_without_time_is_refused() -> None:
    settings = {"streams": 1, "rate_bps": None, "udp": False, "length_octets": None}
    check(Application("meter", "iperf3", "a", "b", 0.5, 1.6, settings))
    with pytest.raises(
        CellrateError, match=r'"meter": iperf3 has 1 s, from 0\.5 s to 1\.5 s; it must have more than 1 s'
    ):
        check(Application("meter", "iperf3", "a", "b", 0.5, 1.5, settings))


@pytest.mark.parametrize(
    ("word", "runs"),
    [("own.sh", "own.sh"), ("./own.sh", "{}/own.sh"), ("sub/own.sh", "{}/sub/own.sh"), ("/bin/true", "/bin/true")],
)
def test_a_path_to_a_command_is_seen_from_the_scenarios_folder(tmp_path: Path, word: str, runs: str) -> None:
    made = planned(tmp_path, "command", words=[word, "./as.is"], ready=None, ready_within_s=1.0, background=False)
    expected = runs.format(tmp_path)
    assert made.foreground[0].words == [expected, "./as.is"]
    assert str(made.own) == expected


def test_what_a_verdict_has_against_a_run_is_told_apart() -> None:
    failures = ["1 ms were passed over after stalls; none may be", "the engine took 90 % of a processor"]
    timing = {"lateness_p99_s": None, "stalls": 2, "longest_stall_s": 0.01, "cpu_share": 0.9}
    told = table.verdict({**timing, "passed": False, "failures": failures}, 1)
    assert "OUT OF TIME (1 ms were passed over after stalls; none may be, and the engine took 90 % of a" in told


def test_adapters_answer_at_their_socket_and_say_what_is_wrong(tmp_path: Path) -> None:
    def offer(host: str, peer: str) -> tuple[float, float]:
        if (host, peer) != ("a", "b"):
            raise KeyError(f"no vc carries packets from {host} to {peer}")
        return 1000.25, 23584.0

    with adapters.served(tmp_path / "socket", offer):
        asked = socket.socket(socket.AF_UNIX)
        asked.connect(str(tmp_path / "socket"))
        with asked, asked.makefile("rw") as line:
            for question in ("acr a b", "acr b a", "hello"):
                line.write(question + "\n")
            line.flush()
            answers = [line.readline().strip() for _ in range(3)]
        assert video_sender.offered_bps(str(tmp_path / "socket"), ["a", "b"]) == pytest.approx(1000.25 * 424)
    assert answers == [
        "1000.250 23584.000",
        "error: no vc carries packets from b to a",
        "error: write acr HOST PEER, or watch HOST PEER SECONDS",
    ]


def test_who_watches_an_adapter_is_told_the_mean_of_each_period() -> None:
    values = iter([1000.0, 1000.0, 2000.0, 3000.0])
    waits: list[float] = []

    def offer(host: str, peer: str) -> tuple[float, float]:
        assert (host, peer) == ("a", "b")
        return next(values), 5000.0

    def wait(seconds: float) -> bool:
        waits.append(seconds)
        return len(waits) == 4

    lines = [json.loads(line) for line in adapters.answers("watch a b 0.03", offer, wait)]
    first = {"host": "a", "peer": "b", "at_s": 0.0, "period_s": 0.03, "acr": 1000.0, "mean_acr": 1000.0, "pcr": 5000.0}
    assert lines == [
        {**first, "octets_per_s": 48_000.0},
        {**first, "at_s": 0.03, "acr": 3000.0, "mean_acr": 2000.0, "octets_per_s": 96_000.0},
    ]
    assert all(0 <= seconds <= 0.04 for seconds in waits)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("watch a b 0.01", "error: a period of 0.01 s; it must be from 0.02 to 3600 s"),
        ("watch a b soon", "error: a period of soon s; it must be from 0.02 to 3600 s"),
        ("watch a b nan", "error: a period of nan s; it must be from 0.02 to 3600 s"),
        ("watch a b", "error: write acr HOST PEER, or watch HOST PEER SECONDS"),
        ("watch a b 1", "error: there is none"),
    ],
)
def test_a_wrong_request_is_told_what_is_wrong(line: str, told: str) -> None:
    def offer(host: str, peer: str) -> tuple[float, float]:
        raise KeyError("there is none")

    assert list(adapters.answers(line, offer, lambda _: False)) == [told]


def test_a_recorder_reads_what_a_sender_of_jpeg_writes() -> None:
    picture = (
        b"\xff\xd8\xff\xdb\x00\x43\x00"
        + bytes(range(64))
        + b"\xff\xc0\x00\x11\x08\x00\x40\x00\x60\x03\x01\x22\x00\x02\x11\x00\x03\x11\x00"
        + b"\xff\xda\x00\x0c\x03\x01\x00\x02\x11\x03\x11\x00\x3f\x00"
        + b"s" * 2500
        + b"\xff\xd9"
    )
    assert video_sender.frames(picture * 3) == [picture] * 3
    jpeg = video_sender.Jpeg(picture)
    assert (jpeg.width, jpeg.height, jpeg.kind, jpeg.scan) == (96, 64, 1, b"s" * 2500)
    payloads = jpeg.payloads(1000)
    assert all(len(payload) <= 1000 for payload in payloads)
    told = [datagram_recorder.jpeg(payload) for payload in payloads]
    assert [one["offset"] for one in told] == [0, 924, 1916]
    assert sum(int(str(one["octets"])) for one in told) == 2500


def test_a_recorder_reads_the_copies_of_rfc_2198() -> None:
    # One copy of type 0, 320 timestamp units old, 160 octets; then the primary block.
    block = (0x80 << 24 | 320 << 10 | 160).to_bytes(4, "big") + b"\0" + bytes(320)
    assert datagram_recorder.voice(block, datagram_recorder.RED_TYPE) == {"copies": [320], "octets": 325}
    assert datagram_recorder.voice(bytes(160), 0) == {"copies": [], "octets": 160}


def test_the_doctor_names_packages_and_what_is_not_possible() -> None:
    def finding(name: str, package: str, *, present: bool, required: bool) -> doctor.Finding:
        return doctor.Finding(name, present, f"use of {name}", required, f"apt install {package}")

    found = [
        finding("ip", "iproute2", present=True, required=True),
        finding("vsftpd", "vsftpd", present=False, required=False),
    ]
    assert doctor.packages(found) == ["vsftpd"]
    assert doctor.missing_requirements(found) == []
    assert doctor.sentence(found) == "Live runs are possible here, but not: use of vsftpd"
    found.append(finding("nsenter", "util-linux", present=False, required=True))
    assert doctor.sentence(found).startswith(
        "Live runs are not possible here: nsenter: not found (apt install util-linux)"
    )
    assert json.loads(json.dumps(doctor.content(found)))["ready"] is False
    out = io.StringIO()
    table.print_findings(Console(file=out, width=200), found)
    first, second, *rest = out.getvalue().splitlines()
    assert first == doctor.sentence(found)
    assert second.startswith("On Debian, as root: apt install ")
    assert any("use of vsftpd" in line for line in rest)


def test_a_node_runs_in_one_point_of_a_sweep(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = PAIR + '\n[[sweep]]\nset = "seed"\nvalues = [1, 2]\n'
    (file := tmp_path / "two.toml").write_text(text)
    assert status(["live", "node", str(file), "sw"]) == 2
    assert "two.toml sweeps over 2 points; a node runs in one of them" in capsys.readouterr().err


def test_options_of_a_distributed_run_are_refused_for_another(
    pair_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert status(["live", "run", str(pair_file), "--elsewhere", "sw"]) == 2
    assert "`elsewhere` needs distributed=True (--distributed)" in capsys.readouterr().err
    assert status(["live", "run", str(pair_file), "--start", "2026-11-21T12:00:00+00:00"]) == 2
    assert "`start_unix_ns` needs distributed=True (--distributed)" in capsys.readouterr().err


def test_a_node_without_an_address_is_wrong_input(pair_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert status(["live", "node", str(pair_file), "sw"]) == 2
    assert "no address of sw; a distributed run needs `[live] nodes" in capsys.readouterr().err
