"""No key is without effect: each optional key of a table changes a result where it stands, or refuses what it must."""

from __future__ import annotations

import pytest

from keys_that_act import CASES, PLACES, acts, keys


@pytest.mark.parametrize("table", PLACES)
def test_every_key_of_a_table_changes_a_result(table: str) -> None:
    assert [key for key in keys(table) if not acts(table, key)] == []


def test_cases_are_of_keys_that_there_are() -> None:
    assert [case for case in CASES if case[0] not in PLACES or case[1] not in keys(case[0])] == []
