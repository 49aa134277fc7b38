"""Signals that stop a command: an interrupt, or a request to end. Both unwind, so that nothing is left behind."""

import signal
import threading
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

ENDS = (signal.SIGTERM, signal.SIGHUP)
RESUMES = "the same command resumes"


class Ended(BaseException):
    """This process received a signal to end; `number` is the signal's."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


@contextmanager
def stoppable() -> Iterator[threading.Event]:
    """Raise KeyboardInterrupt for an interrupt and `Ended` for a request to end while the block runs.

    The event is set from then on: Python drops an exception that is raised while an object is being finalised, and
    workers that got the signal too make their pool raise another one.
    """
    stopped = threading.Event()
    if threading.current_thread() is not threading.main_thread():  # only there can signals be handled
        yield stopped
        return

    def stop(number: int, frame: FrameType | None) -> NoReturn:
        stopped.set()
        if number == signal.SIGINT:
            raise KeyboardInterrupt
        raise Ended(number)

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, *ENDS)}
    try:
        yield stopped
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def leaving(what: str) -> Iterator[None]:
    """Add a note on the block's unfinished work to a signal that stops it; the command line prints it."""
    try:
        yield
    except (KeyboardInterrupt, Ended, BrokenExecutor) as stop:
        stop.add_note(what)
        raise
