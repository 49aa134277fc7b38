import os
import subprocess
import sys
from contextlib import contextmanager

import pytest

from tests.experiments.conftest import ROOT, SETTINGS, Done, weights
from tests.processes import below, wait_for


@contextmanager
def begun(words, **environment):
    ran = subprocess.Popen(
        [sys.executable, "-m", "experiments", *words],
        cwd=ROOT, env=os.environ | {"OMP_NUM_THREADS": "1"} | environment,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        yield ran
    finally:
        ran.kill()
        with ran:
            pass


@pytest.mark.slow
def test_two_commands_share_models(done, tmp_path):
    place = ["pocket", "--runs", str(tmp_path), "--jobs", "1", *SETTINGS]
    with begun(["evaluate", *place]) as first:
        wait_for(lambda: below(tmp_path, ".languages-*.claim"), first)
        with begun(["run", *place]) as second:
            for command in (first, second):
                _, err = command.communicate()
                assert (command.returncode, err) == (0, "")
    places = Done(tmp_path, done.study)
    assert list(map(weights, places.models())) == list(map(weights, done.models()))
    assert not [path for kind in ("part", "claim", "compute") for path in tmp_path.rglob(f".*.{kind}")]
