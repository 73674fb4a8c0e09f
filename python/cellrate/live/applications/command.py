"""Any program."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..process import Program, Ready, Running
from .planned import Application, Plan, Surroundings


def plan(application: Application, around: Surroundings) -> Plan:
    """The words on the host, with the addresses and the folder in place of their names.

    A program with a / in it is seen from the scenario's folder, any other is looked for on PATH.
    """
    settings = application.settings
    names = {"{host}": around.host.address, "{peer}": around.peer.address, "{folder}": str(around.folder)}

    def filled(text: str) -> str:
        for name, value in names.items():
            text = text.replace(name, value)
        return text

    told = settings["ready"]
    ready = None
    if told is not None:
        file = told.get("file")
        ready = Ready(told.get("port"), told.get("pattern"), None if file is None else Path(filled(file)))
    words = [filled(word) for word in settings["words"]]
    own: Path | str = words[0]
    if "/" in words[0]:
        # It runs in a folder of its own, from which the path would lead elsewhere.
        own = around.scenario_folder / words[0]
        words[0] = str(own)
    program = Program("program", around.host, words, ready, settings["ready_within_s"])

    def read(ran: Mapping[str, Running]) -> dict[str, Any]:
        text = ran["program"].output()
        return {"output_tail": text[-4000:]}

    made = Plan(result=read, own=own)
    (made.background if settings["background"] else made.foreground).append(program)
    return made
