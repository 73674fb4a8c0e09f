"""Commands made of typed functions, over argparse.

    app = App("cellrate", help="...")

    @app.command("run")
    def run(file: str, /, *, seed: Annotated[int | None, Parameter(help="Seed.")] = None) -> int: ...

What is before the `/` is given by its place, everything after the `*` as an option: `--seed 3`, or `--seed=3`. What has
no default has to be given. A truth value is an option without a value, a list may be given again, a `Literal` names
the choices. A parameter whose type is a dataclass stands for the options that are its fields, so that several commands
share them. Only the command that is called has its module imported and its parser made: libraries that do more than
this take longer to import than a short run takes.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, is_dataclass, replace
from pathlib import Path
from types import NoneType
from typing import Any, Literal, NoReturn, TypeVar, cast, get_args, get_origin, get_type_hints

Command = Callable[..., int]
Typed = TypeVar("Typed", bound=Command)
Completer = Callable[[str, str], Any]


class UsageError(Exception):
    """A command line that no command takes; the text says what is wrong with it.

    Attributes
    ----------
    command : str
        Whose help says what there is, as in "cellrate live run".
    """

    def __init__(self, text: str, command: str = "cellrate") -> None:
        super().__init__(text)
        self.command = command


@dataclass(frozen=True)
class Parameter:
    """Parameter as a command line has it."""

    help: str
    name: str | None = None
    """Instead of the function's own name for it, such as `--set`."""


@dataclass(frozen=True)
class _Option:
    """An option, or an argument that is given by its place, with the parameter that takes it."""

    parameter: inspect.Parameter
    kind: Any
    """Its type, without None."""
    said: Parameter
    group: inspect.Parameter | None = None
    """Parameter of the function, where this is a field of that parameter's dataclass."""

    @property
    def name(self) -> str:
        return self.said.name or "--" + self.parameter.name.replace("_", "-")

    @property
    def has_place(self) -> bool:
        return self.parameter.kind is self.parameter.POSITIONAL_ONLY

    @property
    def is_required(self) -> bool:
        return self.parameter.default is inspect.Parameter.empty


@dataclass
class App:
    """A command that has commands."""

    name: str
    """Name, with those of the commands that it belongs to, as in "cellrate live"."""
    help: str
    version: Callable[[], str] | None = None
    """Gives the text that `--version` prints; only the uppermost has it."""
    modules: Mapping[str, str] = field(default_factory=dict)
    """By name of a command, the module that adds it when it is imported; none for a command that is added already."""
    groups: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Names of commands by heading, in the order of the help; others come last, under "Commands"."""
    commands: dict[str, Command | App] = field(default_factory=dict)
    """Commands that have been added, by name."""

    def command(self, name: str) -> Callable[[Typed], Typed]:
        """Add a function under this name."""

        def add(function: Typed) -> Typed:
            self.commands[name] = function
            return function

        return add

    def group(self, name: str, help: str) -> App:
        """Add a command that has commands, and give it."""
        added = App(f"{self.name} {name}", help)
        self.commands[name] = added
        return added

    def __call__(self, arguments: Sequence[str]) -> int:
        """Run the command that the arguments name, and give its exit status.

        Raises
        ------
        UsageError
            If the arguments name no command, or it does not take them.
        """
        if not arguments or arguments[0] in ("--help", "-h"):
            print(self._described())
            return 0
        if arguments[0] == "help" and "help" not in self._names():
            # `help COMMAND` is `COMMAND --help`.
            return self([*(word for word in arguments[1:] if word not in ("--help", "-h")), "--help"])
        if arguments[0] in ("--version", "-V") and self.version is not None:
            print(self.version())
            return 0
        first, *rest = arguments
        chosen = self._command(first)
        if chosen is None:
            kind = "option" if first.startswith("-") else "command"
            names = self._names()
            raise UsageError(
                f'Unknown {kind} "{first}".{_similar(first, names)} Available commands: {", ".join(names)}.', self.name
            )
        if isinstance(chosen, App):
            return chosen(rest)
        name = f"{self.name} {first}"
        try:
            return _call(chosen, name, rest)
        except UsageError as error:
            raise UsageError(str(error), name) from None

    def parser(self, completer: Completer = lambda command, place: None) -> argparse.ArgumentParser:
        """Give one parser of all commands, for completion; imports the modules of all of them.

        Parameters
        ----------
        completer
            What completes the argument of a command that stands at its place, as in `("live run", "FILE")`; given by
            argcomplete's interface, or None where anything may stand.
        """
        parser = _Parser(prog=self.name, add_help=False)
        self._into(parser, completer)
        return parser

    def _into(self, parser: argparse.ArgumentParser, completer: Completer) -> None:
        words = " ".join(self.name.split()[1:])
        parser.add_argument("--help", action="help")
        if self.version is not None:
            parser.add_argument("--version", action="store_true")
        below = parser.add_subparsers()
        for name in self._names():
            match self._command(name):
                case App() as app:
                    app._into(below.add_parser(name, help=_first_line(app), add_help=False), completer)
                case command if command is not None:
                    own = below.add_parser(name, help=_first_line(command), add_help=False)
                    _fill(own, _parameters(command))
                    for action in own._actions:
                        if not action.option_strings:
                            action.completer = completer(f"{words} {name}".strip(), str(action.metavar))  # type: ignore[attr-defined]

    def _names(self) -> list[str]:
        return sorted({*self.commands, *self.modules})

    def _command(self, name: str) -> Command | App | None:
        if name in self.modules:
            importlib.import_module(self.modules[name])
        return self.commands.get(name)

    def _described(self) -> str:
        options = {"--help, -h": "Show this and exit; `help COMMAND` that of a command."}
        if self.version is not None:
            options["--version, -V"] = "Show the version and exit."
        groups = self.grouped()
        width = max(len(name) for rows in (options, *groups.values()) for name in rows) + 2
        parts = [f"usage: {self.name} COMMAND", _filled(self.help)]
        parts += [f"{heading}:\n{in_two_columns(rows, indent='  ', width=width)}" for heading, rows in groups.items()]
        # Options of the command itself stand under its last heading.
        return "\n\n".join(parts) + "\n" + in_two_columns(options, indent="  ", width=width)

    def grouped(self) -> dict[str, dict[str, str]]:
        """Give the first lines of all commands by name, by heading."""
        lines = {name: _first_line(command) for name in self._names() if (command := self._command(name)) is not None}
        found = {heading: {name: lines.pop(name) for name in names} for heading, names in self.groups.items()}
        return found | ({"Commands": lines} if lines else {})

    def described(self) -> Iterator[Described]:
        """Give what every command says of itself, those of groups among them, in the order of the help."""
        for name in (name for rows in self.grouped().values() for name in rows):
            match self._command(name):
                case App() as app:
                    yield from app.described()
                case command if command is not None:
                    yield _described(command, f"{self.name} {name}")


@dataclass(frozen=True)
class Described:
    """Help of a command, in parts."""

    usage: str
    paragraphs: list[str]
    arguments: dict[str, str]
    """Arguments that are given by their place, each with its help."""
    options: dict[str, str]
    """Options, each with its help."""


def _described(function: Command, name: str) -> Described:
    parser = _parser(function, name, _parameters(function))
    arguments, options = {}, {}
    for action in parser._actions:
        said = (action.help or "").replace("%%", "%")
        if not action.option_strings:
            arguments[str(action.metavar)] = said
        elif action.dest != "help":
            value = "|".join(action.choices or [str(action.metavar or "")])
            options[" ".join(filter(None, [", ".join(action.option_strings), value]))] = said
    paragraphs = [" ".join(part.split()) for part in inspect.cleandoc(function.__doc__ or "").split("\n\n")]
    return Described(str(parser.usage), paragraphs, arguments, options)


def in_two_columns(rows: dict[str, str], *, indent: str = "", width: int | None = None, cut: bool = False) -> str:
    """Set names, each with its text beside it, as wide as the terminal.

    Parameters
    ----------
    width
        Width of the first column in characters; by default that of its longest name, and 2.
    cut
        Whether a text that is longer than its line ends there with "...".
    """
    import textwrap

    width = width or max((len(name) for name in rows), default=0) + 2
    columns = max(_terminal_columns(), width + 30)
    if cut:
        room = columns - width - len(indent)
        rows = {name: textwrap.shorten(text, room, placeholder=" ...") for name, text in rows.items()}
    return "\n".join(
        textwrap.fill(
            " ".join(text.split()),
            columns,
            initial_indent=f"{indent}{name:<{width}}",
            subsequent_indent=indent + " " * width,
        )
        for name, text in rows.items()
    )


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message[:1].upper()}{message[1:]}.")


def _call(function: Command, name: str, arguments: Sequence[str]) -> int:
    parameters = _parameters(function)
    parser = _parser(function, name, parameters)
    try:
        known, unknown = parser.parse_known_args(arguments)
    except SystemExit:
        # Help was asked for, and is printed.
        return 0
    if unknown:
        raise UsageError(_unknown(unknown[0], name, parameters))
    places: list[Any] = []
    options: dict[str, Any] = {}
    groups: dict[str, tuple[Any, dict[str, Any]]] = {}
    for option in parameters:
        given = getattr(known, option.parameter.name)
        into = options
        if option.group is not None:
            _, into = groups.setdefault(option.group.name, (option.group.annotation, {}))
        if option.has_place:
            places.append(given)
        elif option.kind is bool or _is(option.kind, list):
            into[option.parameter.name] = given
        elif given is not None:
            if len(given) > 1:
                raise UsageError(f"{option.name} is given more than once.")
            (into[option.parameter.name],) = given
    return function(*places, **options, **{name: group(**fields) for name, (group, fields) in groups.items()})


def _parser(function: Command, name: str, parameters: Sequence[_Option]) -> argparse.ArgumentParser:
    parser = _Parser(
        prog=name,
        description=_paragraphs(function),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
        add_help=False,
    )
    places = _fill(parser, parameters)
    parser.usage = " ".join([name, "[OPTIONS]", *places])
    return parser


def _fill(parser: argparse.ArgumentParser, parameters: Sequence[_Option]) -> list[str]:
    """Give a parser the arguments and options of a function, and tell the names of what stands at its place."""
    arguments, options = parser.add_argument_group("Arguments"), parser.add_argument_group("Options")
    places = []
    for option in parameters:
        how: dict[str, Any] = {"help": _verbatim(option.said.help)}
        default = option.parameter.default
        if option.has_place:
            place = option.parameter.name.upper()
            places.append(place if option.is_required else f"[{place}]")
            if _is(option.kind, list):
                how["nargs"] = "+" if option.is_required else "*"
            elif not option.is_required:
                how |= {"nargs": "?", "default": default}
            arguments.add_argument(option.parameter.name, metavar=place, type=_reader(option.kind), **how)
            continue
        if option.is_required:
            how["required"] = True
            how["help"] += " [required]"
        elif default not in (None, False):
            how["help"] += _verbatim(f" [{default} by default]")
        if option.kind is bool:
            how["action"] = "store_true"
        elif _is(option.kind, Literal):
            how |= {"action": "append", "choices": get_args(option.kind)}
        else:
            how |= {"action": "append", "type": _reader(option.kind), "metavar": _NAMES[_item(option.kind)]}
        options.add_argument(*_SHORT.get(option.name, ()), option.name, dest=option.parameter.name, **how)
    options.add_argument("--help", "-h", action="help", help="Show this and exit.")
    return places


def _parameters(taker: Command | type) -> list[_Option]:
    """Give every option and argument of a function, or of a dataclass whose fields are options."""
    annotations = get_type_hints(taker, include_extras=True)
    found = []
    for parameter in inspect.signature(taker).parameters.values():
        annotation = annotations[parameter.name]
        if is_dataclass(annotation):
            group = parameter.replace(annotation=annotation)
            found += [replace(option, group=group) for option in _parameters(cast(type, annotation))]
            continue
        # Annotated[int | None, Parameter(...)]
        kind, said = get_args(annotation)
        if NoneType in get_args(kind):
            (kind,) = (one for one in get_args(kind) if one is not NoneType)
        found.append(_Option(parameter, kind, said))
    return found


def _verbatim(text: str) -> str:
    """Write a text as argparse's formatting leaves it."""
    return text.replace("%", "%%")


def _unknown(argument: str, name: str, parameters: Sequence[_Option]) -> str:
    if not argument.startswith("-"):
        return f'"{argument}" is one argument too many for {name}.'
    option = argument.partition("=")[0]
    names = [known.name for known in parameters if not known.has_place]
    return f"Unknown option {option}.{_similar(option, names)}"


_SHORT = {"--out": ("-o",)}
"""Options of one letter, by the option that they stand for."""

_NAMES = {int: "INT", float: "NUMBER", str: "TEXT", Path: "PATH"}


def _is(kind: Any, generic: object) -> bool:
    return get_origin(kind) is generic


def _item(kind: Any) -> type:
    item: type = get_args(kind)[0] if _is(kind, list) else kind
    return item


def _reader(kind: Any) -> Callable[[str], Any]:
    item = _item(kind)

    def read(text: str) -> Any:
        try:
            return item(text)
        except ValueError:
            wanted = "a whole number" if item is int else "a number"
            raise argparse.ArgumentTypeError(f'"{text}" is not {wanted}') from None

    return read


def _similar(given: str, known: Iterable[str]) -> str:
    import difflib

    close = difflib.get_close_matches(given, list(known), n=1)
    return f" Did you mean {close[0]}?" if close else ""


def _first_line(command: Command | App) -> str:
    return command.help if isinstance(command, App) else (command.__doc__ or "").strip().split("\n")[0]


def _paragraphs(function: Command) -> str:
    return "\n\n".join(_filled(paragraph) for paragraph in inspect.cleandoc(function.__doc__ or "").split("\n\n"))


def _filled(text: str) -> str:
    import textwrap

    return textwrap.fill(" ".join(text.split()), _terminal_columns())


def _terminal_columns() -> int:
    import shutil

    return shutil.get_terminal_size().columns
