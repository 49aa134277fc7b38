"""Which of several processes are still there: each writes a number that grows, for the others to see."""

from __future__ import annotations

import math
import os
import socket
import threading
import time
from contextlib import suppress
from typing import Any

BEAT = 0.5
"""Seconds between two signs of life."""
SILENT = 3.0
"""Seconds without one after which a process counts as lost, when a message has failed already."""
LEFT = "left"


class Pulse:
    """The signs of life of `size` processes, this one's given by a thread until it leaves.

    `store` is where processes meet: torch's TCPStore, which torchrun keeps, or the process of rank 0.
    """

    def __init__(self, store: Any, rank: int, size: int) -> None:
        self._store, self._rank, self._size = store, rank, size
        self._seen: dict[int, tuple[str, float]] = {}
        self._over = threading.Event()
        self._say("0")
        self._thread = threading.Thread(target=self._beat, daemon=True)
        self._thread.start()

    def silence(self, rank: int) -> float:
        """Seconds since this process saw a new sign of life of another one; infinite when that one has left.

        Raises:
            RuntimeError: nobody keeps the signs any more.
        """
        now, text = time.monotonic(), self._store.get(_key(rank)).decode()
        before, since = self._seen.setdefault(rank, (text, now))
        if text == LEFT:
            return math.inf
        if text != before:
            self._seen[rank] = (text, now)
            return 0.0
        return now - since

    def lost(self) -> str:
        """Who gives no sign of life, or has left, in words; takes some seconds."""
        others = [rank for rank in range(self._size) if rank != self._rank]
        try:
            self._check_store()
            for rank in others:
                self.silence(rank)
            time.sleep(SILENT)
            silence = {rank: self.silence(rank) for rank in others}
        except (RuntimeError, OSError):
            self._over.set()
            keeper = "torchrun" if os.environ.get("TORCHELASTIC_USE_AGENT_STORE") == "True" else "rank 0"
            return f"of {self._size} processes, {keeper} is lost"
        left = [rank for rank, seconds in silence.items() if seconds == math.inf]
        silent = [rank for rank, seconds in silence.items() if SILENT <= seconds < math.inf]
        told = [f"{_ranks(silent)} lost"] * bool(silent) + [f"{_ranks(left)} gone after an error"] * bool(left)
        return f"of {self._size} processes, {' and '.join(told)}" if told else "a message between processes was lost"

    def leave(self) -> None:
        """Say that this process goes, and be silent."""
        if not self._over.is_set():
            self._over.set()
            self._thread.join()
            with suppress(RuntimeError):  # nobody keeps the signs any more
                self._say(LEFT)

    def _check_store(self) -> None:
        """Torch prints pages where nobody keeps its store any more; a connection refused is quieter."""
        socket.create_connection((self._store.host, self._store.port), SILENT).close()

    def _beat(self) -> None:
        beats = 0
        while not self._over.wait(BEAT):
            beats += 1
            try:
                self._say(str(beats))
            except RuntimeError:
                return  # the next message between processes fails too, and tells

    def _say(self, text: str) -> None:
        self._store.set(_key(self._rank), text)


def _key(rank: int) -> str:
    return f"calque/pulse/{rank}"


def _ranks(ranks: list[int]) -> str:
    return f"rank {ranks[0]} is" if len(ranks) == 1 else f"ranks {', '.join(map(str, ranks))} are"
