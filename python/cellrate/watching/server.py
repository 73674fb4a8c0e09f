"""The page of a run: what it is told, and the pace that it sets.

| at | what |
| --- | --- |
| the address, and the files of the page below it | the page |
| `events` below it | a WebSocket: `head` once, then `more` as the run goes on |

A page may say {"speed": 0.01, "paused": false}, or one of both, and null for as fast as it goes; it is answered with
`pace`, or with `error`. A live run has no pace.

A browser opens no more than six connections to a host for all its pages together, but for WebSockets, of which there
may be hundreds: with server-sent events the sixth page on a run would be the last thing that any of them does.
"""

from __future__ import annotations

import asyncio
import json
import math
from types import TracebackType
from typing import TYPE_CHECKING, Any

from .board import Board
from .pace import Pace
from .site import Site

if TYPE_CHECKING:
    from websockets.asyncio.server import ServerConnection

BETWEEN = 0.05
"""From one message to the next [s]."""


class Page:
    """The server, as long as it is entered; without a pace the run keeps to the clock."""

    def __init__(self, board: Board, pace: Pace | None, port: int, host: str = "127.0.0.1") -> None:
        self._board, self._pace = board, pace
        self._site = Site(mode="watch", host=host, port=port, talk=self._talk)

    @property
    def address(self) -> str:
        """Give the address to open."""
        return self._site.address

    def __enter__(self) -> Page:
        self._site.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._site.__exit__(kind, error, trace)

    async def _talk(self, connection: ServerConnection) -> None:
        """Tell a page of the run until one of them ends."""
        from websockets.exceptions import ConnectionClosed

        board = self._board
        board.enter()
        listening = asyncio.create_task(self._listen(connection))
        try:
            await _tell(connection, head=board.head)
            seen, shown_s = [0] * len(board.head["series"]), 0.0
            while not listening.done():
                more = board.since(seen, shown_s)
                if more is not None:
                    shown_s = more["now_s"]
                    await _tell(connection, more={**more, **({} if self._pace is None else self._pace.state)})
                    if "figures" in more:
                        break
                await asyncio.sleep(BETWEEN)
        except ConnectionClosed:
            pass
        finally:
            board.leave()
            listening.cancel()

    async def _listen(self, connection: ServerConnection) -> None:
        """Set what the page asks for, until it leaves."""
        async for asked in connection:
            if self._pace is None:
                await _tell(connection, error="a live run keeps to the clock")
                continue
            try:
                self._pace.set(**_pace(json.loads(asked)))
            except RecursionError:
                await _tell(connection, error="lists within lists within lists; what is taken is one object")
            except ValueError as error:
                await _tell(connection, error=str(error))
            else:
                await _tell(connection, pace=self._pace.state)


async def _tell(connection: ServerConnection, **content: object) -> None:
    await connection.send(json.dumps(content, allow_nan=False))


def _pace(asked: Any) -> dict[str, Any]:
    """Check what a page asks for."""
    if not isinstance(asked, dict) or not asked.keys() <= {"speed", "paused"}:
        raise ValueError('send {"speed": number or null, "paused": true or false}')
    settings: dict[str, Any] = {}
    if "speed" in asked:
        speed = asked["speed"]
        if speed is not None and (isinstance(speed, bool) or not isinstance(speed, int | float)):
            raise ValueError(f"speed is {speed!r}; it must be a number above 0, or null")
        try:
            settings["speed"] = math.inf if speed is None else float(speed)
        except OverflowError:
            raise ValueError(f"speed has {len(str(speed))} digits; null is as fast as it goes") from None
    if "paused" in asked:
        if not isinstance(asked["paused"], bool):
            raise ValueError(f"paused is {asked['paused']!r}; it must be true or false")
        settings["paused"] = asked["paused"]
    return settings
