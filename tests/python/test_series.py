from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellrate import Series


def changes(times: list[float], values: list[float], end: float = 10.0) -> Series:
    return Series("acr", "vc1", "cells/s", None, np.array(times), np.array(values), end)


def samples(values: list[float]) -> Series:
    """One value a second, from 1 s on."""
    times = np.arange(1.0, len(values) + 1.0)
    return Series("queue", "sw->b", "cells", 1.0, times, np.array(values), float(len(values)))


def test_a_value_holds_from_its_instant_until_the_next() -> None:
    series = changes([0.0, 1.0, 3.0], [5.0, 7.0, 9.0])
    assert series.at(0.0) == 5.0
    assert series.at(0.999) == 5.0
    assert series.at(1.0) == 7.0
    assert series.at(100.0) == 9.0


def test_of_two_values_at_one_instant_the_later_counts() -> None:
    assert changes([0.0, 1.0, 1.0], [5.0, 6.0, 7.0]).at(1.0) == 7.0


def test_before_the_first_value_there_is_none() -> None:
    with pytest.raises(ValueError, match=r"acr of vc1 has no value at 0.5 s: the first value is at 1.0 s"):
        changes([1.0], [5.0]).at(0.5)


def test_a_series_without_values_says_so() -> None:
    with pytest.raises(ValueError, match="it has no values"):
        changes([], []).at(0.5)


def test_a_part_of_a_series_of_changes_begins_with_the_value_in_force() -> None:
    part = changes([0.0, 1.0, 3.0], [5.0, 7.0, 9.0]).between(2.0, 3.0)
    assert part.times_s.tolist() == [2.0, 3.0]
    assert part.values.tolist() == [7.0, 9.0]


def test_a_part_of_samples_holds_only_samples() -> None:
    part = samples([1.0, 2.0, 3.0, 4.0]).between(1.5, 3.0)
    assert part.times_s.tolist() == [2.0, 3.0]


def test_the_mean_of_changes_is_weighted_by_time() -> None:
    # 5 for one second, 7 for two, 9 for one: (5 + 14 + 9) / 4.
    assert changes([0.0, 1.0, 3.0], [5.0, 7.0, 9.0]).mean(0.0, 4.0) == pytest.approx(7.0)


def test_the_mean_of_samples_takes_the_intervals_that_lie_inside() -> None:
    # The sample at 1 s tells of the second before it.
    assert samples([10.0, 2.0, 4.0]).mean(1.0, 3.0) == pytest.approx(3.0)


@pytest.mark.parametrize("span", [(5.0, 5.0), (5.0, 4.0)])
def test_a_mean_over_nothing_is_an_error(span: tuple[float, float]) -> None:
    with pytest.raises(ValueError, match="has no value"):
        changes([0.0], [5.0]).mean(*span)
    with pytest.raises(ValueError, match="has no value"):
        samples([1.0]).mean(*span)


def test_the_first_instant_at_a_level_counts_the_value_in_force() -> None:
    series = changes([0.0, 1.0, 3.0], [5.0, 7.0, 9.0])
    assert series.first(0.0, at_least=9.0) == 3.0
    assert series.first(2.0, at_least=6.0) == 2.0
    assert series.first(0.0, at_least=9.1) is None


def test_arrow_and_polars_hold_the_same() -> None:
    series = changes([0.0, 1.0], [5.0, 7.0])
    assert series.to_arrow().to_pydict() == {"time_s": [0.0, 1.0], "value": [5.0, 7.0]}
    assert series.to_polars().to_dict(as_series=False) == {"time_s": [0.0, 1.0], "value": [5.0, 7.0]}


finite = st.floats(-1e6, 1e6)
spans = st.lists(st.tuples(st.floats(1e-3, 1e3), finite), min_size=1, max_size=30)


@given(spans)
def test_the_mean_lies_between_least_and_largest_and_parts_add_up(steps: list[tuple[float, float]]) -> None:
    times = np.cumsum([0.0] + [span for span, _ in steps[:-1]])
    series = changes(times.tolist(), [value for _, value in steps])
    end = float(times[-1]) + steps[-1][0]
    mean = series.mean(0.0, end)
    assert series.min() - 1e-6 <= mean <= series.max() + 1e-6
    middle = end / 2
    parts = series.mean(0.0, middle) * middle + series.mean(middle, end) * (end - middle)
    assert parts == pytest.approx(mean * end, rel=1e-6, abs=1e-3)


@given(st.lists(finite, min_size=1, max_size=50_000 // 100), st.integers(1, 20))
def test_a_thinned_series_keeps_its_ends_and_extremes(values: list[float], bins: int) -> None:
    from cellrate.plots import thinned

    series = samples(values)
    times, kept = thinned(series, bins)
    assert (times[0], times[-1]) == (series.times_s[0], series.times_s[-1])
    assert (kept.min(), kept.max()) == (series.min(), series.max())
    assert len(kept) <= max(4 * bins, 1)


def test_a_picture_of_changes_goes_on_to_the_end_of_the_run() -> None:
    from cellrate.plots import thinned

    times, values = thinned(changes([0.0, 1.0], [5.0, 7.0], end=4.0))
    assert times.tolist() == [0.0, 1.0, 4.0]
    assert values.tolist() == [5.0, 7.0, 7.0]
