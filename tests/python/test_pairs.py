"""Every pair of mechanisms in a small network, held against what each of them promises."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Sequence
from typing import Any

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
    """Every pair that is not refused runs: a refusal leaves no other pair untried."""
    results = [(world, *pairs.tried(world)) for world in pairs.covering(pairs.FACTORS, seed, pairs.REFUSED)]
    assert [(reason, world) for world, reason, _ in results if reason is not None] == []
    assert [(found, world) for world, _, found in results if found] == []
    refused = {frozenset({(a, x), (b, y)}) for a, some, b, others, _ in pairs.REFUSED for x in some for y in others}
    met = {frozenset(pair) for world, _, _ in results for pair in itertools.combinations(world.items(), 2)}
    every = {
        frozenset({(a, x), (b, y)})
        for a, b in itertools.combinations(pairs.FACTORS, 2)
        for x, y in itertools.product(pairs.FACTORS[a], pairs.FACTORS[b])
    }
    assert met == every - refused


@pytest.mark.parametrize(("a", "some", "b", "others", "said"), pairs.REFUSED)
def test_pairs_that_are_refused_say_which_key(
    a: str, some: Sequence[str], b: str, others: Sequence[str], said: str
) -> None:
    for x, y in itertools.product(some, others):
        reason, _ = pairs.tried(plain(**{a: x, b: y}))
        assert reason is not None, (x, y)
        assert said in reason


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


def spoil(key: str, vc: str, column: str, by: Callable[[Any], Any]) -> Callable[[dict[str, Any]], None]:
    """Give what makes a figure of a summary another one, in all rows of a VC, or of a port."""

    def spoiled(summary: dict[str, Any]) -> None:
        for row in summary[key]:
            if vc in (row.get("vc"), row.get("port")):
                row[column] = by(row[column])

    return spoiled


@pytest.mark.parametrize(
    ("promise", "values", "spoiled"),
    [
        (pairs.conservation, {}, spoil("vcs", "v1", "sent", lambda cells: cells + 1)),
        (
            pairs.booked_is_served,
            {"categories": "cbr"},
            spoil("vc_windows", "cbr", "delivered", lambda cells: cells * 0.9),
        ),
        (pairs.nobody_is_silent, {}, spoil("vc_windows", "v2", "delivered", lambda _: 0)),
        (pairs.the_line_is_used, {}, spoil("port_windows", "A->B", "utilization", lambda _: 0.5)),
        (pairs.shares_are_max_min, {}, spoil("vc_windows", "v1", "delivered", lambda cells: cells * 0.8)),
        (
            pairs.policers_count_as_a_bucket_does,
            {"police": "abr"},
            spoil("policing", "v1", "nonconforming", lambda cells: cells + 1),
        ),
        (
            pairs.policers_count_as_a_bucket_does,
            {"police": "too much", "categories": "cbr"},
            spoil("policing", "cbr", "conforming", lambda cells: cells + 5),
        ),
    ],
)
def test_each_promise_fails_by_the_figure_that_breaks_it(
    promise: Callable[[pairs.Shown], Any], values: dict[str, str], spoiled: Callable[[dict[str, Any]], None]
) -> None:
    world = plain(**values)
    shown = pairs.Shown(world, pairs.scenario(world), pairs.run(world))
    assert list(promise(shown)) == []
    shown.summary = copy.deepcopy(shown.summary)
    spoiled(shown.summary)
    assert len(list(promise(shown))) >= 1


def test_a_promise_that_is_not_kept_is_found() -> None:
    """Without a switch algorithm three greedy sources fill a queue, and a fourth has less than was booked."""
    world = plain(algorithm="none")
    shown = pairs.Shown(world | {"algorithm": "erica", "minimum": "yes"}, pairs.scenario(world), pairs.run(world))
    assert [promise.__name__ for promise in pairs.PROMISES if any(promise(shown))] == [
        "booked_is_served",
        "the_queue_ends",
    ]
