import os
import signal
import subprocess
import sys
from pathlib import Path


def place(job: int) -> tuple[int, int]:
    return job, os.getpid()


KILLED = """
import os, signal
from calque.derive.workers import Workers
from tests.derive.test_workers import place
with Workers(2) as workers:
    next(workers.map(place, range(5)))
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_workers_end_with_their_parent() -> None:
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", KILLED], cwd=root, capture_output=True, check=False)
    assert done.returncode == -signal.SIGKILL
