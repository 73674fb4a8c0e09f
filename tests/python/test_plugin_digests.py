"""Digests of plugins: another one for another behaviour, the same in any process, none where that cannot be said."""

from __future__ import annotations

import configparser
import dataclasses
import enum
import functools
import os
import sqlite3
import subprocess
import sys
import textwrap
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.csv
import pytest
from numpy import load as load_array

import cellrate
from cellrate.campaigns.running import sweep_into
from cellrate.plugins.collection import Plugins, load
from cellrate.plugins.digest import digest_of
from conftest import SWEEP

FACTOR = 1.0
CUSTOM = SWEEP.replace('{ type = "erica" }', '{ type = "custom", name = "mine" }').replace('"20 ms"', '"1 ms"')


class Mine(cellrate.SwitchAlgorithm):
    def __init__(self, port: object, rate: float = 1000.0) -> None:
        self.rate = rate

    def on_backward_rm(self, now: float, vc: Any, queue: int) -> float:
        return self.rate


def partial(rate: float) -> Any:
    return functools.partial(Mine, rate=rate)


def positional(rate: float) -> Any:
    return functools.partial(lambda rate, port: Mine(port, rate), rate)


def anonymous(rate: float) -> Any:
    return lambda port: Mine(port, rate)


def default(rate: float) -> Any:
    return lambda port, rate=rate: Mine(port, rate)


def closure(rate: float) -> Any:
    class Own(cellrate.SwitchAlgorithm):
        def on_backward_rm(self, now: float, vc: Any, queue: int) -> float:
            return rate

    return Own


def attribute(rate: float) -> Any:
    return type("Own", (Mine,), {"on_backward_rm": lambda self, now, vc, queue: self.given, "given": rate})


def in_a_base(rate: float) -> Any:
    return type("Own", (closure(rate),), {})


def deep(rate: float) -> Any:
    inner = {"rates": [{"low": rate}]}
    return lambda port: Mine(port, inner["rates"][0]["low"])


class Maker:
    """Something that makes one when it is called."""

    def __init__(self, rate: float) -> None:
        self.rate = rate

    def __call__(self, port: object) -> Mine:
        return Mine(port, self.rate)

    def make(self, port: object) -> Mine:
        return Mine(port, self.rate)


def decorated(rate: float) -> Any:
    @functools.wraps(Mine)
    def make(port: object) -> Mine:
        return Mine(port, rate)

    return make


def global_of_a_module(rate: float) -> Any:
    globals()["FACTOR"] = rate

    def make(port: object) -> Mine:
        return helped(port)

    return make


def helped(port: object) -> Mine:
    return Mine(port, FACTOR)


def field_of_a_dataclass(rate: float) -> Any:
    @dataclasses.dataclass(slots=True)
    class Parameters:
        rates: list[float] = dataclasses.field(default_factory=lambda: [rate])

    return lambda port: Mine(port, Parameters().rates[0])


def cached_property(rate: float) -> Any:
    class Own(cellrate.SwitchAlgorithm):
        @functools.cached_property
        def given(self) -> float:
            return rate

        def on_backward_rm(self, now: float, vc: Any, queue: int) -> float:
            return self.given

    return Own


def random_numbers(rate: float) -> Any:
    # Classes of Cython say with a descriptor where they come from.
    generator = np.random.default_rng(int(rate))
    return lambda port: Mine(port, generator.random())


def member_of_an_enumeration(rate: float) -> Any:
    kind = enum.Enum("kind", {"RATE": rate})
    return lambda port: Mine(port, kind.RATE.value)


def module_without_a_file(rate: float) -> Any:
    module = types.ModuleType("made_here")
    module.rate = rate  # type: ignore[attr-defined]
    return lambda port: Mine(port, module.rate)


def module_in_a_closure(rate: float) -> Any:
    global FACTOR
    FACTOR = rate
    module = sys.modules[__name__]
    return lambda port: Mine(port, module.FACTOR)


def module_as_a_default(rate: float) -> Any:
    global FACTOR
    FACTOR = rate
    return lambda port, module=sys.modules[__name__]: Mine(port, module.FACTOR)


KINDS: list[Callable[[float], Any]] = [
    partial, positional, anonymous, default, closure, attribute, in_a_base, deep, decorated, Maker,
    lambda rate: Maker(rate).make, global_of_a_module, field_of_a_dataclass, cached_property, random_numbers,
    member_of_an_enumeration, module_without_a_file, module_in_a_closure, module_as_a_default,
]  # fmt: skip


def of(make: Any, kind: str = "algorithms") -> str | None:
    return digest_of(Plugins(**{kind: {"mine": make}}))


@pytest.fixture(autouse=True)
def factor() -> Iterator[None]:
    yield
    globals()["FACTOR"] = 1.0


@pytest.mark.parametrize("kind", ["algorithms", "policies", "traffic"])
@pytest.mark.parametrize("make", KINDS)
def test_another_value_is_another_plugin(make: Callable[[float], Any], kind: str) -> None:
    one = of(make(1000.0), kind)
    assert one is not None
    assert of(make(1000.0), kind) == one
    assert of(make(90000.0), kind) not in (one, None)


@pytest.mark.parametrize("make", [partial, anonymous, closure])
def test_a_campaign_runs_what_it_is_given(tmp_path: Path, make: Callable[[float], Any]) -> None:
    points = [(point.scenario, point.settings) for point in cellrate.Scenario.parse(CUSTOM).points()][:1]

    def acr(rate: float, out: str) -> tuple[float, int]:
        plugins = Plugins(algorithms={"mine": make(rate)})
        swept = sweep_into(tmp_path / out, points, workers=1, plugins=plugins, complain=lambda _: None)
        return swept[0].summary["vcs"][0]["mean_acr"], (tmp_path / out / "point-001" / "summary.json").stat().st_ino

    first, kept = acr(1000.0, "one")
    assert acr(1000.0, "one") == (first, kept)
    second, _ = acr(90000.0, "one")
    assert second == acr(90000.0, "other")[0] != first


FILES = {
    "al.py": """
        import cellrate, helper
        from bundle import parts as used
        class Mine(cellrate.SwitchAlgorithm):
            known = {"a", "b", "c", "d"}
            def on_backward_rm(self, now, vc, queue):
                import late
                return helper.rate() + used.RATE + late.RATE
    """,
    "helper.py": "import further\ndef rate():\n    return further.RATE\n",
    "further.py": "RATE = 1.0\n",
    "late.py": "RATE = 1.0\n",
    "bundle/__init__.py": "",
    "bundle/parts.py": "from .deeper import RATE\n",
    "bundle/deeper.py": "from . import deepest\nRATE = 1.0\n",
    "bundle/deepest.py": "",
    "stranger.py": "RATE = 1.0\n",
}
DIGEST = (
    "from cellrate.plugins.collection import load; from cellrate.plugins.digest import digest_of; "
    "print(digest_of(load(['mine=al.py:Mine'])))"
)


@pytest.fixture
def modules(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(textwrap.dedent(text))
    return tmp_path


def printed(folder: Path, seed: str = "0", code: str = DIGEST) -> str:
    environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONHASHSEED": seed, "PYTHONDONTWRITEBYTECODE": "1"}
    call = [sys.executable, "-c", code]
    return subprocess.run(call, cwd=folder, env=environment, check=True, capture_output=True, text=True).stdout.strip()


def test_modules_of_ones_own_count_from_one_to_the_next_and_no_process_differs(modules: Path) -> None:
    before = printed(modules)
    assert before not in ("", "None")
    assert printed(modules, seed="1") == before
    (modules / "stranger.py").write_text("RATE = 2.0\n")
    assert printed(modules, seed="2") == before
    seen = {before}
    for name in ("al.py", "helper.py", "further.py", "late.py", "bundle/parts.py", "bundle/deepest.py"):
        with (modules / name).open("a") as file:
            file.write("\n# Changed.\n")
        seen.add(printed(modules))
    assert len(seen) == 7


def test_a_class_of_no_file_counts_by_what_it_is(modules: Path) -> None:
    code = """
import cellrate
from cellrate.plugins.collection import Plugins
from cellrate.plugins.digest import digest_of
class Mine(cellrate.SwitchAlgorithm):
    def on_backward_rm(self, now, vc, queue):
        import further
        return RATE + further.RATE
RATE = 1.0
print(digest_of(Plugins(algorithms={"mine": Mine})))
"""
    one, same, other = (printed(modules, code=text) for text in (code, code, code.replace("RATE = 1.0", "RATE = 2.0")))
    assert one == same != other
    assert "None" not in (one, other)
    (modules / "further.py").write_text("RATE = 2.0\n")
    assert printed(modules, code=code) != one


def test_a_file_with_the_name_of_another_module_is_itself(tmp_path: Path) -> None:
    text = (
        "import cellrate\nclass Mine(cellrate.SwitchAlgorithm):\n    on_backward_rm = lambda self, now, vc, queue: {}\n"
    )
    digests = []
    for value in ("1.0", "2.0"):
        (tmp_path / "json.py").write_text(text.format(value))
        digests.append(digest_of(load([f"mine={tmp_path / 'json.py'}:Mine"])))
    assert None not in digests
    assert digests[0] != digests[1]


def opens(port: object) -> Mine:
    with open(os.devnull) as file:  # noqa: PTH123
        return Mine(port, len(file.read()))


def asks_the_environment(port: object) -> Mine:
    return Mine(port, float(os.environ.get("RATE", "1")))


def evaluates(port: object) -> Mine:
    return Mine(port, eval("1.0"))


def loads(port: object) -> Mine:
    return Mine(port, np.load("rate.npy")[0])


def loads_by_its_name(port: object) -> Mine:
    return Mine(port, load_array("rate.npy")[0])


def loads_what_it_imports(port: object) -> Mine:
    import numpy

    return Mine(port, numpy.load("rate.npy")[0])


def reads_a_table(port: object) -> Mine:
    return Mine(port, pyarrow.csv.read_csv("rates.csv")[0][0].as_py())


def asks_a_database(port: object) -> Mine:
    return Mine(port, sqlite3.connect("rates.db").execute("select rate from rates").fetchone()[0])


def looks_at_files(port: object) -> Mine:
    return Mine(port, 1.0 if os.path.exists("fast") else 2.0)  # noqa: PTH110


def has_a_path(port: object) -> Mine:
    return Mine(port, len(list(Path().iterdir())))


def reads_settings(port: object) -> Mine:
    settings = configparser.ConfigParser()
    settings.read("rates.ini")
    return Mine(port, float(settings["rates"]["rate"]))


def reads_results(port: object) -> Mine:
    return Mine(port, cellrate.load("results").summary["vcs"][0]["mean_acr"])


OUTSIDE = [
    opens, asks_the_environment, evaluates, loads, loads_by_its_name, loads_what_it_imports, reads_a_table,
    asks_a_database, looks_at_files, has_a_path, reads_settings, reads_results,
]  # fmt: skip


@pytest.mark.parametrize("make", OUTSIDE)
def test_what_comes_from_outside_has_no_digest(make: Callable[[object], Mine]) -> None:
    assert of(make) is None


class Load:
    load = 1.0


def has_a_load(port: object) -> Mine:
    return Mine(port, Load.load + np.float64(1.0).real)


def test_names_of_what_reads_files_may_be_those_of_ones_own() -> None:
    assert of(has_a_load) is not None


def test_what_cannot_be_taken_has_no_digest() -> None:
    with Path(os.devnull).open() as held:
        assert of(lambda port: Mine(port, held.fileno())) is None

    class Throwing:
        def __getattribute__(self, name: str) -> object:
            raise RuntimeError(name)

    throwing = Throwing()
    assert of(lambda port: Mine(port, throwing)) is None  # type: ignore[arg-type]


@pytest.mark.parametrize("has_version", [False, True])
def test_what_is_installed_counts_by_its_version_or_by_its_files(modules: Path, has_version: bool) -> None:
    installed = modules / "site-packages"
    installed.mkdir()
    text = "__version__ = '1'\n" if has_version else ""
    (installed / "helper.py").write_text(text + "def rate():\n    return 1.0\n")
    (modules / "helper.py").unlink()
    code = "import sys; sys.path.append('site-packages'); " + DIGEST
    before = printed(modules, code=code)
    (installed / "helper.py").write_text(text + "def rate():\n    return 2.0\n")
    assert before not in ("", "None")
    assert (printed(modules, code=code) == before) == has_version


def test_nothing_has_an_empty_digest() -> None:
    assert digest_of(Plugins()) == ""
