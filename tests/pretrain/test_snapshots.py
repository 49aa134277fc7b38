import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from transformers import RobertaForMaskedLM

from calque.derive.errors import BadInput
from calque.derive.files import MANIFEST, Artefact, write_manifest
from calque.derive.fingerprint import sha256
from calque.pretrain.model import build, state_of
from calque.pretrain.objectives.xlm import XLMAlign
from calque.pretrain.run import SNAPSHOTS, restore, snapshots_of
from calque.pretrain.saved_model import RUN
from tests.pretrain.made import MODEL, SIZE, TRAIN, of_study, pretrain, stop_at

KEPT = replace(TRAIN, snapshots=4)
STEPS = (0, 8, 10, 11, 12)
"""The steps of `KEPT`: powers of the fourth root of 2 from 8, and the last."""


@pytest.fixture(scope="module")
def run(study, tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    pretrain(folder, of_study(study, XLMAlign(), train=KEPT))
    return folder


def test_snapshots_are_models_after_their_step(run):
    """The first is the initial model, the last the checkpoint; none contains the objective's modules."""
    made = Artefact.open(run, RUN)
    names = snapshots_of(made)
    assert tuple(names) == STEPS
    assert {name: made.digests[name] for name in names.values()} == {
        n: sha256(run / n) for n in names.values()
    }
    model = RobertaForMaskedLM.from_pretrained(run / "checkpoint")
    last = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    drawn = build(MODEL, 2 * SIZE, model.config.type_vocab_size, 0).state_dict()
    for step, expected in ((0, drawn), (12, last)):
        restore(state_of(model), made.path(names[step]))
        assert all(torch.equal(tensor, expected[name]) for name, tensor in model.state_dict().items()), step


@pytest.mark.parametrize("at", [4, 9, 11])
def test_stopped_run_has_the_same_snapshots(run, study, tmp_path, at):
    """States are saved at 3, 6 and 9. At 11, the snapshot of step 8 is older than the last state; those of 10
    and 11 are not."""
    given = of_study(study, XLMAlign(), train=KEPT)
    stop_at(tmp_path, given, at)
    if at == 11:  # a truncated snapshot and a stray one
        (tmp_path / SNAPSHOTS / "step-000000010.safetensors").write_bytes(b"half")
        (tmp_path / SNAPSHOTS / "step-000000005.safetensors").write_bytes(b"another")
    pretrain(tmp_path, given)
    files = [json.loads((folder / MANIFEST).read_text())["files"] for folder in (run, tmp_path)]
    for names in files:
        del names["metrics.jsonl"]  # it contains speeds
    assert files[0] == files[1]


@pytest.mark.parametrize("damage", [Path.unlink, lambda path: path.write_bytes(b"x")])
def test_changed_snapshot_is_rejected(study, tmp_path, damage):
    stop_at(tmp_path, of_study(study, train=KEPT), 10)
    damage(tmp_path / SNAPSHOTS / "step-000000008.safetensors")
    with pytest.raises(BadInput, match=r"step-000000008\.safetensors: this is not the snapshot listed"):
        pretrain(tmp_path, of_study(study, train=KEPT))


def test_other_files_are_not_snapshots(tmp_path):
    (tmp_path / SNAPSHOTS).mkdir()
    for name in ("step-000000008.safetensors", "notes.txt"):
        (tmp_path / SNAPSHOTS / name).touch()
    write_manifest(tmp_path, RUN, {})
    assert tuple(snapshots_of(Artefact.open(tmp_path, RUN))) == (8,)
