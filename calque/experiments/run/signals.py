"""Handlers that raise exceptions on interrupt and termination signals, so that no temporary files remain."""

import signal
import threading
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager
from types import FrameType

RESUMES = "rerun the command to resume"


class Ended(BaseException):
    """Raised on a termination signal; the argument is its number."""


@contextmanager
def stoppable() -> Iterator[None]:
    """Raise KeyboardInterrupt on an interrupt and `Ended` on a termination signal while the block runs, even
    if the block drops this exception, or a pool replaces it because the signal also ended its workers."""
    if threading.current_thread() is not threading.main_thread():  # only the main thread can handle signals
        yield
        return
    stops = list[BaseException]()

    def stop(number: int, frame: FrameType | None) -> None:
        stops.append(KeyboardInterrupt() if number == signal.SIGINT else Ended(number))
        raise stops[-1]

    signals = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, stop) for number in signals}
    try:
        yield
    except BrokenExecutor:
        if not stops:
            raise
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if stops:
        raise stops[0]
