"""A disk that is full at any write of a small study: one line names a file, and the results are the same
bytes once there is room. A limit on the size of files stands in for the disk."""

import os
import re
import resource
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

from calque.derive.files import MANIFEST
from calque.derive.fingerprint import sha256
from calque.experiments.report.folder import ABOUT
from calque.pretrain.run import METRICS
from tests.experiments.conftest import calque, sets

SETTINGS = """source.size=80 source.pos.train=12 source.pos.dev=12 source.pos.test=12 vocabulary=300
    transforms=trans objectives=MLM model.layers=1 model.heads=2 model.hidden=8 model.ffn=8 model.length=48
    train.steps=3 train.batch=2 train.warmup=1 train.log_every=1 train.save_every=2
    tasks=pos tasks.pos.finetune.epochs=1""".split()
STAGES = ("derive", "run")
_TEMPORARY = re.compile(r"\.\d+-[0-9a-f]+\.part")


class Disk:
    """A disk that is full from the first write to a file below `root` that was not tried before."""

    def __init__(self):
        self.root, self.tried, self.struck = "", set(), False
        self.before = resource.getrlimit(resource.RLIMIT_FSIZE)
        sys.addaudithook(self.heard)  # a hook cannot be removed; it does nothing without a root

    def heard(self, event, arguments):
        if not self.root or self.struck or event not in ("open", "os.mkdir"):
            return
        path = os.fspath(arguments[0]) if isinstance(arguments[0], str | os.PathLike) else ""
        writes = event == "os.mkdir" or (isinstance(arguments[1], str) and set("wax+") & set(arguments[1]))
        if not writes or not str(path).startswith(self.root) or str(path).endswith(".claim"):
            return  # a claim is an empty file
        name = _TEMPORARY.sub("", str(path))
        if "report" in name:  # one failure per kind of file, as figures are slow to draw
            name = Path(name).suffix
        if (key := f"{event} {name}") not in self.tried:
            self.tried.add(key)
            self.struck = True
            resource.setrlimit(resource.RLIMIT_FSIZE, (0, self.before[1]))

    @contextmanager
    def failing(self, root):
        self.root, self.struck = str(root), False
        try:
            yield
        finally:
            self.root = ""
            resource.setrlimit(resource.RLIMIT_FSIZE, self.before)


@pytest.fixture(scope="module")
def disk():
    return Disk()


def run(stage, root):
    code, _, err = calque(stage, "pocket", "--runs", root, "--jobs", "1", *sets(*SETTINGS))
    return code, err


def contents(root):
    return {
        path.relative_to(root).as_posix(): sha256(path)
        for path in root.rglob("*")
        if path.is_file() and path.name not in (METRICS, MANIFEST, "report.html", ABOUT)
    }


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    root = tmp_path_factory.mktemp("undisturbed")
    for stage in STAGES:
        assert run(stage, root) == (0, "")
    return root


@pytest.mark.slow
def test_full_disk_at_any_write_is_one_line_and_resumable(disk, undisturbed, tmp_path):
    failures = 0
    for stage in STAGES:
        while True:
            with disk.failing(tmp_path):
                code, err = run(stage, tmp_path)
            if code == 0:
                break
            failures += 1
            assert (code, err.count("\n")) == (2, 1), err
            assert err.startswith(f"calque: error: {tmp_path}{os.sep}"), err
            assert not [path for path in tmp_path.rglob(".*") if path.suffix == ".part"]
    assert failures > 50
    assert contents(tmp_path) == contents(undisturbed)
