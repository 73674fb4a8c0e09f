"""Classes of plugins: what a source's ones are told of their end, and how objects of all are made and checked."""

from __future__ import annotations

import contextlib
import dis
import inspect
import signal
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TypeVar

from .errors import CellrateError, RunError, shown

Kind = TypeVar("Kind")


@dataclass(frozen=True, slots=True)
class SendingEnd:
    """The end of a connection that a policy or traffic is made for."""

    name: str
    """Its direction, as results call it: "vc1", or "vc1 (back)" from the last host to the first."""
    pcr: float
    """PCR for ABR, the peak rate otherwise [cells/s]."""
    mcr: float
    """MCR for ABR, 0 otherwise [cells/s]."""
    icr: float
    """The rate that it begins with: the smaller of ICR and TBE/FRTT, or its peak rate [cells/s]."""
    seed: int
    """For random numbers, 64 bits: another one for each direction, and with each seed of the scenario."""


def contained(error: BaseException) -> BaseException:
    """Give the error of a run that code of others has left with something that is no `Exception`.

    `SystemExit` would end the process, `GeneratorExit` and a bare `BaseException` would pass by whoever catches
    exceptions. An interrupt that a signal has brought stays what it is, and so does what a signal handler raised.

    Returns
    -------
    BaseException
        The same, or a `RunError` that says what it was, with the last of its notes: where it came from.
    """
    if isinstance(error, Exception) or _came_by_signal(error):
        return error
    try:
        said = f": {error}" if str(error) else ""
    except Exception:
        said = ""
    notes = getattr(error, "__notes__", None) or [""]
    text = f"a plugin in Python left the run with {type(error).__name__}{said} {notes[-1]}"
    found = RunError(text.rstrip())
    found.__cause__ = error
    return found


def _came_by_signal(error: BaseException) -> bool:
    """Say whether a signal has raised it: in a handler in Python, or by itself, where no statement raises anything."""
    handlers = {getattr(signal.getsignal(number), "__code__", None) for number in signal.valid_signals()}
    place = error.__traceback__
    while place is not None:
        if place.tb_frame.f_code in handlers:
            return True
        if place.tb_next is None:
            break
        place = place.tb_next
    if not isinstance(error, KeyboardInterrupt):
        return False
    return place is None or place.tb_frame.f_code.co_code[place.tb_lasti] != dis.opmap["RAISE_VARARGS"]


@contextlib.contextmanager
def being_made(what: str) -> Iterator[None]:
    """Have whatever is raised while a plugin is made, or looked at, say so.

    Raises
    ------
    RunError
        If the plugin raises what is no `Exception`, such as `SystemExit`.
    Exception
        Whatever else it raises, with a note of what was made.
    """
    try:
        yield
    except CellrateError as error:
        if what not in str(error):
            error.add_note(f"when {what} was made")
        raise
    except BaseException as error:
        BaseException.add_note(error, f"when {what} was made")
        found = contained(error)
        if found is error:
            raise
        raise found from error


def made(
    what: str, base: type[Kind], make: Callable[..., object], told: object, parameters: Mapping[str, object]
) -> Kind:
    """Make one of a kind: `make` is called with what it is `told` of its place, and the parameters of the scenario.

    Raises
    ------
    CellrateError
        If it does not take these parameters, or what it gives is not of the kind; it says `what` that is.
    """
    needed = f"{what} is to be a cellrate.{base.__name__}"
    kind: object = make
    if isinstance(kind, type) and not issubclass(kind, base):
        raise CellrateError(f"{needed}; the class {kind.__qualname__} does not derive from it")
    _check_parameters(what, make, parameters)
    given = make(told, **parameters)
    if not isinstance(given, base):
        raise CellrateError(f"{needed}; given was {shown(given)}")
    return given


def overrides(thing: object, base: type, method: str) -> bool:
    """Say whether a thing has a method of its own instead of the one of its base."""
    return getattr(getattr(thing, method), "__func__", None) is not getattr(base, method)


def check_methods(thing: object, base: type, methods: tuple[str, ...]) -> None:
    """See that a thing has one of the methods that are called of it, and none that only nearly has such a name.

    The base itself may be given, to do nothing. A method with a name of its own is a helper, and so is one whose name
    is near that of a method which the thing has too.

    Raises
    ------
    CellrateError
        If it has neither, or a method that was probably meant to be another one; it says which.
    """
    kind = type(thing)
    if kind is base:
        return
    missing = [method for method in methods if not overrides(thing, base, method)]
    for name in _own_methods(kind, base):
        meant = _nearest(name, methods)
        if meant in missing:
            raise CellrateError(f"{kind.__name__} has a method {name}, which nothing calls; did you mean {meant}?")
    if len(missing) == len(methods):
        raise CellrateError(
            f"{kind.__name__} does nothing: it has no {' or '.join(methods)} of its own, and a "
            f"cellrate.{base.__name__} is asked for nothing else"
        )


def _own_methods(kind: type, base: type) -> list[str]:
    """Give the names of methods that anybody may call and that the base does not have."""
    names = [name for name in dir(kind) if not name.startswith("_") and not hasattr(base, name)]
    return [name for name in names if callable(getattr(kind, name))]


@cache
def _nearest(name: str, methods: tuple[str, ...]) -> str | None:
    """Give the method whose name is so near that it was probably meant: on_backwards_rm, onBackwardRm, on_interval."""
    import difflib

    near = difflib.get_close_matches(name.lower(), methods, n=1, cutoff=0.84)
    return near[0] if near else None


def _check_parameters(what: str, make: Callable[..., object], parameters: Mapping[str, object]) -> None:
    try:
        signature = inspect.signature(make)
    except (TypeError, ValueError):
        # Something that does not say what it takes.
        return
    by_name = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
    # The first one is what it is told.
    taken = [one for one in list(signature.parameters.values())[1:] if one.kind in by_name]
    takes_any = any(one.kind is inspect.Parameter.VAR_KEYWORD for one in signature.parameters.values())
    names = [one.name for one in taken]
    called = getattr(make, "__qualname__", type(make).__qualname__)
    for name in parameters:
        if name not in names and not takes_any:
            raise CellrateError(
                f'{what} is handed the parameter "{name}" by the scenario; {called} takes {", ".join(names) or "none"}'
            )
    for one in taken:
        if one.default is inspect.Parameter.empty and one.name not in parameters:
            raise CellrateError(
                f'{what} is not handed the parameter "{one.name}", which {called} needs; '
                f"write parameters = {{ {one.name} = ... }} in the scenario"
            )
