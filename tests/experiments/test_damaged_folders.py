import random
import shutil

import pytest

from calque.derive.errors import BadInput
from calque.derive.files import DISK, MANIFEST
from calque.derive.workers import silent


def flip_a_bit(path, other, dice):
    content = bytearray(path.read_bytes())
    content[dice.randrange(len(content))] ^= 1 << dice.randrange(8)
    path.write_bytes(content)


def cut_short(path, other, dice):
    path.write_bytes(path.read_bytes()[:-1])


def remove(path, other, dice):
    path.unlink()


def exchange(path, other, dice):
    path.write_bytes(other.read_bytes())


def read(step):
    """Return what the next command finds: `unfinished`, `right`, or `refused` with an error that names the
    folder."""
    try:
        if not step.finished:
            return "unfinished"
        step.check(silent)
        step.open().verify()
    except BadInput as error:
        assert str(step.folder) in str(error)
        return "refused"
    except OSError as error:
        assert error.errno in DISK and str(step.folder) in str(error.filename)
        return "refused"
    return "right"


def files_of(step):
    files = [step.folder / name for name in (MANIFEST, *step.open().digests)]
    return [path for path in files if path.stat().st_size]


@pytest.mark.parametrize("damage", [flip_a_bit, cut_short, remove, exchange])
def test_damaged_files_are_rejected(damage, done, tmp_path):
    root = shutil.copytree(done.root, tmp_path / "runs")
    dice = random.Random(0)
    for step in done.study.steps(root):
        assert read(step) == "right"
        files = files_of(step)
        for path in files:
            content = path.read_bytes()
            others = [one for one in files if one.read_bytes() != content]
            damage(path, others[0] if others else path, dice)
            if not path.exists() or path.read_bytes() != content:
                assert read(step) in ("refused", "unfinished"), path
            path.write_bytes(content)
        assert read(step) == "right"


@pytest.mark.parametrize("kept", ["", MANIFEST])
def test_misplaced_folders_are_rejected(kept, done, tmp_path):
    root = shutil.copytree(done.root, tmp_path / "runs")
    steps = done.study.steps(root)
    for step in steps:
        for other in steps:
            if other is step or other.kind != step.kind or other.open().digests == step.open().digests:
                continue
            shutil.move(step.folder, tmp_path / "own")
            shutil.copytree(other.folder, step.folder)
            if kept:
                shutil.copy(tmp_path / "own" / kept, step.folder / kept)
            assert read(step) in ("refused", "unfinished"), step.title
            shutil.rmtree(step.folder)
            shutil.move(tmp_path / "own", step.folder)
