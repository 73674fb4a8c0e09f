"""TCP over GFR: what docs/algorithms/gfr.md says of the ready scenario."""

from __future__ import annotations

import pytest

import cellrate

MCRS = [20_000, 40_000, 60_000, 80_000, 100_000]
EPD, DOUBLE, WEIGHTED, DFBA = range(4)


def of_mcr(port: int, transfers: int, definition: str = "gfr.2", *, tagging: bool = False) -> list[float]:
    """Give what each connection gets over its MCR, with this value of the sweep over ports.

    With `tagging` hosts tag the frames that their MCRs do not cover.
    """
    text = cellrate.ready_scenarios()["gfr"].read_text().partition("[[sweep]]")
    values = [line.strip().removesuffix(",") for line in text[2].splitlines() if line.startswith("    {")]
    settings = {
        "duration": "10 s",
        "defaults.switch": values[port],
        "defaults.vc.police.definition": f'"{definition}"',
        "vc.vc{i}.traffic.connections": str(transfers),
    }
    if tagging:
        buckets = ", ".join(f'"{mcr} cells/s"' for mcr in MCRS)
        settings["vc.vc{i}.tagging"] = f"{{ scr = [{buckets}], mbs = 320 }}"
    result = cellrate.run(cellrate.Scenario.parse(text[0]).set(settings))
    rows = [result.vc(f"vc{i}") for i in range(1, 6)]
    return [row["throughput_bps"] / 424 / mcr for row, mcr in zip(rows, MCRS, strict=True)]


@pytest.mark.parametrize("transfers", [1, 20])
def test_without_a_scheme_the_largest_minimum_is_not_kept_and_queues_by_weight_keep_all(transfers: int) -> None:
    assert min(of_mcr(EPD, transfers)) < 0.7
    assert min(of_mcr(WEIGHTED, transfers)) > 1.1


@pytest.mark.parametrize("port", [DOUBLE, DFBA])
def test_schemes_of_one_queue_keep_minima_of_many_transfers_and_not_of_one(port: int) -> None:
    assert min(of_mcr(port, 1)) < 0.8
    assert min(of_mcr(port, 20)) > 1.1


def test_two_thresholds_work_with_gfr_1_where_hosts_tag() -> None:
    assert min(of_mcr(DOUBLE, 20, "gfr.1", tagging=True)) > 1.1


def test_dfba_works_without_tags_and_two_thresholds_do_not() -> None:
    assert min(of_mcr(DFBA, 20, "gfr.1")) > 1.1
    assert min(of_mcr(DOUBLE, 20, "gfr.1")) < 0.7
