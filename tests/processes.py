"""Processes that tests start; tests wait for events, however long they take, not for a span of time."""

import os
import re
import socket
import subprocess
import sys
import time
from fnmatch import fnmatch
from itertools import count
from pathlib import Path

STUCK = 600
"""Seconds after which a test gives up: an upper bound for the slowest machine."""
FIRST_PORT, PORTS = 20_000, 1_000
"""Below the ports of outgoing connections; each worker of pytest-xdist has its own thousand."""
_worker = int(re.sub(r"\D", "", os.environ.get("PYTEST_XDIST_WORKER", "")) or 0)
_ports = count(FIRST_PORT + _worker % 10 * PORTS + os.getpid() % (PORTS // 2))


def below(folder, pattern):
    """Return the sorted paths below a folder whose name matches; folders may be moved meanwhile."""
    return sorted(
        Path(place, name)
        for place, folders, files in os.walk(folder)
        for name in (*folders, *files)
        if fnmatch(name, pattern)
    )


def run_module(*words):
    """Run `python -m WORDS` from the repository, with one thread; it must succeed."""
    root = str(Path(__file__).parents[1])
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": root}
    command = [sys.executable, "-m", *map(str, words)]
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done


def wait_for(event, command=None):
    """Return the value of `event` once it is true; fail if the command that should cause it ends first."""
    deadline = time.monotonic() + STUCK
    while not (value := event()):
        ended = command is not None and command.poll() is not None
        assert not ended, command.stderr and command.stderr.read()
        assert time.monotonic() < deadline
        time.sleep(0.005)
    return value


def free_port():
    for port in _ports:
        with socket.socket() as taken:
            try:
                taken.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise AssertionError


def descendants(process):
    try:
        children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    except OSError:  # it has ended
        children = []
    return [process, *(one for child in children for one in descendants(int(child)))]
