"""Links of distributed runs: the nonce by which runs are told apart, its key, and what is lost between two ends."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import cellrate
from cellrate.command_line.options import key_in
from cellrate.live.distribution import Distribution, lost_on_the_way, run_nonce
from cellrate.live.table import network_parts
from cellrate.recorded.table import print_report
from conftest import PAIR

NODES = '\n[live]\nnodes = { a = "127.0.0.1:1", b = "127.0.0.1:2", sw = "127.0.0.1:3" }\n'
SCENARIO = cellrate.Scenario.parse(PAIR + NODES)


def test_the_nonce_is_another_for_another_run_start_or_key() -> None:
    shared = run_nonce(SCENARIO, 1, b"k" * 16)
    assert shared == run_nonce(cellrate.Scenario.parse(PAIR + NODES), 1, b"k" * 16)
    others = [
        run_nonce(SCENARIO.set({"seed": 8}), 1, b"k" * 16),
        run_nonce(SCENARIO, 2, b"k" * 16),
        run_nonce(SCENARIO, 1, b"k" * 15 + b"l"),
        run_nonce(SCENARIO, 1, b""),
    ]
    assert len({shared, *others}) == 5
    assert all(0 <= nonce < 1 << 64 for nonce in others)


def test_who_has_all_nodes_makes_a_key_and_who_has_not_needs_one_that_is_given() -> None:
    made = [Distribution.of(SCENARIO, [], None) for _ in range(2)]
    assert len(made[0].key) == 16
    assert made[0].key != made[1].key
    assert Distribution.of(SCENARIO, ["sw"], 1).key == b""
    assert Distribution.of(SCENARIO, ["sw"], 1, b"k" * 16).key == b"k" * 16
    with pytest.raises(cellrate.CellrateError, match="`key` needs distributed=True"):
        cellrate.live.live_run(SCENARIO, key=b"k" * 16)


def test_a_key_is_a_file_that_nobody_else_reads(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_bytes(b"k" * 16)
    file.chmod(0o600)
    assert key_in(file) == b"k" * 16
    assert key_in(None) is None
    refused = [
        (b"k" * 16, 0o640, "others may read or write it"),
        (b"k" * 15, 0o600, "has 15 octets; a key has from 16 to 4096"),
        (b"k" * 4097, 0o600, "has more than 4096 octets"),
    ]
    for content, mode, why in refused:
        file.write_bytes(content)
        file.chmod(mode)
        with pytest.raises(cellrate.CellrateError, match=why):
            key_in(file)
    with pytest.raises(cellrate.CellrateError, match=r"--key .*nowhere: No such file"):
        key_in(tmp_path / "nowhere")


def end(link: str, label: int, **figures: int) -> dict[str, Any]:
    """A row of a link's end; figures that are not given are 0."""
    names = ("sent", "received", "missing", "out_of_order", "restarts", "late_cells", "send_errors")
    return {"link": link, "label": label, **dict.fromkeys(names, 0), **figures}


def test_what_one_end_sent_is_held_against_what_came_to_the_other() -> None:
    # 0.1 % of 100,000 and 64 under way.
    near = end("a-sw", 16, sent=100_000, received=50_000)
    assert lost_on_the_way([near, end("sw-a", 17, sent=50_000, received=99_836)]) == []
    (failure,) = lost_on_the_way([near, end("sw-a", 17, sent=50_000, received=99_835)])
    assert failure.startswith("a-sw: of 100000 datagrams 99835 came to the other end")
    # Those that came twice or late did come; those that were not sent are counted elsewhere.
    assert lost_on_the_way([near, end("sw-a", 17, sent=50_000, received=90_000, out_of_order=9_900)]) == []
    kept = end("a-sw", 16, sent=100_000, received=50_000, send_errors=10_000)
    assert lost_on_the_way([kept, end("sw-a", 17, sent=50_000, received=90_000)]) == []
    # A dead link of which neither end misses anything.
    dead = [end("a-sw", 16, sent=65), end("sw-a", 17)]
    assert [text[:21] for text in lost_on_the_way(dead)] == ["a-sw: of 65 datagrams"]
    # An end elsewhere.
    assert lost_on_the_way([near]) == []


def test_the_table_shows_every_end_and_what_was_not_taken(capsys: pytest.CaptureFixture[str]) -> None:
    refused = {"from_strangers": 3, "of_other_runs": 1_000, "malformed": 0}
    summary = {
        "links": [end("a-sw", 16, sent=1_234, missing=5)],
        "datagrams": dict.fromkeys(refused, 0),
        "processes": [{"node": "sw", "datagrams": refused}],
    }
    print_report(network_parts({**summary, "kernels": []}, []))
    told = capsys.readouterr().out
    assert "1,234" in told
    assert "Datagrams not taken, sw: 3 from strangers, 1,000 of other runs, 0 malformed" in told
    assert "not taken, here" not in told
