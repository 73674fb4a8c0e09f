"""Arrays that cross from one process to another."""

from __future__ import annotations

import os
import pickle
import resource
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from cellrate.running import shared_memory
from cellrate.running.processes import side_by_side

SIZES = (1, 7, 200_000, 0, 100_001)


def arrays(seed: int) -> dict[int, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {size: rng.random(size) for size in SIZES}


def same(one: dict[int, np.ndarray], other: dict[int, np.ndarray]) -> bool:
    return list(one) == list(other) and all(np.array_equal(one[size], other[size]) for size in one)


@contextmanager
def limited_to(octets: int) -> Iterator[None]:
    """No file may be longer."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (octets, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


def test_large_arrays_cross_in_a_file_that_is_gone_then(tmp_path: Path) -> None:
    packed = shared_memory.pack(arrays(1), tmp_path)
    assert packed.file is not None
    assert len(packed.head) < 2000
    assert packed.file.stat().st_size >= 8 * sum(SIZES)
    taken = shared_memory.unpack(pickle.loads(pickle.dumps(packed)))
    assert list(tmp_path.iterdir()) == []
    assert same(taken, arrays(1))
    for array in taken.values():
        assert array.flags.writeable
        assert array.ctypes.data % 64 == 0 or array.size == 0
    taken[7][:] = 5.0
    assert same(shared_memory.unpack(shared_memory.pack(taken, tmp_path)), {**arrays(1), 7: np.full(7, 5.0)})


def test_small_things_and_those_without_room_go_by_themselves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small = np.arange(5.0)
    packed = shared_memory.pack({"rows": [1, 2], "values": small}, tmp_path)
    assert packed.file is None
    assert np.array_equal(shared_memory.unpack(packed)["values"], small)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=1 << 20))
    packed = shared_memory.pack(arrays(2), tmp_path)
    assert packed.file is None
    assert same(shared_memory.unpack(packed), arrays(2))
    # There was room, and then there is none.
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=1 << 40))
    with limited_to(1 << 20):
        packed = shared_memory.pack(arrays(2), tmp_path)
    assert packed.file is None
    assert same(shared_memory.unpack(packed), arrays(2))
    assert list(tmp_path.iterdir()) == []


def test_what_processes_give_is_whole_and_nothing_of_it_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_memory, "IN_MEMORY", tmp_path)
    given = side_by_side([lambda seed=seed: (os.getpid(), arrays(seed)) for seed in range(5)], workers=2)  # type: ignore[misc]
    assert os.getpid() not in {pid for pid, _ in given}
    assert all(same(taken, arrays(seed)) for seed, (_, taken) in enumerate(given))
    assert list(tmp_path.iterdir()) == []

    def fail() -> None:
        raise LookupError("nothing there")

    with pytest.raises(LookupError):
        side_by_side([lambda: arrays(1), fail, lambda: arrays(2)], workers=2)
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_process_has_left_is_removed_by_the_next_and_what_others_have_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared_memory, "IN_MEMORY", tmp_path)
    (tmp_path / "cellrate-arrays-12345678").mkdir()
    (tmp_path / "cellrate-arrays-12345678" / "array").touch()
    (tmp_path / "cellrate-arrays-of-somebody").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "cellrate-arrays-abcdefgh").symlink_to(tmp_path / "elsewhere")
    with shared_memory.shared_folder() as one, shared_memory.shared_folder() as other:
        assert one.exists()
        assert {entry.name for entry in tmp_path.iterdir()} == {
            "cellrate-arrays-of-somebody",
            "cellrate-arrays-abcdefgh",
            "elsewhere",
            one.name,
            other.name,
        }
