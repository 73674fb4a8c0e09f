"""Folders that appear whole or not at all."""

from __future__ import annotations

import contextlib
import itertools
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

from ..errors import CellrateError, RunError
from .durable import exchange, synchronise, with_file
from .owned import RANDOM, as_usual, own_folder, remove_area_if_left, remove_left_behind
from .replaceable import RESULTS, State, changed, replaceable, state


def write_whole(folder: Path, fill: Callable[[Path], None], *, mark: str = RESULTS) -> Path:
    """Let `fill` write into a temporary folder beside `folder`, then move it there. A link stays, and is followed.

    Raises
    ------
    CellrateError
        If `folder` is there and holds anything but results, which have the file `mark`; if there can be no folder
        there. Said before `fill` is called.
    RunError
        If `folder` has changed meanwhile, or cannot be replaced. What `fill` has written is then beside it.
    """
    target, before = replaceable(folder, mark)
    made = prepare_place(folder, target)
    with contextlib.ExitStack() as stack:
        try:
            partial = stack.enter_context(own_folder(target.parent, f".{target.name}.", ".partial"))
        except OSError as error:
            _remove_empty(made)
            raise CellrateError(f"no folder can be made at {folder}: {error.strerror}") from None
        try:
            _fill_and_put(partial, target, before, folder, fill)
        except BaseException:
            _remove_empty(made)
            raise
    return folder.absolute()


def _fill_and_put(partial: Path, target: Path, before: State | None, asked: Path, fill: Callable[[Path], None]) -> None:
    """Let `fill` write into `partial`, and move that to `target`; where that fails only what could not be put stays."""
    try:
        fill(partial)
        as_usual(partial)
        synchronise(partial)
        _put(partial, target, before)
    except _NotPutError as error:
        left = _put_beside(partial, target)
        raise RunError(f"{asked} {error}; nothing in it was removed, and the results are in {left}") from None
    except BaseException as error:
        named = with_file(error, partial, target) if isinstance(error, OSError) else error
        shutil.rmtree(partial, ignore_errors=True)
        if named is not error:
            raise named from error
        raise


def prepare_place(folder: Path, target: Path) -> list[Path]:
    """Make the folders above `target`, remove what killed processes have left beside it, and give the folders made.

    Raises
    ------
    CellrateError
        If `folder`, as the caller knows it, cannot be made.
    """
    made = [above for above in target.parents if not above.exists()]
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        _remove_empty(made)
        raise CellrateError(f"no folder can be made at {folder}: {error.strerror}") from None
    remove_left_behind(target.parent, rf"\.{re.escape(target.name)}\.{RANDOM}\.partial")
    remove_area_if_left(target)
    return made


def _remove_empty(folders: list[Path]) -> None:
    """Remove folders, the innermost first, unless something has been put there."""
    for folder in folders:
        with contextlib.suppress(OSError):
            folder.rmdir()


class _NotPutError(Exception):
    """Why results are not where they should be."""


def _put(whole: Path, target: Path, before: State | None) -> None:
    """Move a folder to `target`, whose state was `before` and must still be."""
    new = changed(before, state(target))
    if new is not None:
        raise _NotPutError(f"has changed meanwhile ({new})")
    replaced = None
    try:
        if before is not None and len(before) > 1:
            if exchange(whole, target):
                # Whoever looks has seen the one or the other; what was there is where the whole was.
                new = changed(before, state(whole))
                if new is not None:
                    exchange(whole, target)
                    raise _NotPutError(f"has changed meanwhile ({new})")
                _remove_replaced(whole, target)
                return
            replaced = whole.with_suffix(".replaced")
            target.rename(replaced)
            new = changed(before, state(replaced))
            if new is not None:
                raise _NotPutError(f"has changed meanwhile ({new})")
        # An empty folder gives way by itself; one that no longer is does not.
        if sys.platform == "win32" and before is not None and replaced is None:
            target.rmdir()
        whole.rename(target)
    except BaseException as error:
        kept = ""
        if replaced is not None and replaced.exists():
            if target.exists():
                kept = f", and what was there before is in {replaced}"
            else:
                replaced.rename(target)
        if isinstance(error, OSError):
            raise _NotPutError(f"cannot be replaced ({error.strerror}){kept}") from None
        raise
    if replaced is not None:
        _remove_replaced(replaced, target)


def _remove_replaced(replaced: Path, target: Path) -> None:
    try:
        shutil.rmtree(replaced)
    except OSError as error:
        raise RunError(
            f"the results are in {target}, but what was there before cannot be removed from {replaced}: {error}"
        ) from None


def _put_beside(whole: Path, target: Path) -> Path:
    """Move a folder to where there is nothing, with a name like `target`, and give that."""
    for number in itertools.count(2):
        beside = target.with_name(f"{target.name}-{number}")
        try:
            if sys.platform != "win32":
                # There a folder gives way to none, be it empty.
                beside.mkdir()
            return whole.rename(beside)
        except FileExistsError:
            continue
        except OSError:
            break
    return whole
