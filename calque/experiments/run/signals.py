"""Handlers that raise exceptions on interrupt and termination signals, so that no temporary files remain."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

ENDS = (signal.SIGTERM, signal.SIGHUP)
RESUMES = "rerun the command to resume"


class Ended(BaseException):
    """Raised on the termination signal with this `number`."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


@contextmanager
def stoppable() -> Iterator[threading.Event]:
    """Raise KeyboardInterrupt on an interrupt and `Ended` on a termination signal while the block runs. Both
    signals also set the event that is yielded, because such exceptions can be dropped or replaced."""
    stopped = threading.Event()
    if threading.current_thread() is not threading.main_thread():  # only the main thread can handle signals
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
