"""Plugins that are handed to another process, and what comes back: an answer, what was raised, what a process left."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import cellrate
from cellrate.algorithms import Port, SwitchAlgorithm
from cellrate.live.distribution import Node
from cellrate.live.plugin_pipes import Reply, answer, pack_plugins, take_plugins
from cellrate.plugins.collection import NOTHING, Plugins, load
from test_live_algorithms import Counting, OutOfOrderError


def elsewhere(given: bytes) -> str:
    """Give the words of a process that is started anew on the algorithms that it is given."""
    asked = (
        "import sys; from cellrate.live.plugin_pipes import take_plugins; from cellrate.algorithms import Port; "
        "print(take_plugins(sys.stdin.buffer.read()).algorithms['mine'](Port('a->b', 100.0)).figures())"
    )
    done = subprocess.run([sys.executable, "-c", asked], input=given, capture_output=True, check=False, cwd="/")
    return (done.stdout or done.stderr).decode()


def test_a_class_is_handed_over_wherever_it_is_from(tmp_path: Path) -> None:
    module = tmp_path / "wherever.py"
    text = (
        "import cellrate\n\nHALF = 0.5\n\n\nclass Mine(cellrate.SwitchAlgorithm):\n    def __init__(self, port):\n"
        "        self.rate = HALF * port.link_rate\n\n    def figures(self):\n        return {'rate': self.rate}\n"
    )
    module.write_text(text)
    # From a file that no search path leads to.
    assert elsewhere(pack_plugins(load([f"mine={module}:Mine"]))) == "{'rate': 50.0}\n"
    # From within a function.
    made = dict(globals())

    class Local(Counting):
        def figures(self) -> dict[str, float]:
            return {"made": len(made) / len(made)}

    made.clear()
    made["one"] = 1
    assert elsewhere(pack_plugins(Plugins({"mine": Local}))) == "{'made': 1.0}\n"
    # From the script itself.
    script = tmp_path / "script.py"
    script.write_text(
        text + "\nimport sys\nfrom cellrate.plugins.collection import Plugins\n"
        "from cellrate.live.plugin_pipes import pack_plugins\n"
        "sys.stdout.buffer.write(pack_plugins(Plugins({'mine': Mine})))\n"
    )
    given = subprocess.run([sys.executable, str(script)], check=True, capture_output=True).stdout
    assert elsewhere(given) == "{'rate': 50.0}\n"
    # From a module beside the script, by its name: the search path goes along.
    script.write_text(
        "import sys\nfrom cellrate.plugins.collection import Plugins\n"
        "from cellrate.live.plugin_pipes import pack_plugins\nfrom wherever import Mine\n"
        "sys.stdout.buffer.write(pack_plugins(Plugins({'mine': Mine})))\n"
    )
    given = subprocess.run([sys.executable, str(script)], check=True, capture_output=True).stdout
    assert elsewhere(given) == "{'rate': 50.0}\n"
    module.unlink()
    assert "No module named 'wherever'" in elsewhere(given)
    assert take_plugins(pack_plugins(NOTHING)) == NOTHING


def test_what_cannot_be_handed_over_is_said() -> None:
    lock = threading.Lock()

    def locked(port: Port) -> SwitchAlgorithm:
        with lock:
            return Counting(port)

    with pytest.raises(cellrate.CellrateError, match=r"mine: cannot be handed to another process: .*lock"):
        pack_plugins(Plugins({"mine": locked}))


def replied(thing: object) -> Any:
    """Give the thing that comes back when another process answers."""
    reply = Reply()
    end = os.dup(reply.end)
    reply.handed_over()
    answer(end, thing)
    return reply


def test_what_is_raised_comes_back_with_a_note_of_where() -> None:
    class OddError(Exception):
        def __init__(self, one: int, other: int) -> None:
            super().__init__(f"{one} and {other}")

    def raised(error: Exception) -> Exception:
        try:
            raise error
        except Exception as caught:
            reply = replied(caught)
        with pytest.raises(type(error) if not isinstance(error, OddError) else cellrate.RunError) as back:
            reply.result(10.0)
        return back.value

    assert raised(cellrate.RunError("as it is")).args == ("as it is",)
    back = raised(OutOfOrderError("over"))
    assert type(back) is OutOfOrderError
    assert "in raised" in back.__notes__[0]
    # Pickle cannot make it again.
    assert "OddError: 1 and 2" in str(raised(OddError(1, 2)))
    # More than a pipe holds, and nothing at all.
    assert len(replied(b"x" * 1_000_000).result(10.0)) == 1_000_000
    nothing = Reply()
    nothing.handed_over()
    assert nothing.result(10.0) is None


def test_a_switch_process_that_failed_says_whose_failure_it_is(tmp_path: Path) -> None:
    process: Any = subprocess.Popen([sys.executable, "-c", "raise SystemExit(3)"])
    assert process.wait() == 3
    nothing = Reply()
    nothing.handed_over()
    (tmp_path / "sw.err").write_text("out of memory\n")
    with pytest.raises(cellrate.RunError, match=r"^the process of sw left no figures: out of memory$"):
        Node("sw", tmp_path, process, nothing).look()
    with pytest.raises(cellrate.RunError, match=r"^the process of sw: the run ended 3\.0 s ago$"):
        Node("sw", tmp_path, process, replied(cellrate.RunError("the run ended 3.0 s ago"))).look()
    with pytest.raises(OutOfOrderError):
        Node("sw", tmp_path, process, replied(OutOfOrderError("over"))).look()
