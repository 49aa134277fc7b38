"""Work in a process of its own, so that its peak of memory and the seconds that it computes are its own."""

from __future__ import annotations

import multiprocessing
import resource
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import Any

Row = dict[str, Any]


def apart(function: Callable[..., Row], *arguments: Any) -> Row:
    """Run in a process of its own, which may have workers of its own."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(function, *arguments).result()


def peak(who: int) -> float:
    """The most memory that a process, or the largest of its children, had at once, in MiB."""
    return resource.getrusage(who).ru_maxrss / 1024


def cpu_seconds() -> float:
    """Seconds that this process and its workers computed, whatever ran beside them."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)
