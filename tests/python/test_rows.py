"""Rows of results are declared once: Python's types, docs/results.md and the page follow.

UPDATE_REFERENCE=1 writes them anew, and what the page shows of them.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

import cellrate
from cellrate.recorded import summaries
from cellrate.recorded.columns import SCALES, Column, Table, tables
from cellrate.recorded.groups import groups_of
from cellrate.recorded.summaries import numbers, report
from cellrate.sweeps.figures import Figure
from conftest import PAIR
from test_groups import NETWORK as MANY

ROOT = Path(__file__).parents[2]
TYPES, PAGE, WEB = ROOT / "python/cellrate/_native.pyi", ROOT / "docs/results.md", ROOT / "web/src/columns.ts"
BEGIN, END = "# Rows of results: written by tests/python/test_rows.py.\n", "# The end of the rows of results.\n"
KINDS = {"text": "str", "flag": "bool", "integer": "int", "number": "float", "texts": "list[str]"}


def class_of(key: str) -> str:
    """Name of the type of a table's rows."""
    return "".join(part.capitalize() for part in key.split("_")) + "Row"


def typed(column: Column, *, live: bool) -> str:
    kind = KINDS[column.declared.kind] + (" | None" if column.declared.nullable else "")
    return f"NotRequired[{kind}]" if live else kind


def classes() -> str:
    """Types of the rows of all tables, and of a summary."""
    simulated = {table.key: {column.key for column in table.columns} for table in cellrate._native.tables()}
    nullable = {
        (table.key, column.key)
        for table in cellrate._native.tables(live=True)
        for column in table.columns
        if column.nullable
    }
    lines = []
    for key, table in tables().items():
        name, fields = class_of(key), {}
        for column in table.columns.values():
            kind = typed(column, live=key in simulated and column.key not in simulated[key])
            # In a live run the other end of a connection may be in another process.
            fields[column.key] = f"{kind} | None" if (key, column.key) in nullable and "None" not in kind else kind
        base = "TypedDict"
        if "from" in fields:
            # A word of Python's own.
            base = f"_{name}"
            lines.append(f'{base} = TypedDict("{base}", {{"from": {fields.pop("from")}}})\n')
        lines += ["@type_check_only", f"class {name}({base}):"]
        lines += [f"    {field}: {kind}" for field, kind in fields.items()]
        lines.append("")
    lines += ["@type_check_only", "class Summary(TypedDict, total=False):"]
    lines += [
        f"    {key}: {f'list[{class_of(key)}]' if table.is_list else class_of(key)}" for key, table in tables().items()
    ]
    return "\n".join(lines) + "\n"


def adds(column: Column) -> str:
    if column.adds == "mean" and column.weight is not None:
        return f"mean by `{column.weight}`"
    return column.adds or "-"


def lines_of(table: Table) -> str:
    """Reference of a table's columns."""
    known = [declared for declared in cellrate._native.tables() if declared.key == table.key]
    columns = [table.columns[column.key] for declared in known for column in declared.columns]
    lines = ["| key | unit | all together | meaning |", "| --- | --- | --- | --- |"]
    for column in columns:
        meaning = column.declared.sentence.replace("|", "\\|")
        lines.append(f"| `{column.key}` | {column.declared.unit} | {adds(column)} | {meaning} |")
    return "\n".join(lines) + "\n"


def page_columns() -> str:
    """Give the columns that the page shows of each table that the command prints."""
    lists = {
        "APPLICATIONS": list(summaries.APPLICATIONS),
        "INSIDE": list(summaries.INSIDE),
        "WINDOWS": summaries.WINDOWS,
    }
    shown = ("vcs", *summaries.APPLICATIONS, "ports", *summaries.INSIDE)
    lines = [
        "// Tables of a summary as they are declared in Rust: written by tests/python/test_rows.py.",
        "",
        'import type { Declared } from "./declared";',
        "",
        *(f"export const {name} = {json.dumps(value)};" for name, value in lists.items()),
        "",
        "export const TABLES: Record<string, Declared> = {",
    ]
    for key in shown:
        table = tables()[key]
        named = [[before, name, table.columns[name].declared.kind == "integer"] for before, name in table._named]
        lines += [
            f"  {key}: {{",
            f"    title: {json.dumps(table.one)},",
            f"    named: {json.dumps(named)},",
            f"    tells: {json.dumps([list(bound) for bound in table._tells])},",
            "    columns: [",
        ]
        for column in table.columns.values():
            if column.declared.shown == "never":
                continue
            scale, whole = column.scale, column.declared.kind == "integer" and column.scale.factor == 1
            decimals = scale.decimals if column.declared.decimals is None else column.declared.decimals
            told = {
                "key": column.key,
                "heading": " ".join(filter(None, [column.heading, scale.unit])),
                "factor": int(scale.factor) if scale.factor == int(scale.factor) else scale.factor,
                "decimals": 0 if whole else decimals,
                "ifAny": column.declared.shown == "any",
                "sums": column.adds == "sum",
            }
            pairs = ", ".join(f"{name}: {json.dumps(value)}" for name, value in told.items())
            lines.append(f"      {{ {pairs} }},")
        lines += ["    ],", "  },"]
    return "\n".join([*lines, "};", ""])


def with_types(text: str) -> str:
    begin, end = text.index(BEGIN) + len(BEGIN), text.index(END)
    return f"{text[:begin]}\n{classes()}\n{text[end:]}"


def with_columns(text: str) -> str:
    def filled(found: re.Match[str]) -> str:
        return f"<!-- columns: {found[1]} -->\n{lines_of(tables()[found[1]])}<!-- end -->\n"

    return re.sub(r"<!-- columns: (\w+) -->\n.*?<!-- end -->\n", filled, text, flags=re.DOTALL)


@pytest.mark.parametrize(
    ("file", "written"),
    [(TYPES, with_types), (PAGE, with_columns), (WEB, lambda _: page_columns())],
    ids=["types", "page", "web"],
)
def test_references_are_what_is_declared(file: Path, written: object) -> None:
    assert callable(written)
    text = file.read_text(encoding="utf-8")
    due = written(text)
    if os.environ.get("UPDATE_REFERENCE") == "1":
        file.write_text(due, encoding="utf-8")
        text = due
    assert text == due, "write it anew: UPDATE_REFERENCE=1 .venv/bin/python -m pytest tests/python/test_rows.py"


def test_every_table_of_a_simulation_is_on_the_page() -> None:
    page = PAGE.read_text(encoding="utf-8")
    windows = {"vc_windows", "port_windows", "policing_windows"}
    shown = set(re.findall(r"<!-- columns: (\w+) -->", page))
    assert {table.key for table in cellrate._native.tables()} - windows == shown


def test_results_have_what_is_declared(result: cellrate.Result) -> None:
    summary = result.summary
    assert [key for key in summary if key not in tables()] == []
    for declared in cellrate._native.tables():
        rows = summary[declared.key] if declared.is_list else [summary[declared.key]]
        columns = {column.key: column for column in declared.columns}
        for row in rows:
            added = {"hash", "version", "set_up_s", "wall_s", "cell_hops_per_s"} if declared.key == "run" else set()
            assert set(row) - added == set(columns)
            for key, column in columns.items():
                value = row[key]
                kinds: Any = {"text": str, "flag": bool, "integer": int, "number": (int, float), "texts": list}[
                    column.kind
                ]
                assert (value is None and column.nullable) or isinstance(value, kinds), (declared.key, key, value)


def test_weights_and_names_are_columns() -> None:
    for key, table in tables().items():
        for column in table.columns.values():
            assert column.weight is None or table.columns[column.weight].is_number, (key, column.key)
            assert column.declared.unit in SCALES
            if column.adds is not None:
                assert Figure.read(f"{key}.{column.key}").how in ("total", "most", "least", "mean", "each")
        assert all(name in table.columns for _, name in table._named), key
        assert all(name in table.columns for name, _ in table._tells), key


def test_a_table_has_the_headings_and_units_of_its_columns() -> None:
    result = cellrate.run(cellrate.Scenario.parse(PAIR))
    head, rows = numbers(result.summary, "vcs")
    assert report(result.summary)[0] == (head, rows)
    assert head[0] == "VC"
    assert [name.split("\n")[-1] for name in head[1:]] == ["cells", "cells", "cells", "Mbps", "Mbps", "ms"]
    (row,) = [row for row in result.summary["vcs"] if row["data_sent"]]
    assert rows[0][1] == f"{row['data_sent']:,}"
    assert rows[0][4] == f"{row['throughput_bps'] / 1e6:.2f}"
    assert rows[0][5] == f"{row['mean_acr'] * 424 / 1e6:.2f}"
    assert rows[0][6] == f"{row['p99_delay_s'] * 1e3:.3f}"


WINDOWED = PAIR.replace("[defaults]\n", '[defaults]\nvc = { police = { action = "count" } }\n', 1) + (
    '\n[[window]]\nname = "early"\nfrom = "2 ms"\nuntil = "7.5 ms"\n'
)
READY = (
    "two-source-transient",
    "tcp-over-abr",
    "becn",
    "vs-vd",
    "virtual-paths",
    "oam-loopback",
    "tree",
    "telephony",
)
ESBUILD = ROOT / "web/node_modules/.bin/esbuild"


@pytest.mark.skipif(not ESBUILD.exists() or shutil.which("node") is None, reason="needs the packages of the page")
@pytest.mark.parametrize("text", [WINDOWED, MANY, *READY])
def test_the_page_shows_what_the_command_prints(text: str, tmp_path: Path) -> None:
    if text not in READY:
        result = cellrate.run(cellrate.Scenario.parse(text))
    else:
        result = cellrate.run(text, set={"duration": "250 ms"}, point=1)
    bundle = tmp_path / "tables.mjs"
    source = "export { reportOf } from './tables'; export { groupsOf } from './groups';"
    subprocess.run(
        [ESBUILD, "--loader=ts", "--bundle", "--format=esm", f"--outfile={bundle}", "--log-level=error"],
        cwd=ROOT / "web/src",
        input=source,
        text=True,
        check=True,
    )
    code = (
        # What a browser has at hand when the page is loaded.
        "globalThis.ResizeObserver = class { observe() {} };"
        f"const {{ reportOf, groupsOf }} = await import({json.dumps(str(bundle))});"
        "const { readFileSync } = await import('node:fs');"
        "const { summary, document } = JSON.parse(readFileSync(0, 'utf8'));"
        "process.stdout.write(JSON.stringify(reportOf(summary, groupsOf(document).all)));"
    )
    told = subprocess.run(
        ["node", "--input-type=module", "-e", code],
        input=json.dumps({"summary": result.summary, "document": tomllib.loads(result.toml)}),
        capture_output=True,
        text=True,
        check=True,
    )
    shown = [part if isinstance(part, str) else [part["head"], *part["rows"]] for part in json.loads(told.stdout)]
    printed = [
        part if isinstance(part, str) else [[title.replace("\n", " ") for title in part[0]], *part[1]]
        for part in report(result.summary, groups_of(result.toml))[:-1]
    ]
    assert shown == printed
