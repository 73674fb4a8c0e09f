"""Pictures for print: as wide as asked, with letters that can be read, and nothing cut off or on another."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text

from cellrate.command_line.main import status
from cellrate.drawing.printed import LEAST_LETTERS, Print, for_print
from cellrate.errors import CellrateError
from cellrate.plotting.runs import figure
from test_plots import panel


def parts_of(drawn: Figure) -> list[tuple[str, Any]]:
    """All parts that are seen, with their boxes in pixels: panels with ticks and labels, legends, other texts."""
    canvas: Any = FigureCanvasAgg(drawn)
    renderer = canvas.get_renderer()
    panels = [("panel", box) for axes in drawn.axes if (box := axes.get_tightbbox(renderer)) is not None]
    others: list[Any] = [*drawn.texts, *drawn.legends]
    texts = [(getattr(one, "get_text", lambda: "legend")(), one.get_window_extent(renderer)) for one in others]
    return panels + [(text, box) for text, box in texts if text]


def ticks_are_apart(drawn: Figure) -> bool:
    canvas: Any = FigureCanvasAgg(drawn)
    renderer = canvas.get_renderer()
    for axes in drawn.axes:
        labels = [one for one in axes.get_xticklabels() if one.get_text() and one.get_rotation() == 0]
        boxes = sorted((one.get_window_extent(renderer) for one in labels), key=lambda box: box.x0)
        if any(left.x1 > right.x0 for left, right in pairwise(boxes)):
            return False
    return True


@pytest.mark.parametrize("count", [1, 4, 12, 24])
@pytest.mark.parametrize("stem", ["vc", "cross-traffic-of-line-"])
@pytest.mark.parametrize("width", [2.4, 3.4, 7.0])
def test_a_column_holds_all_of_a_picture(width: float, stem: str, count: int) -> None:
    names = [f"{stem}{number}" for number in range(1, count + 1)]
    drawn = figure([panel(names, {names[0]: [(0.0, 1.0)]}), panel(["sw->d"], second=False)], "title", "stamp")
    for_print(drawn, Print(width=width))
    assert drawn.get_figwidth() == pytest.approx(width)
    assert all(float(one.get_fontsize()) >= LEAST_LETTERS for one in drawn.findobj(Text) if isinstance(one, Text))
    for part, box in parts_of(drawn):
        assert min(box.x0, box.y0) >= -1, part
        assert box.x1 <= drawn.bbox.x1 + 1, part
        assert box.y1 <= drawn.bbox.y1 + 1, part
    assert ticks_are_apart(drawn)
    canvas: Any = FigureCanvasAgg(drawn)
    legends = [one.get_window_extent(canvas.get_renderer()) for one in drawn.legends]
    panels = [axes.get_window_extent(canvas.get_renderer()).shrunk(0.98, 0.98) for axes in drawn.axes]
    assert not any(box.overlaps(other) for box in legends for other in panels)
    assert drawn.caption == "title; stamp"


def test_a_height_is_kept_and_one_that_is_too_small_refused() -> None:
    drawn = for_print(figure([panel(["a"]), panel(["b"])], "title", "stamp"), Print(width=3.4, height=3.0))
    assert tuple(drawn.get_size_inches()) == pytest.approx((3.4, 3.0))
    with pytest.raises(CellrateError, match="not high enough for 6 panels"):
        for_print(figure([panel(["a"])] * 6, "title", "stamp"), Print(width=3.4, height=2.0))


def test_a_title_is_there_when_it_is_given_alone() -> None:
    drawn = for_print(figure([panel(["a"])], "title", "stamp"), Print(width=3.4, title="Fair $ shares"))
    assert r"Fair \$ shares" in [text for text, _ in parts_of(drawn)]
    without = for_print(figure([panel(["a"])], "title", "stamp"), Print(width=3.4))
    assert not {"title", "stamp"} & {text for text, _ in parts_of(without)}
    plain = for_print(figure([panel(["a"])], "title", "stamp"), Print(title="other"))
    assert {"other", "stamp"} <= {text for text, _ in parts_of(plain)}
    assert plain.get_figwidth() == pytest.approx(7.2)


@pytest.mark.parametrize(
    ("given", "expected"),
    [("3.4in", (3.4, None)), ("86 mm", (86 / 25.4, None)), ("8.6cm x 5 cm", (8.6 / 2.54, 5 / 2.54))],
)
def test_sizes_are_read(given: str, expected: tuple[float, float | None]) -> None:
    read = Print.read(size=given)
    assert read.width == pytest.approx(expected[0])
    assert read.height == (None if expected[1] is None else pytest.approx(expected[1]))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"size": "3.4"}, "no size of a picture: give 3.4in"),
        ({"size": "3.4in x 2in x 1in"}, "no size of a picture"),
        ({"size": "0.5in"}, "cannot be read: from 1.5 to 40 in"),
        ({"size": "3in x 900in"}, "in height cannot be read"),
        ({"font": "90pt"}, "from 5 to 24 pt"),
        ({"font": "No Such Family 8pt"}, 'no font "No Such Family" is installed'),
    ],
)
def test_what_is_no_size_or_font_is_refused(options: dict[str, str], said: str) -> None:
    with pytest.raises(CellrateError, match=re.escape(said)):
        Print.read(**options)


def test_the_command_draws_every_kind_in_a_column(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    study = tmp_path / "study"
    keys = ["--sweep", "defaults.switch.algorithm=[erica, phantom, consistent-marking]"]
    assert status(["run", "two-source-transient", "gfc-2", *keys, "--set", "duration=50ms", "--out", str(study)]) == 0
    for number, options in enumerate(
        [
            [],
            ["--figure", "ports.max_queue", "--over", "algorithm", "--lines", "scenario"],
            ["--figure", "ports.max_queue", "--over", "algorithm", "--by", "scenario"],
            ["--figure", "ports.max_queue", "--heat", "algorithm,scenario"],
            ["--figure", "vcs.throughput", "--distribution", "algorithm"],
            ["--probe", "queue"],
        ]
    ):
        out = tmp_path / f"{number}.pdf"
        asked = ["plot", str(study), *options, "--size", "3.4in", "--font", "serif 8pt", "--out", str(out)]
        assert status(asked) == 0, (options, capsys.readouterr().err)
        box = re.search(rb"/MediaBox \[ ?0 0 ([\d.]+)", out.read_bytes())
        assert box is not None
        assert float(box[1]) == pytest.approx(3.4 * 72, abs=0.1)
    said = capsys.readouterr().out
    assert "For the caption: two-source-transient, gfc-2" in said


def test_lines_are_for_a_picture_over_a_key(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    study = tmp_path / "study"
    assert (
        status(
            [
                "run",
                "two-source-transient",
                "--sweep",
                "defaults.abr.nrm=[8, 32]",
                "--seeds",
                "2",
                "--set",
                "duration=20ms",
                "--out",
                str(study),
            ]
        )
        == 0
    )
    heat = ["plot", str(study), "--figure", "ports.max_queue", "--heat", "nrm,seed", "--lines", "nrm"]
    assert status(heat) == 2
    assert "--lines is for --over" in capsys.readouterr().err
