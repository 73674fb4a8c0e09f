"""The rate that the adapter has, told to a program: JSON from the socket of a live run (docs/guides/testbed.md)."""

from __future__ import annotations

import json
import os
import socket
import threading
from typing import Any


class Told:
    """The latest line about the way from `host` to `peer`, a new one each `period_s` seconds."""

    def __init__(self, host: str, peer: str, period_s: float) -> None:
        self._connection = socket.socket(socket.AF_UNIX)
        self._connection.connect(os.environ["CELLRATE_ADAPTERS"])
        self._connection.sendall(f"watch {host} {peer} {period_s}\n".encode())
        self._lines = self._connection.makefile()
        try:
            self.latest: dict[str, Any] = self._next()
        except LookupError:
            self.close()
            raise
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def close(self) -> None:
        """Ask for no more."""
        self._connection.shutdown(socket.SHUT_RDWR)
        if hasattr(self, "_reader"):
            self._reader.join()
        self._lines.close()
        self._connection.close()

    def _next(self) -> dict[str, Any]:
        line = self._lines.readline()
        if not line.startswith("{"):
            raise LookupError(line.strip() or "the run is over")
        return dict(json.loads(line))

    def _read(self) -> None:
        while True:
            try:
                self.latest = self._next()
            except (LookupError, OSError):
                return

    def bits_per_s(self, share: float) -> float:
        """Give this share of the mean rate of the last period, as bits of AAL5 PDUs."""
        return share * 8 * float(self.latest["octets_per_s"])
