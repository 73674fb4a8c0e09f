"""Links of a network that runs, as one changes them by hand: `link sw-client rate=5Mbps delay=20ms loss=1%`."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence

from .. import _native
from ..errors import CellrateError
from ..quantities import RATE, RATIO, TIME, Dimension, read

DIMENSIONS: Mapping[str, Dimension] = {"rate": RATE, "delay": TIME, "loss": RATIO}
"""Keys of a link that change while it stands, by their names in scenario files."""

HOW = "write: link LINK rate=5Mbps delay=20ms loss=1%, one of them or more; `links` shows the links"


class Links:
    """The links of a network that runs.

    Parameters
    ----------
    network
        The network, which was made with links that change.
    """

    def __init__(self, network: _native.LiveNetwork) -> None:
        self._network = network

    @property
    def names(self) -> list[str]:
        """Names of the links, as the file has their ends: "sw1-sw2", of the second between the two "sw1-sw2#2"."""
        return [row[0] for row in self._network.links()]

    def told(self) -> list[str]:
        """Give a line for each link: rate, delay and loss as they are."""
        return [_told(row) for row in self._network.links()]

    def change(self, line: str) -> str:
        """Change a link as a line says, and say what it becomes; what the line leaves out stays as it is.

        Raises
        ------
        CellrateError
            If the line names no link, or nothing of it that changes, or a value that it cannot have.
        """
        try:
            name, *settings = shlex.split(line) or [""]
        except ValueError as error:
            raise CellrateError(f"{error}; {HOW}") from None
        if not settings:
            raise CellrateError(HOW)
        number = self._number(name)
        values: dict[str, float] = {}
        for setting in settings:
            key, sign, text = setting.partition("=")
            if key not in DIMENSIONS:
                raise CellrateError(
                    f'"{key}" does not change while the network stands: rate, delay and loss of links do. Leave, and '
                    "open the shell again with --set for other keys"
                )
            if not sign or key in values:
                raise CellrateError(f"{key} is given {'twice' if sign else 'without a value'}; {HOW}")
            values[key] = read(text, DIMENSIONS[key])
        self._network.change_link(number, values.get("rate"), values.get("delay"), values.get("loss"))
        _, _, rate_bps, delay_s, loss = self._network.links()[number]
        becomes = values.get("rate", rate_bps), values.get("delay", delay_s), values.get("loss", loss)
        return _told((self.names[number], "", *becomes))

    def completions(self, text: str, before: Sequence[str]) -> list[str]:
        """Give what may stand where `text` begins, behind the words `before` it."""
        given = [word.partition("=")[0] for word in before]
        words = [f"{key}=" for key in DIMENSIONS if key not in given] if before else self.names
        return [word for word in words if word.startswith(text)]

    def _number(self, name: str) -> int:
        rows = self._network.links()
        for number, row in enumerate(rows):
            if name in row[:2]:
                return number
        raise CellrateError(f'there is no link "{name}"; links: {", ".join(row[0] for row in rows)}')


def _told(row: tuple[str, str, float, float, float]) -> str:
    name, _, rate_bps, delay_s, loss = row
    return f"{name}: {rate_bps / 1e6:g} Mbps, {delay_s * 1e3:g} ms, loss {loss * 100:g} %"
