from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

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


def test_a_series_says_what_it_is_without_its_values() -> None:
    assert repr(samples([1.0, 2.0])) == "<Series queue of sw->b [cells]: 2 values, every 1 s, to 2 s>"
    assert repr(changes([0.0], [5.0])) == "<Series acr of vc1 [cells/s]: 1 values, at every change, to 10 s>"


def test_a_value_holds_from_its_instant_until_the_next() -> None:
    series = changes([0.0, 1.0, 3.0], [5.0, 7.0, 9.0])
    assert series.at(0.0) == 5.0
    assert series.at(0.999) == 5.0
    assert series.at(1.0) == 7.0
    assert series.at(10.0) == 9.0


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


@pytest.mark.parametrize("span", [(5.0, 5.0), (10.0, 12.0), (11.0, 12.0)])
def test_a_mean_over_nothing_is_an_error(span: tuple[float, float]) -> None:
    with pytest.raises(ValueError, match="has no value"):
        changes([0.0], [5.0]).mean(*span)
    with pytest.raises(ValueError, match="has no value"):
        samples([1.0]).mean(*span)


def test_of_a_span_beyond_the_run_the_part_within_it_counts() -> None:
    # 5 for one second, 9 for three; nothing is known of what comes after 4 s.
    of_changes = changes([0.0, 1.0], [5.0, 9.0], end=4.0)
    assert of_changes.mean(0.0, 4.0) == of_changes.mean(0.0, 40.0) == of_changes.mean(0.0, float("inf")) == 8.0
    of_samples = samples([10.0, 2.0, 3.0])
    assert of_samples.mean(1.0, 3.0) == of_samples.mean(1.0, 30.0) == of_samples.mean(1.0, float("inf")) == 2.5
    assert of_changes.between(2.0, 40.0).end_s == 4.0
    assert len(of_changes.between(5.0, 40.0)) == len(of_samples.between(5.0, 40.0)) == 0
    assert of_changes.first(5.0, at_least=1.0) is None


def test_after_the_run_there_is_no_value() -> None:
    for series in (changes([0.0], [5.0], end=0.3), samples([1.0])):
        with pytest.raises(ValueError, match=r"has no value at 4\.0 s: it ends at"):
            series.at(4)
    # A bit more than 0.3 in binary.
    assert changes([0.0], [5.0], end=0.3).at(3 * 0.1) == 5.0


def test_a_part_knows_where_it_ends() -> None:
    part = changes([0.0, 1.0, 3.0], [5.0, 7.0, 9.0]).between(0.0, 2.0)
    assert part.mean(0.0, 10.0) == 6.0
    with pytest.raises(ValueError, match=r"it ends at 2\.0 s"):
        part.at(2.5)


def test_instants_may_be_texts_with_units() -> None:
    series = changes([0.0, 0.001, 0.003], [5.0, 7.0, 9.0], end=0.004)
    assert series.at("2 ms") == series.at("2_000 us") == 7.0
    assert series.mean("0 s", "4 ms") == series.mean(0, "4 ms") == pytest.approx(7.0)
    assert series.between("1 ms", "3 ms").times_s.tolist() == [0.001, 0.003]
    assert series.first("1.5 ms", at_least=9) == 0.003


@pytest.mark.parametrize(
    ("instant", "kind", "said"),
    [
        (None, TypeError, 'an instant is a number of seconds, or a text such as "5 ms"; None is neither'),
        (True, TypeError, "True is neither"),
        ([0.1], TypeError, r"\[0.1\] is neither"),
        ("5", ValueError, r"'5' has no unit; write a number and its unit \(ps, ns, us, ms, s, min\)"),
        ("5 km", ValueError, "'5 km' is not a time"),
        (float("nan"), ValueError, "nan s is not an instant of a run, which begins at 0 s"),
        (-0.001, ValueError, "-0.001 s is not an instant of a run"),
    ],
)
def test_what_is_no_instant_is_refused(instant: Any, kind: type[Exception], said: str) -> None:
    for series in (changes([0.0, 1.0], [5.0, 7.0]), samples([1.0, 2.0])):
        questions: list[Callable[[], object]] = [
            partial(series.at, instant),
            partial(series.mean, instant, 2.0),
            partial(series.mean, 0.0, instant),
            partial(series.between, instant, 2.0),
            partial(series.between, 0.0, instant),
            partial(series.first, instant, at_least=0.0),
        ]
        for ask in questions:
            with pytest.raises(kind, match=said):
                ask()


def test_a_span_that_ends_before_it_begins_is_refused() -> None:
    for series in (changes([0.0], [5.0]), samples([1.0, 2.0])):
        with pytest.raises(ValueError, match=r"a span from 5\.0 s to 4\.0 s ends before it begins"):
            series.mean(5.0, 4.0)
        with pytest.raises(ValueError, match="ends before it begins"):
            series.between(5.0, 4.0)


def test_the_first_instant_at_a_level_counts_the_value_in_force() -> None:
    series = changes([0.0, 1.0, 3.0], [5.0, 7.0, 9.0])
    assert series.first(0.0, at_least=9.0) == 3.0
    assert series.first(2.0, at_least=6.0) == 2.0
    assert series.first(0.0, at_least=9.1) is None


def test_arrow_and_polars_hold_the_same() -> None:
    series = changes([0.0, 1.0], [5.0, 7.0])
    assert series.to_arrow().to_pydict() == {"time_s": [0.0, 1.0], "value": [5.0, 7.0]}
    assert series.to_polars().to_dict(as_series=False) == {"time_s": [0.0, 1.0], "value": [5.0, 7.0]}


def test_a_library_that_is_not_there_is_said_with_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    series = changes([0.0], [5.0])
    for name, convert in (("polars", series.to_polars), ("pandas", series.to_pandas)):
        monkeypatch.setitem(sys.modules, name, None)
        with pytest.raises(ImportError, match=rf"{name} is not installed; .*pip install 'cellrate\[{name}\]'"):
            convert()


def test_a_data_frame_of_pandas_has_the_columns_of_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    # pandas itself is not needed to see what it is given.
    given: list[dict[str, Any]] = []
    monkeypatch.setitem(sys.modules, "pandas", SimpleNamespace(DataFrame=given.append))
    series = changes([0.0, 1.0], [5.0, 7.0])
    series.to_pandas()
    assert [{name: column.tolist() for name, column in frame.items()} for frame in given] == [
        series.to_arrow().to_pydict()
    ]


finite = st.floats(-1e6, 1e6)
spans = st.lists(st.tuples(st.floats(1e-3, 1e3), finite), min_size=1, max_size=30)


@given(spans)
def test_the_mean_lies_between_least_and_largest_and_parts_add_up(steps: list[tuple[float, float]]) -> None:
    times = np.cumsum([0.0] + [span for span, _ in steps[:-1]])
    end = float(times[-1]) + steps[-1][0]
    series = changes(times.tolist(), [value for _, value in steps], end)
    mean = series.mean(0.0, end)
    assert series.min() - 1e-6 <= mean <= series.max() + 1e-6
    middle = end / 2
    parts = series.mean(0.0, middle) * middle + series.mean(middle, end) * (end - middle)
    assert parts == pytest.approx(mean * end, rel=1e-6, abs=1e-3)


@given(st.lists(finite, min_size=1, max_size=50_000 // 100), st.integers(1, 20))
def test_a_thinned_series_keeps_its_ends_and_extremes(values: list[float], bins: int) -> None:
    from cellrate.plotting.runs import thinned

    series = samples(values)
    times, kept = thinned(series, bins)
    assert (times[0], times[-1]) == (series.times_s[0], series.times_s[-1])
    assert (kept.min(), kept.max()) == (series.min(), series.max())
    assert len(kept) <= max(4 * bins, 1)


def test_a_picture_of_changes_goes_on_to_the_end_of_the_run() -> None:
    from cellrate.plotting.runs import thinned

    times, values = thinned(changes([0.0, 1.0], [5.0, 7.0], end=4.0))
    assert times.tolist() == [0.0, 1.0, 4.0]
    assert values.tolist() == [5.0, 7.0, 7.0]
