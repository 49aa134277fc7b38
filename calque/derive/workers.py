"""Worker processes whose results are returned in the order of the jobs."""

import gc
import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import resource_tracker
from multiprocessing.process import BaseProcess
from typing import Self, TypeVar

Job = TypeVar("Job")
Result = TypeVar("Result")
Progress = Callable[[str, int, int], None]  # called with a title, the number of finished steps and the total


def silent(what: str, done: int, total: int) -> None:
    """Report nothing."""


class Workers:
    """A pool of `count` spawned processes; if `count` is 1, jobs run in this process."""

    def __init__(self, count: int, progress: Progress = silent) -> None:
        self.count, self.progress = count, progress
        self._pool: ProcessPoolExecutor | None = None

    def __enter__(self) -> Self:
        if self.count > 1:
            spawn = multiprocessing.get_context("spawn")
            self._pool = ProcessPoolExecutor(self.count, mp_context=spawn, initializer=_prepare)
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._pool is None:
            return
        if kind and not issubclass(kind, Exception):  # after an interrupt, do not wait for running jobs
            for process in multiprocessing.active_children():
                process.terminate()
        self._pool.shutdown(cancel_futures=True)

    def map(
        self, function: Callable[[Job], Result], jobs: Callable[[], Iterable[Job]], what: str
    ) -> Iterator[Result]:
        """Yield the results in order, after counting the jobs by another call; report progress as `what`."""
        total = sum(1 for _ in jobs())
        self.progress(what, 0, total)
        for done, result in enumerate(self._results(function, jobs()), start=1):
            yield result
            self.progress(what, done, total)

    def _results(self, function: Callable[[Job], Result], jobs: Iterable[Job]) -> Iterator[Result]:
        # Only a few jobs are submitted at a time.
        if self._pool is None:
            yield from map(function, jobs)
            return
        futures: deque[Future[Result]] = deque()
        for job in jobs:
            with uninterrupted():
                futures.append(self._pool.submit(function, job))
            if len(futures) > self.count:
                yield futures.popleft().result()
        while futures:
            yield futures.popleft().result()


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Block keyboard interrupts while processes start, because interrupted imports print tracebacks."""
    resource_tracker.ensure_running()  # starting the tracker later would unblock signals
    previous_mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, previous_mask)


def follow_parent() -> None:
    """Exit when the parent process exits, and let the parent handle keyboard interrupts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    if parent := multiprocessing.parent_process():
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: BaseProcess) -> None:
    parent.join()
    os._exit(1)


def _prepare() -> None:
    follow_parent()
    os.environ["TOKENIZERS_PARALLELISM"] = "false"  # each worker uses one core
    gc.set_threshold(100_000)  # there are few cycles; the default threshold costs a fifth of the time
