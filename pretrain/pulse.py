"""Which of several processes are still there: each answers when the others ask it."""

from __future__ import annotations

import socket
import threading
from collections.abc import Sequence
from contextlib import suppress

SOON = 5.0
"""Seconds within which a process answers that can; one that was killed is missed at once."""
AT_ONCE = 1.0
"""Seconds that a connection may be silent: one that says nothing must not cost another its answer."""
ASKED, HERE, LEFT, LOST = "are you there", "here", "left", "lost"
ROOM = 64
"""Bytes of a question or an answer at most."""

Address = tuple[str, int]


class Pulse:
    """Answers other processes, in a thread of its own, until it leaves.

    `host` is where they reach this one. Nothing is read but whether a process asks or leaves.
    """

    def __init__(self, host: str, family: int = socket.AF_INET) -> None:
        self._server = socket.create_server((host, 0), family=family)
        self.address: Address = self._server.getsockname()[:2]
        self._rank, self._others = 0, dict[int, Address]()
        self._left: set[int] = set()
        threading.Thread(target=self._answer, daemon=True).start()

    def meet(self, rank: int, addresses: Sequence[Address]) -> None:
        """Learn where all processes are, by rank, this one's being `rank`."""
        self._rank = rank
        self._others = {other: address for other, address in enumerate(addresses) if other != rank}

    def ask(self, rank: int, seconds: float = SOON) -> str:
        """Whether another process is `HERE`, has `LEFT` or is `LOST`: gives no answer for some seconds."""
        if rank in self._left:
            return LEFT
        try:
            return HERE if _say(self._others[rank], ASKED, seconds) == HERE else LOST
        except OSError:  # it refuses, or is silent
            return LOST

    def lost(self) -> str:
        """Who is lost, or has left, in words; takes some seconds for each process that is there and does not answer."""
        found = {rank: self.ask(rank) for rank in self._others}
        told = [
            f"{_ranks(ranks)} {what}"
            for ranks, what in (
                ([rank for rank, state in found.items() if state == LOST], "lost"),
                ([rank for rank, state in found.items() if state == LEFT], "gone after an error"),
            )
            if ranks
        ]
        if not told:
            return "a message between processes was lost"
        return f"of {len(found) + 1} processes, {' and '.join(told)}"

    def leave(self) -> None:
        """Tell the others that this process goes, and answer no more."""
        for address in self._others.values():
            with suppress(OSError):
                _say(address, f"{LEFT} {self._rank}", SOON)
        with suppress(OSError):
            self._server.shutdown(socket.SHUT_RDWR)  # which wakes the thread
        self._server.close()

    def _answer(self) -> None:
        while True:
            try:
                asking, _ = self._server.accept()
                with asking:
                    asking.settimeout(AT_ONCE)
                    said, _, rank = asking.recv(ROOM).decode("ascii", "replace").partition(" ")
                    if said == LEFT and rank.isdecimal():
                        self._left.add(int(rank))
                    asking.sendall(HERE.encode())
            except OSError:
                if self._server.fileno() < 0:
                    return  # this process has left


def _say(address: Address, text: str, seconds: float) -> str:
    """What a process answers."""
    with socket.create_connection(address, SOON) as asked:
        asked.settimeout(seconds)
        asked.sendall(text.encode())
        return asked.recv(ROOM).decode("ascii", "replace")


def _ranks(ranks: Sequence[int]) -> str:
    return f"rank {ranks[0]} is" if len(ranks) == 1 else f"ranks {', '.join(map(str, ranks))} are"
