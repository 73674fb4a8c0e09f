from __future__ import annotations

import os

import pytest

from cellrate.processes import number_of_workers, side_by_side


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_what_calls_return_comes_in_their_order_and_progress_after_each(workers: int) -> None:
    seen: list[float] = []
    outcomes = side_by_side([lambda n=n: n * n for n in range(4)], workers=workers, progress=seen.append)  # type: ignore[misc]
    assert outcomes == [0, 1, 4, 9]
    assert seen == [0.25, 0.5, 0.75, 1.0]


def test_one_process_is_this_one_and_two_are_others() -> None:
    assert set(side_by_side([os.getpid] * 3, workers=1)) == {os.getpid()}
    assert os.getpid() not in side_by_side([os.getpid] * 3, workers=2)


@pytest.mark.parametrize("workers", [1, 2])
def test_what_a_call_raises_is_raised(workers: int) -> None:
    def fail() -> None:
        raise LookupError("nothing there")

    with pytest.raises(LookupError, match="nothing there"):
        side_by_side([os.getpid, fail, os.getpid], workers=workers)


def test_no_call_needs_no_process() -> None:
    assert side_by_side([], workers=2) == []


def test_there_are_no_more_workers_than_calls() -> None:
    assert [number_of_workers(workers, 2) for workers in (1, 2, 3)] == [1, 2, 2]
    assert number_of_workers(None, 1000) == os.cpu_count()
    assert number_of_workers(None, 1) == 1
