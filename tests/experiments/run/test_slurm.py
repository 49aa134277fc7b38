import os
import shutil
import subprocess

import pytest

from calque.derive.files import MANIFEST
from calque.experiments.settings.catalogue import named_study
from calque.experiments.settings.override import override
from calque.experiments.slurm import jobs_of
from tests.experiments.conftest import ROOT, SETTINGS, TINY, Done, calque, started
from tests.processes import below, wait_for

AFTER = ["objectives=MLM,WEAM-after-MLM", "transforms=trans", "measures=alignment"]
TOY = [*TINY, *AFTER]
FRAGILE = '''
import os
from dataclasses import dataclass

from calque.experiments.settings.override import override
from calque.experiments.studies.pocket import objectives_pocket
from calque.pretrain.objectives.mlm import MLM


@dataclass(frozen=True)
class Fragile(MLM):
    """MLM, except where the environment has BROKEN."""

    short_name = "FRAGILE"

    def streams(self, languages, length, seed):
        if "BROKEN" in os.environ:
            raise ZeroDivisionError("broken")
        return super().streams(languages, length, seed)


def fragile():
    toy = override(objectives_pocket(), SETTINGS)
    return toy.changed(name="fragile", objectives=(*toy.objectives, Fragile()))
'''


def contents(home):
    """The files of a study except those that contain times and speeds, which differ between runs."""
    timed = {
        path
        for name in (MANIFEST, "metrics.jsonl", "report.html", "about.json")
        for path in below(home, name)
    }
    return {
        str(path.relative_to(home)): path.read_bytes()
        for path in below(home, "*")
        if path.is_file() and path not in timed
    }


@pytest.fixture(scope="session")
def fragile(tmp_path_factory):
    file = tmp_path_factory.mktemp("fragile") / "fragile.py"
    file.write_text(FRAGILE.replace("SETTINGS", repr(TOY)))
    with run(file, file.with_name("here")) as running:
        _, err = running.communicate()
    assert err == ""
    return file


def run(file, runs, *words, **environment):
    return started("run", file, "--runs", runs, *words, PYTHONPATH=str(ROOT), **environment)


def test_jobs_contain_every_step(tmp_path):
    steps = override(named_study("objectives_pocket"), [*TOY, "seeds=0,1"]).steps(tmp_path)
    found = jobs_of(steps)
    jobs = {step.folder: number for number, job in enumerate(found) for step in job}
    assert len(jobs) == len(steps) == sum(map(len, found))
    assert len(found) == 1 + sum(step.stage == "pretrain" for step in steps)
    assert {jobs[step.folder] for step in steps if step.stage == "derive"} == {0}
    for step in steps:
        for need in step.needs:  # a job waits for the models that it needs
            assert jobs[need.folder] == jobs[step.folder] or need.stage in ("derive", "pretrain")


def test_script_calls_cell_for_each_job(done, tmp_path):
    words = ["--runs", tmp_path / "runs", *SETTINGS, "--on", "slurm", "--jobs", "2"]
    code, out, _ = calque("run", "pocket", *words)
    assert code == 0 and "calque cell pocket" in out and "#SBATCH --array=0-2%2" in out
    assert not (tmp_path / "runs").exists()
    assert subprocess.run(["bash", "-n"], input=out, text=True).returncode == 0
    words[1] = done.root
    code, _, err = calque("run", "pocket", *words)
    assert code == 2 and err.count("\n") == 1 and "finished" in err


def test_cell_command_computes_only_its_step(done, tmp_path):
    words = ["pocket", "--runs", tmp_path, *SETTINGS]
    places = Done(tmp_path, done.study)
    assert calque("cell", *words, places.languages.folder.name, places.languages.fingerprint)[0] == 0
    assert contents(places.data) == contents(done.data) and list(places.home.iterdir()) == [places.data]
    code, _, err = calque("cell", *words, "0123456789ab")
    assert code == 2 and err.count("\n") == 1 and "0123456789ab" in err


@pytest.fixture(scope="session")
def slurm():
    if not shutil.which("sinfo") or subprocess.run(["sinfo"], capture_output=True, timeout=90).returncode:
        pytest.skip("no Slurm answers here")


@pytest.mark.slow
@pytest.mark.usefixtures("slurm")
def test_jobs_survive_failures_cancellations_and_requeues(fragile, tmp_path):
    named = "--name=calque-fragile"

    def submit(**environment):
        code, script, err = calque("run", fragile, "--runs", tmp_path, "--on", "slurm")
        assert code == 0, err
        environment |= os.environ | {"PYTHONPATH": str(ROOT)}
        log = f"--output={tmp_path}/%A_%a.log"
        subprocess.run(["sbatch", log], input=script, text=True, check=True, env=environment)

    def queued(*states):
        squeue = ["squeue", "--noheader", "--array", named, "--format=%i", f"--states={','.join(states)}"]
        return subprocess.run(squeue, capture_output=True, text=True, check=True).stdout.split()

    submit(BROKEN="1")
    running = wait_for(lambda: below(tmp_path, ".seed-0-*.claim") and queued("RUNNING"))
    subprocess.run(["scontrol", "requeue", running[0]], check=True)
    subprocess.run(["scancel", queued("RUNNING", "PENDING")[-1]], check=True)
    wait_for(lambda: running[0] in queued("PENDING"))
    # Otherwise it starts after 2 minutes.
    subprocess.run(["scontrol", "update", f"jobid={running[0]}", "starttime=now"], check=True)
    wait_for(lambda: not queued("PENDING", "RUNNING", "COMPLETING"))
    assert any("ZeroDivisionError" in log.read_text() for log in tmp_path.glob("*.log"))
    submit()
    wait_for(lambda: not queued("PENDING", "RUNNING", "COMPLETING"))
    for log in tmp_path.glob("*.log"):
        log.unlink()
    with run(fragile, tmp_path) as command:
        _, err = command.communicate()
    assert err == "" and contents(tmp_path) == contents(fragile.with_name("here"))
