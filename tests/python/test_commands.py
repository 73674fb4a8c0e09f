from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Annotated, Any, Literal, cast

import pytest

from cellrate.command_line.app import ADDED_BY
from cellrate.command_line.app import app as command_line
from cellrate.command_line.options import Chosen
from cellrate.command_line.typed import App, Parameter, UsageError, in_two_columns
from cellrate.plugins.collection import Plugins

Text = Annotated[str, Parameter(help="A text of 100 %.")]


@dataclass(frozen=True, kw_only=True)
class Shared:
    """Options of several commands."""

    level: Annotated[int | None, Parameter(help="Level.")] = None
    colours: Annotated[list[str] | None, Parameter(name="--colour", help="Colours.")] = None
    size: Annotated[str, Parameter(help="Size.")]


@pytest.fixture
def called() -> dict[str, Any]:
    return {}


@pytest.fixture
def app(called: dict[str, Any]) -> App:
    top = App("tool", help="Does things.", version=lambda: "1.2")
    inner = top.group("inner", help="Does inner things.")

    @top.command("do")
    def do(
        file: Text,
        /,
        *,
        from_: Annotated[list[str] | None, Parameter(name="--from", help="Where from.")] = None,
        seed: Annotated[int | None, Parameter(help="Seed.")] = None,
        share: Annotated[float, Parameter(help="Share.")] = 0.5,
        out_folder: Annotated[Path | None, Parameter(help="Folder.")] = None,
        kind: Annotated[Literal["cells", "pdus"] | None, Parameter(help="Kind.")] = None,
        json: Annotated[bool, Parameter(help="JSON.")] = False,
    ) -> int:
        """Do it.

        At length.
        """
        called.update(file=file, from_=from_, seed=seed, share=share, out_folder=out_folder, kind=kind, json=json)
        return 7

    @inner.command("many")
    def many(
        file: Text,
        names: Annotated[list[str], Parameter(help="Names.")],
        /,
        *,
        length: Annotated[list[int] | None, Parameter(help="Lengths.")] = None,
    ) -> int:
        """Do many."""
        called.update(file=file, names=names, length=length)
        return 0

    @inner.command("vary")
    def vary(
        file: Text,
        /,
        *,
        keys: Annotated[list[str], Parameter(name="--key", help="Keys.")],
        to: Annotated[str, Parameter(help="To what.")],
        within: Annotated[str, Parameter(help="Within what.")] = "1 %",
    ) -> int:
        """Vary it, by 100 % at most."""
        called.update(file=file, keys=keys, to=to, within=within)
        return 0

    @inner.command("share")
    def share(file: Text, /, *, shared: Shared, json: Annotated[bool, Parameter(help="JSON.")] = False) -> int:
        """Share options."""
        called.update(file=file, shared=shared, json=json)
        return 0

    return top


def test_a_dataclass_stands_for_the_options_that_are_its_fields(
    app: App, called: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--colour", "red", "--level", "2", "--json", "--colour", "blue", "--size", "3"]
    assert app(["inner", "share", "a.toml", *words]) == 0
    assert called == {"file": "a.toml", "shared": Shared(level=2, colours=["red", "blue"], size="3"), "json": True}
    assert app(["inner", "share", "a.toml", "--size", "4"]) == 0
    assert called["shared"] == Shared(size="4")
    for wrong, said in (
        ("", "arguments are required: --size"),
        ("--size 1 --size 2", "--size is given more than once"),
        ("--size 1 --levle 2", "Did you mean --level?"),
        ("--size 1 --level x", '"x" is not a whole number'),
    ):
        with pytest.raises(UsageError, match=re.escape(said)):
            app(["inner", "share", "a.toml", *wrong.split()])
    assert app(["inner", "share", "--help"]) == 0
    shown = capsys.readouterr().out
    assert shown.index("--level") < shown.index("--colour") < shown.index("--size") < shown.index("--json")


def test_a_command_is_imported_when_it_is_called(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "import here\n@here.top.command('{0}')\ndef {0}() -> int:\n    'Do {0}.'\n    return 0\n"
    for name in ("one", "two"):
        (tmp_path / f"adds_{name}.py").write_text(text.format(name))
    monkeypatch.syspath_prepend(tmp_path)
    top = App("tool", help="Does things.", modules={"one": "adds_one", "two": "adds_two"})
    monkeypatch.setitem(sys.modules, "here", cast(ModuleType, SimpleNamespace(top=top)))
    assert top(["one"]) == 0
    assert list(top.commands) == ["one"]
    with pytest.raises(UsageError, match="Available commands: one, two"):
        top(["three"])
    assert top(["--help"]) == 0
    assert list(top.commands) == ["one", "two"]


def test_each_module_adds_the_commands_that_it_is_said_to_add() -> None:
    for module, names in ADDED_BY.items():
        importlib.import_module(f"cellrate.command_line.{module}")
        assert set(names) <= set(command_line.commands)
    assert set(command_line.commands) == set(command_line.modules)


def test_what_is_not_given_is_what_the_function_says(app: App, called: dict[str, Any]) -> None:
    assert app(["do", "a.toml"]) == 7
    nothing = {"from_": None, "seed": None, "out_folder": None, "kind": None}
    assert called == {"file": "a.toml", "share": 0.5, "json": False, **nothing}


@pytest.mark.parametrize("order", [lambda file, options: [file, *options], lambda file, options: [*options, file]])
def test_options_come_before_and_after_and_have_their_types(
    app: App, called: dict[str, Any], order: Callable[[str, list[str]], list[str]]
) -> None:
    options = "--from a=1 --from=b=-2 --seed -3 --share 0.25 --out-folder x/y --kind pdus --json"
    app(["do", *order("a.toml", options.split())])
    assert called == {
        "file": "a.toml", "from_": ["a=1", "b=-2"], "seed": -3, "share": 0.25, "out_folder": Path("x/y"),
        "kind": "pdus", "json": True,
    }  # fmt: skip


def test_options_without_a_default_have_to_be_given(
    app: App, called: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    assert app(["inner", "vary", "a.toml", "--to", "1", "--key", "b", "--key", "c"]) == 0
    assert called == {"file": "a.toml", "keys": ["b", "c"], "to": "1", "within": "1 %"}
    assert app(["inner", "vary", "--help"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "To what. [required]" in shown
    assert "Within what. [1 % by default]" in shown


def commands(app: App, words: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Give the words of every command, of those within others too."""
    for name in sorted({*app.commands, *app.modules}):
        below = app._command(name)
        yield from commands(below, (*words, name)) if isinstance(below, App) else [(*words, name)]


def test_every_command_has_a_help_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    for words in commands(command_line):
        assert command_line([*words, "--help"]) == 0
        shown = capsys.readouterr().out
        assert f"usage: cellrate {' '.join(words)} " in shown
        assert "<class" not in shown, words
        assert "None by default" not in shown, words


def test_a_list_by_place_takes_what_is_left(app: App, called: dict[str, Any]) -> None:
    assert app(["inner", "many", "a.toml", "--length", "1", "sw1", "sw2", "--length", "2"]) == 0
    assert called == {"file": "a.toml", "names": ["sw1", "sw2"], "length": [1, 2]}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("doo", 'Unknown command "doo". Did you mean do? Available commands: do, inner.'),
        ("--json", 'Unknown option "--json". Available commands: do, inner.'),
        ("inner man", 'Unknown command "man". Did you mean many? Available commands: many, share, vary.'),
        ("inner --version", 'Unknown option "--version". Available commands: many, share, vary.'),
        ("do", "The following arguments are required: FILE."),
        ("do a b", '"b" is one argument too many for tool do.'),
        ("do a --sed 1", "Unknown option --sed. Did you mean --seed?"),
        ("do a --jso", "Unknown option --jso. Did you mean --json?"),
        ("do a --from_ b", "Unknown option --from_. Did you mean --from?"),
        ("do a --seed 1.5", 'Argument --seed: "1.5" is not a whole number.'),
        ("do a --share half", 'Argument --share: "half" is not a number.'),
        ("do a --kind both", "Argument --kind: invalid choice: 'both' (choose from 'cells', 'pdus')."),
        ("do a --seed 1 --seed 1", "--seed is given more than once."),
        ("do a --out-folder --json", "Argument --out-folder: expected one argument."),
        ("inner many a", "The following arguments are required: NAMES."),
        ("inner vary a", "The following arguments are required: --key, --to."),
        ("inner vary a --key b", "The following arguments are required: --to."),
        ("inner vary a --key b --to c --to d", "--to is given more than once."),
    ],
)
def test_what_no_command_takes_is_told(app: App, called: dict[str, Any], arguments: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        app(arguments.split())
    # Later versions of argparse leave the quotes around choices out.
    assert str(caught.value).replace("choose from cells, pdus", "choose from 'cells', 'pdus'") == said
    assert called == {}


def test_help_names_commands_with_the_first_line_of_each(app: App, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in ([], ["--help"], ["-h"]):
        assert app(arguments) == 0
        assert capsys.readouterr().out.split("\n") == [
            "usage: tool COMMAND", "", "Does things.", "", "Commands:",
            "  do             Do it.",
            "  inner          Does inner things.",
            "  --help, -h     Show this and exit; `help COMMAND` that of a command.",
            "  --version, -V  Show the version and exit.",
            "",
        ]  # fmt: skip


def test_help_on_a_command_says_all_of_its_parameters(
    app: App, called: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    assert app(["do", "--seed", "1", "--help"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("usage: tool do [OPTIONS] FILE\n\nDo it.\n\nAt length.\n\n")
    for line in (
        "FILE  A text of 100 %.",
        "--from TEXT",
        "--seed INT",
        "Share. [0.5 by default]",
        "--kind {cells,pdus}",
    ):
        assert " ".join(line.split()) in " ".join(shown.split())
    assert called == {}


def test_the_version_is_shown(app: App, capsys: pytest.CaptureFixture[str]) -> None:
    assert app(["--version"]) == 0
    assert capsys.readouterr().out == "1.2\n"


def test_two_columns_break_the_second(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    text = "one two three four five six seven eight nine ten"
    assert in_two_columns({"a": text, "name": "short"}).split("\n") == [
        "a     one two three four five six seven",
        "      eight nine ten",
        "name  short",
    ]


def test_what_is_chosen_of_a_scenario_takes_bare_names_of_algorithms() -> None:
    """All commands that run something share it: run, watch, live run and live watch."""
    own = Plugins.of({"mine": cast(Any, object)}, None, None)
    for name, table in (("phantom", {"type": "phantom"}), ("mine", {"type": "custom", "name": "mine"})):
        chosen = Chosen(set=[f"defaults.switch.algorithm={name}"], seed=7, record=["acr,queue"])
        document = chosen.scenario("two-source-transient", own).to_dict()
        assert (document["defaults"]["switch"]["algorithm"], document["seed"]) == (table, 7)
