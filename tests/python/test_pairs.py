"""Every pair of mechanisms in a small network, held against what each of them promises."""

from __future__ import annotations

import itertools

import pytest

import pairs_of_mechanisms as pairs


def test_an_array_has_every_pair_of_values_of_different_factors() -> None:
    factors = {"a": ("1", "2", "3"), "b": ("x", "y"), "c": ("p", "q", "r"), "d": ("m", "n")}
    worlds = list(pairs.covering(factors, seed=1))
    assert len(worlds) < 3 * 2 * 3 * 2
    for a, b in itertools.combinations(factors, 2):
        assert {(world[a], world[b]) for world in worlds} == set(itertools.product(factors[a], factors[b]))


def test_a_leaky_bucket_counts_what_conforms_by_hand() -> None:
    # In slots: 4, 10, 12 and 27 come too soon.
    assert pairs.conforming([0, 3, 4, 9, 10, 11, 12, 25, 26, 27], 5, 4) == 6


@pytest.mark.parametrize("seed", [1])
def test_all_promises_are_kept_in_networks_that_have_every_pair(seed: int) -> None:
    refused = 0
    broken = []
    for world in pairs.covering(pairs.FACTORS, seed):
        reason, found = pairs.tried(world)
        refused += reason is not None
        broken += [(found, world)] if found else []
    assert broken == []
    assert refused < 60, "most networks have to run"


def plain(**values: str) -> pairs.World:
    """Give the first value of each factor, but for those given."""
    return {name: factor[0] for name, factor in pairs.FACTORS.items()} | {"algorithm": "erica effective"} | values


@pytest.mark.parametrize(
    "values",
    [
        {"queueing": "fifo weights", "categories": "ubr"},
        {"queueing": "weighted-fair", "shaping": "yes", "algorithm": "pi"},
        {"queueing": "weighted-fair", "shaping": "yes"},
        {"categories": "ubr mcr", "admission": "yes"},
        {"categories": "ubr mcr", "algorithm": "pi"},
        {"admission": "yes", "changing": "stops"},
        {"minimum": "yes", "algorithm": "consistent-marking"},
        {"buffers": "tagged", "categories": "cbr and ubr", "changing": "stops"},
    ],
)
def test_pairs_that_once_broke_a_promise_keep_all(values: dict[str, str]) -> None:
    assert pairs.tried(plain(**values)) == (None, [])


def test_a_promise_that_is_not_kept_is_found() -> None:
    """Without a switch algorithm three greedy sources fill a queue, and a fourth has less than was booked."""
    world = plain(algorithm="none")
    shown = pairs.Shown(world | {"algorithm": "erica", "minimum": "yes"}, pairs.scenario(world), pairs.run(world))
    assert [promise.__name__ for promise in pairs.PROMISES if any(promise(shown))] == [
        "booked_is_served",
        "the_queue_ends",
    ]
