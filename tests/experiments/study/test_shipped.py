import shutil
from pathlib import Path

import pytest
from safetensors.torch import load_file

from calque.derive.errors import BadInput
from calque.pretrain.run import CHECKPOINT, pack, runs_of
from calque.pretrain.saved_model import METRICS
from tests.experiments.conftest import Done


@pytest.fixture
def file(done, tmp_path):
    file = tmp_path / "runs.safetensors"
    pack({step.config.name_in_file: step.folder for step in done.study.trained(done.root)}, file)
    return file


def test_unpacked_run_equals_the_run_in_half_precision(done, file):
    again = Done(done.root, done.study.changed(shipped=file))
    again.compute("pretrain")
    for run, unpacked in zip(done.models(), again.models(), strict=True):
        assert run.folder != unpacked.folder and unpacked.training.shipped
        names = [path.relative_to(run.checkpoint) for path in run.checkpoint.rglob("*.json")]
        assert len(names) > 4
        for name in (*(Path(CHECKPOINT) / name for name in names), Path(METRICS)):
            assert (run.folder / name).read_bytes() == (unpacked.folder / name).read_bytes()
        ours, theirs = (load_file(each.checkpoint / "model.safetensors") for each in (run, unpacked))
        assert ours.keys() == theirs.keys()
        assert all((ours[name].half().float() == theirs[name]).all() for name in ours)
        assert run.step.open().facts["identity"] == unpacked.step.open().facts["identity"]


@pytest.mark.parametrize("place", [10, 2_000, -1])
def test_changed_byte_is_rejected(file, place, tmp_path):
    damaged = shutil.copy(file, tmp_path / "damaged.safetensors")
    content = bytearray(file.read_bytes())
    content[place] ^= 1
    damaged.write_bytes(content)
    shutil.copy(f"{file}.sha256", f"{damaged}.sha256")
    with pytest.raises(BadInput, match=damaged.name):
        runs_of(damaged)
