"""The gallery has its pictures and commands, and each command is one that there is."""

from __future__ import annotations

import json

import gallery
import pytest

import cellrate
from test_pages import parse


def test_the_page_is_what_the_list_gives() -> None:
    seconds = json.loads(gallery.SECONDS.read_text())
    assert gallery.PAGE.read_text() == gallery.page(seconds), "python docs/images/gallery.py draws it anew"
    pictures = {picture.stem for picture in gallery.PICTURES.glob("*.png")}
    assert pictures == {shown.name for shown in gallery.GALLERY} == seconds.keys()
    assert len(gallery.GALLERY) >= 30


@pytest.mark.parametrize("shown", gallery.GALLERY, ids=lambda shown: shown.name)
def test_a_scenario_records_what_its_picture_shows(shown: gallery.Shown) -> None:
    assert parse(shown.command.split()[1:]) is None
    settings = dict(one.split("=", 1) for one in shown.settings)
    scenario = cellrate.Scenario.load(shown.scenario, set=settings).points()[shown.point - 1].scenario
    assert shown.quantity in {quantity for quantity, _, _, _ in scenario._series()}


def test_a_picture_is_drawn_anew(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gallery, "PICTURES", tmp_path)
    shown = gallery.GALLERY[0]
    gallery.draw(shown)
    assert (gallery.PICTURES / f"{shown.name}.png").stat().st_size > 1000
