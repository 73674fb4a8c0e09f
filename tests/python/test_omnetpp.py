"""Scalar and vector files of OMNeT++: what they say is what results say."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

import cellrate
from cellrate.command_line.main import status
from cellrate.results.omnetpp import write_omnetpp


def entries(file: Path) -> list[list[str]]:
    """Give the tokens of each line, as the manual has them parted."""
    return [shlex.split(line) for line in file.read_text().splitlines() if line]


def test_scalars_are_the_numbers_of_rows_and_vectors_the_series(tmp_path: Path) -> None:
    result = cellrate.run(cellrate.Scenario.load("two-source-transient", set={"duration": "20 ms"}))
    scalars, vectors = write_omnetpp([result], tmp_path / "a")
    assert [file.name for file in (scalars, vectors)] == ["a.sca", "a.vec"]
    first, *lines = entries(scalars)
    assert first == ["version", "3"]
    assert lines[0][0] == "run"
    attributes = {line[1]: line[2] for line in lines if line[0] == "attr"}
    assert attributes["configname"] == "two-source-transient"
    assert attributes["seedset"] == str(result.summary["run"]["seed"])
    found = {(line[1], line[2]): float(line[3]) for line in lines if line[0] == "scalar"}
    for kind, key in (("vcs", "vc"), ("ports", "port")):
        for row in result.summary[kind]:
            numbers = {name: value for name, value in row.items() if type(value) in (int, float)}
            assert numbers
            for name, value in numbers.items():
                assert found[f"two-source-transient.{kind}.{row[key]}", name] == value
    lines = entries(vectors)
    declared = {line[1]: line for line in lines if line[0] == "vector"}
    assert len(declared) == len(result.series_names)
    for series in result.all_series():
        [number] = [
            number
            for number, line in declared.items()
            if line[2:] == [f"two-source-transient.{series.entity}", series.probe, "TV"]
        ]
        data = [(float(line[1]), float(line[2])) for line in lines if line[0] == number]
        assert [value for _, value in data] == pytest.approx(series.values.tolist(), rel=0, nan_ok=True)
        assert [at for at, _ in data] == pytest.approx(series.times_s.tolist(), abs=1e-12)


def test_points_of_a_sweep_are_runs_with_their_settings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "sweep"
    sweep = ["--sweep", "defaults.abr.nrm=[8, 32]", "--set", 'duration="5 ms"', "--out", str(folder)]
    assert status(["run", "two-source-transient", *sweep]) == 0
    capsys.readouterr()
    assert status(["export", str(folder), "--out", str(tmp_path / "b")]) == 0
    assert capsys.readouterr().out.split() == [str(tmp_path / "b.sca"), str(tmp_path / "b.vec")]
    for file in (tmp_path / "b.sca", tmp_path / "b.vec"):
        lines = entries(file)
        runs = [line[1] for line in lines if line[0] == "run"]
        assert len(runs) == len(set(runs)) == 2
        assert [line[2] for line in lines if line[0] == "itervar"] == ["8", "32"]


def test_what_is_not_one_word_is_quoted(tmp_path: Path) -> None:
    scenario = cellrate.Scenario.load("two-source-transient", set={"duration": "5 ms"})
    text = scenario.toml.replace('name = "two-source-transient"', 'name = "two \\"sources\\""')
    file, _ = write_omnetpp([cellrate.run(cellrate.Scenario.parse(text))], tmp_path / "c")
    assert 'attr network "two \\"sources\\""' in file.read_text()
    assert ["attr", "network", 'two "sources"'] in entries(file)


def test_a_folder_without_results_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert status(["export", str(tmp_path / "nothing"), "--out", str(tmp_path / "d")]) == 2
    assert "nothing holds no results" in capsys.readouterr().err
