from __future__ import annotations

import pickle
import tomllib
from pathlib import Path

import numpy as np
import pytest

import cellrate
from cellrate.toml import as_toml
from conftest import PAIR, SWEEP


def test_facts_come_from_the_file(pair_file: Path) -> None:
    scenario = cellrate.Scenario.load(pair_file)
    assert (scenario.name, scenario.duration_s, scenario.seed) == ("pair", 0.02, 7)
    assert scenario.purpose == "Two hosts and a switch."
    assert scenario.file == str(pair_file)


def test_set_gives_a_copy_with_another_hash() -> None:
    scenario = cellrate.Scenario.parse(PAIR)
    other = scenario.set({"defaults.abr.nrm": 8, "duration": "5 ms"})
    assert (scenario.duration_s, other.duration_s) == (0.02, 0.005)
    assert scenario.hash != other.hash
    assert scenario.hash == cellrate.Scenario.parse(PAIR).hash


def test_toml_reads_back_to_the_same_scenario() -> None:
    scenario = cellrate.Scenario.parse(PAIR).set({"defaults.abr.nrm": 8})
    assert cellrate.Scenario.parse(scenario.toml).hash == scenario.hash


def test_points_are_the_values_of_the_sweep_in_order() -> None:
    points = cellrate.Scenario.parse(SWEEP).points()
    assert [point.set for point in points] == [{"defaults.abr.nrm": n} for n in (8, 32, 256)]
    assert len({point.scenario.hash for point in points}) == 3


def test_without_a_sweep_there_is_one_point_that_sets_nothing() -> None:
    points = cellrate.Scenario.parse(PAIR).points()
    assert [point.set for point in points] == [{}]


def test_an_error_has_its_place_and_its_remedy(pair_file: Path) -> None:
    pair_file.write_text(PAIR.replace('"20 ms"', "20"))
    with pytest.raises(cellrate.ScenarioError) as caught:
        cellrate.Scenario.load(pair_file)
    error = caught.value
    assert (error.file, error.line, error.key) == (str(pair_file), 3, "duration")
    assert error.column == 12
    assert error.message in str(error)
    assert error.remedy is not None
    assert "20 ms" in error.remedy


def test_an_error_crosses_a_process_border_whole() -> None:
    with pytest.raises(cellrate.ScenarioError) as caught:
        cellrate.Scenario.parse("name = 1", file="bad.toml")
    error = caught.value
    copy = pickle.loads(pickle.dumps(error))
    assert str(copy) == str(error)
    assert copy.__dict__ == error.__dict__


def test_a_missing_file_is_a_scenario_error(tmp_path: Path) -> None:
    with pytest.raises(cellrate.ScenarioError, match=r"none\.toml: it is neither a file nor.*cellrate list"):
        cellrate.Scenario.load(tmp_path / "none.toml")


def test_a_binary_file_is_a_scenario_error(tmp_path: Path) -> None:
    file = tmp_path / "binary.toml"
    file.write_bytes(b"\xff\xfe\x00name")
    with pytest.raises(cellrate.ScenarioError, match="UTF-8"):
        cellrate.Scenario.load(file)


def test_an_unknown_path_is_a_scenario_error() -> None:
    with pytest.raises(cellrate.ScenarioError, match="nmr"):
        cellrate.Scenario.parse(PAIR).set({"defaults.abr.nmr": 8})


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "true"),
        (8, "8"),
        (0.5, "0.5"),
        ("5 ms", "5 ms"),
        (["a", 1, True], '["a", 1, true]'),
        ([], "[]"),
        ({"type": "erica"}, '{ type = "erica" }'),
        ({"a-b": {"c d": [{"e": (1, 2.5)}]}, "é": {}}, '{ a-b = { "c d" = [{ e = [1, 2.5] }] }, "é" = {} }'),
        ({"type": 'a "b"\\ \n\x7f€'}, '{ type = "a \\"b\\"\\\\ \\n\\u007f€" }'),
        (np.bool_(True), "true"),
        (np.int64(8), "8"),
        (np.uint8(8), "8"),
        (np.float64(0.1), "0.1"),
        (np.float32(0.5), "0.5"),
        ([np.bool_(False), np.float64(1e-20)], "[false, 0.00000000000000000001]"),
        (np.str_("5 ms"), "5 ms"),
    ],
)
def test_python_values_are_written_as_settings(value: object, text: str) -> None:
    assert as_toml(value, "path") == text


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (None, "set.here is set to None, of type NoneType; a setting is a number, True or False, a text"),
        ([1, None], r"set.here\[1\] is set to None"),
        ({"a": {"b": None}}, "set.here.a.b is set to None"),
        ({"a": {1: 2}}, "set.here.a has the key 1, of type int; keys are texts"),
        (np.array([1, 2]), r"set.here is set to array\(\[1, 2\]\), of type ndarray"),
        (b"5 ms", "set.here is set to b'5 ms', of type bytes"),
        ({1, 2}, "of type set"),
        (1j, "of type complex"),
    ],
)
def test_what_no_setting_can_be_is_refused(value: object, said: str) -> None:
    with pytest.raises(TypeError, match=said):
        as_toml(value, "set.here")


def test_a_dict_is_a_table_and_a_truth_value_of_numpy_is_one() -> None:
    scenario = cellrate.Scenario.parse(PAIR)
    as_text = scenario.set(
        {"defaults.switch.algorithm": '{ type = "erica", target_utilization = "80 %", interval = "5 ms" }'}
    )
    algorithm = {"type": "erica", "target_utilization": "80 %", "interval": "5 ms"}
    assert scenario.set({"defaults.switch.algorithm": algorithm}).hash == as_text.hash
    assert scenario.set({"vc.vc1.bidirectional": np.True_}).hash == scenario.set({"vc.vc1.bidirectional": True}).hash
    nested = {
        "type": "custom",
        "name": "own",
        "parameters": {"name with 'all' \"kinds\"": "ü 🙂\t\\", "n": 1, "x": 1e-9, "yes": True},
    }
    written = tomllib.loads(scenario.set({"defaults.switch.algorithm": nested}).toml)
    assert written["defaults"]["switch"]["algorithm"] == nested
    with pytest.raises(TypeError, match=r"defaults.abr.nrm is set to None"):
        cellrate.run(scenario, set={"defaults.abr.nrm": None})


def test_every_ready_scenario_is_sound_and_has_a_purpose() -> None:
    ready = cellrate.ready_scenarios()
    assert "two-source-transient" in ready
    for name, file in ready.items():
        scenario = cellrate.Scenario.load(file)
        scenario.check()
        point = scenario.points()[0].scenario
        assert point.purpose, name
        assert point.name == name.removeprefix("live/").removeprefix("arena/")


def test_fair_shares_name_the_bottleneck() -> None:
    (share,) = cellrate.Scenario.parse(PAIR).fair(utilization=0.9)
    assert (share.vc, share.backward, share.bottleneck) == ("vc1", False, "a->sw")
    # 0.9 x 155.52 Mbps / 424 bits
    assert share.rate == pytest.approx(330_113.2, abs=0.1)


@pytest.mark.parametrize("utilization", [0.0, 1.001])
def test_a_utilization_out_of_range_is_refused(utilization: float) -> None:
    with pytest.raises(ValueError, match="above 0 and at most 1"):
        cellrate.Scenario.parse(PAIR).fair(utilization=utilization)


def test_the_schema_knows_the_keys() -> None:
    assert {"name", "duration", "vc"} <= set(cellrate.schema()["properties"])


FILMS = """name = "films"
duration = "2 s"

[defaults]
link = { rate = "10 Mbps", length = "1 km" }

[[host]]
name = "s"

[[host]]
name = "d"

[[link]]
between = ["s", "d"]

[[vc]]
name = "film"
category = "vbr"
pcr = "8 Mbps"
path = ["s", "d"]
traffic = { type = "frames", frames_per_second = 10, record = 100, trace = { file = "film.txt", column = 2 } }
"""


def test_frames_are_as_long_as_a_file_beside_the_scenario_says(tmp_path: Path) -> None:
    lengths = [1000 + 37 * number for number in range(7)]
    (tmp_path / "film.txt").write_text("# frame, octets\n" + "".join(f"{n} {x}\n" for n, x in enumerate(lengths)))
    file = tmp_path / "films.toml"
    file.write_text(FILMS)
    result = cellrate.run(file)
    sent = [frame["octets"] for frame in result.summary["frame_list"]]
    assert sent == [lengths[place % 7] for place in range(20)]
    # What is stored is whole without the file.
    stored = tmp_path / "results"
    result.write(stored)
    (tmp_path / "film.txt").unlink()
    again = cellrate.run(stored / "scenario.toml")
    assert again.summary["frame_list"] == result.summary["frame_list"]
    assert again.summary["run"]["hash"] == result.summary["run"]["hash"]
    with pytest.raises(cellrate.ScenarioError, match=r"film\.txt cannot be read") as caught:
        cellrate.Scenario.load(file)
    assert (caught.value.line, caught.value.key) == (21, "vc.film.traffic.trace.file")


def test_a_sweep_goes_over_films(tmp_path: Path) -> None:
    for name, octets in (("short.txt", 100), ("long.txt", 9000)):
        (tmp_path / name).write_text(f"1 {octets}\n")
    file = tmp_path / "films.toml"
    file.write_text(FILMS.replace('"film.txt"', '"short.txt"'))
    films = ["short.txt", "long.txt"]
    swept = cellrate.Scenario.load(file).toml + f'\n[[sweep]]\nset = "vc.film.traffic.trace.file"\nvalues = {films}\n'
    results = cellrate.sweep(cellrate.Scenario.parse(swept.replace("'", '"'), file=str(file)), workers=1)
    assert [result.summary["frame_list"][0]["octets"] for result in results] == [100, 9000]
    assert [result.set for result in results] == [{"vc.film.traffic.trace.file": name} for name in films]
    one = cellrate.run(file, set={"vc.film.traffic.trace.file": "long.txt"})
    assert one.summary["frame_list"][0]["octets"] == 9000


def test_a_trace_can_be_replaced_where_its_file_is_missing(tmp_path: Path) -> None:
    film = 'traffic = { type = "frames", frames_per_second = 25, trace = { file = "film.txt" } }'
    file = tmp_path / "film.toml"
    path = 'path = ["a", "sw", "b"]\n'
    file.write_text(PAIR.replace(path, f"{path}{film}\n"))
    (tmp_path / "other.txt").write_text("1000\n2000\n")
    with pytest.raises(cellrate.ScenarioError, match=r"film\.txt cannot be read"):
        cellrate.Scenario.load(file)
    scenario = cellrate.Scenario.load(file, set={"vc.vc1.traffic.trace.file": "other.txt"})
    assert "[1000, 2000]" in scenario.toml


def test_a_dict_gives_the_scenario_that_the_text_gives() -> None:
    document = tomllib.loads(SWEEP)
    scenario = cellrate.Scenario.from_dict({**document, "purpose": "Two hosts and a switch."})
    assert scenario.hash == cellrate.Scenario.parse(SWEEP).hash
    assert [point.set for point in scenario.points()] == [{"defaults.abr.nrm": n} for n in (8, 32, 256)]


def test_a_dict_may_hold_whatever_a_setting_may() -> None:
    document = {**tomllib.loads(PAIR), "seed": np.int64(3), "duration": '5 ms"'}
    with pytest.raises(cellrate.ScenarioError, match=r'<dict>:\d+:\d+: duration: "ms"" is not a unit'):
        cellrate.Scenario.from_dict(document).check()
    document |= {"duration": "5 ms", "host": ({"name": "a"}, {"name": "b"})}
    assert cellrate.Scenario.from_dict(document).seed == 3
    with pytest.raises(TypeError, match=r"vc\[0\]\.path\[1\] is set to None"):
        cellrate.Scenario.from_dict({"vc": [{"path": ["a", None]}]})
    with pytest.raises(TypeError, match="the document has the key 1"):
        cellrate.Scenario.from_dict({1: "a"})  # type: ignore[dict-item]


def test_what_is_no_file_gets_a_word_on_what_would_be() -> None:
    with pytest.raises(cellrate.ScenarioError, match=r"There is a ready scenario two-source-transient\."):
        cellrate.run("two-source-transiant")
    with pytest.raises(cellrate.ScenarioError, match=r"Text in TOML is read by `Scenario\.parse`"):
        cellrate.run(PAIR * 20)
    with pytest.raises(cellrate.ScenarioError, match="null"):
        cellrate.run("two\0")
    with pytest.raises(TypeError, match=r"Scenario\.from_dict makes one of a dict"):
        cellrate.run(tomllib.loads(PAIR))  # type: ignore[arg-type]


def test_settings_that_are_no_dict_are_refused() -> None:
    for settings in (["duration=1s"], "duration=1s"):
        with pytest.raises(TypeError, match="settings are a dict from dotted path to value"):
            cellrate.run(cellrate.Scenario.parse(PAIR), set=settings)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="over is a dict from dotted path to values"):
        cellrate.sweep(cellrate.Scenario.parse(PAIR), over=[8])  # type: ignore[arg-type]
