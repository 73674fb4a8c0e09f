"""Commands of scenarios from elsewhere: shown, and run only where the user says so; as whom they run."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

import cellrate
from cellrate.command_line.main import status
from cellrate.live import doctor, live_run, live_watch
from cellrate.live.privileges import NOBODY, has_nobody, identity_for, reachable
from cellrate.live.process import search_path, written
from cellrate.live.trust import doubt_of
from test_live_run import application, scenario

needs_hosts = pytest.mark.skipif(
    bool(doctor.missing_requirements(doctor.findings())), reason=doctor.sentence(doctor.findings())
)

TELL = "id -u; grep -E 'NoNewPrivs|CapEff|CapBnd' /proc/self/status; echo \x1b[31m > own"
TEXT = scenario("1 s", application("who", f'{{ type = "command", words = ["sh", "-c", {json.dumps(TELL)}] }}'))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A scenario that runs a command, in a folder that is the user's own."""
    own = tmp_path / "mine" / "who.toml"
    own.parent.mkdir(mode=0o755)
    own.write_text(TEXT)
    own.chmod(0o644)
    return own


def test_a_file_of_one_s_own_may_run_commands_and_text_may_not(file: Path) -> None:
    assert doubt_of(cellrate.Scenario.load(file)) is None
    assert doubt_of(cellrate.Scenario.load(file).set({"seed": 3}).points()[0].scenario) is None
    assert doubt_of(cellrate.Scenario.parse(TEXT, file=str(file))) == "it was not read from a file"
    for name in cellrate.ready_scenarios():
        assert doubt_of(cellrate.Scenario.load(name)) is None, name


def test_a_file_that_others_can_have_written_may_not(file: Path, tmp_path: Path) -> None:
    for place, mode, back in ((file, 0o664, 0o644), (file, 0o646, 0o644), (file.parent, 0o777, 0o755)):
        place.chmod(mode)
        assert "can be written to by others" in (doubt_of(cellrate.Scenario.load(file)) or ""), oct(mode)
        place.chmod(back)
    # A folder of everybody further up is as /tmp is; without its sticky bit it is not.
    tmp_path.chmod(0o1777)
    assert doubt_of(cellrate.Scenario.load(file)) is None
    tmp_path.chmod(0o777)
    assert "can be written to by others" in (doubt_of(cellrate.Scenario.load(file)) or "")
    tmp_path.chmod(0o755)
    # Beside everybody else's files, even with the sticky bit.
    file.parent.chmod(0o1777)
    assert "can be written to by others" in (doubt_of(cellrate.Scenario.load(file)) or "")
    file.parent.chmod(0o755)
    # A link is as good as where it leads.
    (link := tmp_path / "link.toml").symlink_to(file)
    assert doubt_of(cellrate.Scenario.load(link)) is None
    file.chmod(0o666)
    assert "can be written to by others" in (doubt_of(cellrate.Scenario.load(link)) or "")


@pytest.mark.skipif(os.geteuid() != 0, reason="gives files to another user")
def test_a_file_or_folder_of_another_user_may_not(file: Path) -> None:
    for place in (file, file.parent):
        os.chown(place, NOBODY, NOBODY)
        assert "belongs to another user" in (doubt_of(cellrate.Scenario.load(file)) or "")
        os.chown(place, 0, 0)


def test_commands_are_refused_before_anything_runs_and_shown_without_controls(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file.chmod(0o666)
    for words in (["live", "run", str(file)], ["live", "watch", str(file)]):
        assert status(words) == 2
        said = capsys.readouterr().err
        assert "who on a: sh -c" in said
        assert "--allow-commands" in said
        assert "\\x1b[31m" in said
        assert "\x1b" not in said
    assert not (tmp_path / "results").exists()
    for call in (live_run, live_watch):
        with pytest.raises(cellrate.CellrateError, match="would run commands, and it was not read from a file"):
            call(cellrate.Scenario.parse(TEXT))


def test_validate_and_doctor_list_them(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert status(["validate", str(file)]) == 0
    said = capsys.readouterr().out
    assert "A live run has commands (they run: the file is yours alone):\n    who on a: sh -c" in said
    file.chmod(0o666)
    assert status(["validate", str(file)]) == 0
    assert "(only with --allow-commands: " in capsys.readouterr().out
    status(["doctor", str(file), "--json"])
    (told,) = json.loads(capsys.readouterr().out)["commands"]
    assert (told["application"], told["words"][:2], told["needs_leave"]) == ("who", ["sh", "-c"], True)
    status(["doctor", str(file)])
    assert "who on a: sh -c" in capsys.readouterr().out


@needs_hosts
def test_a_command_has_no_capabilities_can_gain_none_and_is_nobody_where_that_can_be(tmp_path: Path) -> None:
    run = live_run(cellrate.Scenario.parse(TEXT), allow_commands=True, attempts=1, folder=tmp_path)
    assert run.failed_applications == []
    row = run.application("who")
    user, *rest = row["result"]["output_tail"].split("\n")
    told = dict(line.split(":\t") for line in rest if line)
    assert int(told["CapEff"], 16) == int(told["CapBnd"], 16) == 0
    assert told["NoNewPrivs"] == "1"
    if os.geteuid() == 0 and has_nobody():
        assert (user, row["user"]) == (str(NOBODY), "nobody")
    own = tmp_path / "attempt-1" / "applications" / "who" / "own"
    assert own.stat().st_uid == os.geteuid(), "what it wrote is the user's own in the end"


def test_who_cannot_be_reached_by_nobody_stays_who_started_it(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    inside = closed / "program"
    inside.write_text("#!/bin/sh\n")
    inside.chmod(0o755)
    assert not reachable(inside)
    assert not reachable(tmp_path / "nothing")
    identity = identity_for([["sh"], [str(inside)]], search_path(), Path("/tmp"))
    assert identity.user is None
    assert "--bounding-set=-all" in identity.words()
    assert (identity_for([["sh"]], search_path(), Path("/tmp")).user == NOBODY) == has_nobody()
    assert identity_for([["sh"]], search_path(), closed / "applications").user is None


def test_what_a_program_leaves_instead_of_its_output_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "link.out").symlink_to(tmp_path / "secret")
    os.mkfifo(tmp_path / "pipe.out")
    assert [written(tmp_path / name) for name in ("link.out", "pipe.out", "none.out")] == ["", "", ""]
    assert written(tmp_path / "secret") == "secret"
