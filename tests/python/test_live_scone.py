"""Throughput advice between real hosts: adapters write it into QUIC, players and downloads go by it.

Skipped, with the reason, where hosts or aioquic cannot be had.
"""

from __future__ import annotations

import importlib.util
from typing import Any

import pytest

import cellrate
from cellrate.errors import CellrateError
from cellrate.live import LiveRun, doctor, live_run

_FOUND = doctor.findings()
pytestmark = [
    pytest.mark.live,
    pytest.mark.skipif(bool(doctor.missing_requirements(_FOUND)), reason=doctor.sentence(_FOUND)),
    pytest.mark.skipif(importlib.util.find_spec("aioquic") is None, reason="not installed: aioquic (cellrate[quic])"),
]

NETWORK = """
name = "scone"
duration = "6 s"
host = [{ name = "server", live = SERVER }, { name = "player", live = PLAYER }]
link = [{ between = ["server", "sw"] }, { between = ["sw", "player"] }]
vc = [{ name = "v", category = CATEGORY, path = ["server", "sw", "player"], traffic = { type = "none" } }]
[defaults]
link = { rate = "8 Mbps", delay = "2 ms" }
switch.algorithm = { type = "erica" }
[[switch]]
name = "sw"
[[application]]
name = "film"
kind = KIND
host = "server"
peer = "player"
"""
ACR_BPS = 8e6 / 424 * 31 / 32 / 26 * 9600
"""Datagrams of 1,200 octets that the line carries: 26 cells each, beside an RM cell in 32 [bit/s]."""
STEP = 10 ** (1 / 20)


def scenario(server: str, player: str, kind: str, category: str = '"abr"') -> cellrate.Scenario:
    text = NETWORK.replace("SERVER", server).replace("PLAYER", player).replace("KIND", kind)
    return cellrate.Scenario.parse(text.replace("CATEGORY", category), file="scone.toml")


def found(run: LiveRun) -> dict[str, Any]:
    result: dict[str, Any] = run.application("film")["result"]
    return result


@pytest.mark.parametrize(
    ("server", "player", "least", "most"),
    [
        ('{ mtu = "1500 octets", scone = { leaving = "acr" } }', '{ mtu = "1500 octets" }', ACR_BPS / STEP**3, ACR_BPS),
        ('{ scone = { leaving = "4 Mbps" } }', '{ scone = { arriving = "1.5 Mbps" } }', 1.5e6 / STEP, 1.5e6),
        ('{ scone = { leaving = "1.5 Mbps" } }', '{ scone = { arriving = "4 Mbps" } }', 1.5e6 / STEP, 1.5e6),
    ],
)
def test_advice_reaches_the_player_and_the_lower_of_two_elements_wins(
    server: str, player: str, least: float, most: float
) -> None:
    run = live_run(scenario(server, player, '{ type = "quic-player", by = "advice", segment = "1 s" }'), attempts=2)
    result = found(run)
    assert result["error"] is None
    assert result["advice_received"] >= 3
    assert least <= result["least_advice_bps"] <= most
    last = result["fetched"][-1]
    assert last["quality_bps"] <= 0.9 * last["advice_bps"]
    hosts = {row["host"]: row for row in run.result.summary["hosts"]}
    assert hosts["server"]["scone_lowered"] >= 3
    assert (hosts["player"]["scone_lowered"] >= 3) == ('arriving = "1.5' in player)


def test_without_elements_there_is_no_advice_and_a_player_by_advice_has_the_lowest_quality() -> None:
    result = found(live_run(scenario("{}", "{}", '{ type = "quic-player", by = "advice" }'), attempts=2))
    assert (result["advice_received"], result["least_advice_bps"]) == (0, None)
    assert {segment["quality_bps"] for segment in result["fetched"]} == {500_000}


def test_a_download_paces_itself_by_advice() -> None:
    policy = '{ scone = { leaving = "2 Mbps" } }'
    size = '{ type = "quic-download", size = "600 kB", part = "200 kB", pace = PACE }'
    paced, free = (
        found(live_run(scenario(policy, "{}", size.replace("PACE", pace)), attempts=2)) for pace in ("true", "false")
    )
    assert paced["complete"]
    assert free["complete"]
    # Advice comes with the answer of the handshake: the first part is paced, too, or the next ones are.
    assert paced["goodput_bps"] < 1.3 * 2e6
    assert free["goodput_bps"] > 1.3 * paced["goodput_bps"]


def test_advice_by_acr_over_ubr_and_an_mtu_that_is_too_short_are_refused() -> None:
    player = '{ type = "quic-player" }'
    with pytest.raises(CellrateError, match=r'host server has live.scone.leaving = "acr", which uses ACR, and v has'):
        live_run(scenario('{ scone = { leaving = "acr" } }', "{}", player, '"ubr"'))
    with pytest.raises(CellrateError, match=r"the MTU of server and player is 1200 octets; quic-player needs at least"):
        live_run(scenario('{ mtu = "1200 octets" }', "{}", player))
