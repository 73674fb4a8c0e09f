"""A player and a sender go by the rate that they are told."""

from __future__ import annotations

import threading
from http.server import ThreadingHTTPServer
from pathlib import Path

import dash
import pytest
import webrtc
from told import Told

from cellrate.live import adapters


def test_the_player_takes_the_best_quality_that_the_rate_carries() -> None:
    assert [dash.quality(rate) for rate in (0, 499_999, 500_000, 2_999_999, 9e9)] == [
        500_000,
        500_000,
        500_000,
        2_000_000,
        6_000_000,
    ]


def test_the_player_plays_what_the_server_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dash, "SEGMENT_S", 0.02)
    monkeypatch.setattr(dash, "AHEAD_S", 0.05)
    server = ThreadingHTTPServer(("127.0.0.1", 0), dash.Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    rates = iter([1e6] * 3 + [3e6] * 10_000)
    played = dash.play(f"http://127.0.0.1:{server.server_port}", lambda: next(rates), 0.2)
    server.shutdown()
    server.server_close()
    assert played["changes"] == 1
    assert [row["bps"] for row in played["list"]][:4] == [1_000_000] * 3 + [3_000_000]  # type: ignore[index,attr-defined]


def test_frames_follow_the_rate_within_their_limits_and_leave_evenly() -> None:
    # 2 Mb/s for 40 ms are 10,000 octets: nine datagrams.
    assert [webrtc.frame_octets(rate) for rate in (0, 2e6, 9e9)] == [500, 10_000, 30_000]
    assert webrtc.datagrams(10_000) == [1112] + [1111] * 8
    assert list(webrtc.instants(1.0, 3)) == pytest.approx([1.0, 1.012, 1.024])


def test_a_program_is_told_the_mean_of_each_period(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CELLRATE_ADAPTERS", str(tmp_path / "socket"))

    def offer(host: str, peer: str) -> tuple[float, float]:
        if (host, peer) != ("a", "b"):
            raise KeyError(f"no vc carries packets from {host} to {peer}")
        return 10_000.0, 23_584.0

    with adapters.served(tmp_path / "socket", offer):
        told = Told("a", "b", 0.05)
        assert told.bits_per_s(0.5) == 0.5 * 10_000 * 48 * 8
        told.close()
        with pytest.raises(LookupError, match="no vc carries packets from b to a"):
            Told("b", "a", 0.05)
