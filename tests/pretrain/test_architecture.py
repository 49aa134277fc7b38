import json
import shutil

import pytest
import torch
from transformers import AutoModelForMaskedLM

from calque.derive.files import MANIFEST
from calque.derive.types import OURS
from calque.pretrain.architecture import ARCHITECTURES
from calque.pretrain.batch import UNLABELLED, Rows
from calque.pretrain.config import ModelConfig
from calque.pretrain.model import encode, prediction_loss
from calque.pretrain.objectives.xlm_align import XLMAlign
from calque.pretrain.start import InitialModel
from tests.pretrain.made import MODEL, SIZE, STILL, of_study, pretrain
from tests.vocabularies import read_as_saved

FIRST = len(OURS.ids)

EACH = pytest.mark.parametrize("spelt", ARCHITECTURES.values(), ids=ARCHITECTURES)


def foreign(spelt, rows=2 * SIZE, config=STILL, **changes):
    shape = {
        "vocab_size": rows,
        "hidden_size": config.hidden,
        "num_hidden_layers": config.layers,
        "num_attention_heads": config.heads,
        "intermediate_size": config.ffn,
        "max_position_embeddings": config.length + (OURS.pad + 1 if spelt.counts_from_padding else 0),
        "hidden_dropout_prob": 0.0,
        "attention_probs_dropout_prob": 0.0,
        "pad_token_id": OURS.pad,
        "initializer_range": 0.1,
    }
    return spelt.config(**shape | changes)


def save(spelt, study, folder, kind=None, **changes):
    torch.manual_seed(7)
    model = (kind or spelt.masked_model)(foreign(spelt, **changes))
    model.save_pretrained(folder)
    shutil.copy(study / "vocabulary" / "tokenizer.json", folder)
    read_as_saved(folder)
    return model


def rows(padded):
    random = torch.Generator().manual_seed(0)
    ids = torch.randint(FIRST, 2 * SIZE, (5, STILL.length), generator=random)
    labels = torch.where(torch.rand(ids.shape, generator=random) < 0.2, ids, UNLABELLED)
    if padded:
        for row in range(1, 5):
            ids[row, -3 * row :], labels[row, -3 * row :] = OURS.pad, UNLABELLED
    return Rows(ids, labels, torch.zeros_like(ids), padded)


@EACH
@pytest.mark.parametrize("padded", [False, True])
def test_loss_gradient_and_states_equal_transformers(spelt, padded):
    torch.manual_seed(0)
    model, batch = spelt.masked_model(foreign(spelt)), rows(padded)
    mask = (batch.ids != OURS.pad).long()
    ours = prediction_loss(model, batch) / batch.labelled
    ours.backward()
    gradients = {name: p.grad.clone() for name, p in model.named_parameters() if p.grad is not None}
    model.zero_grad()
    theirs = model(input_ids=batch.ids, attention_mask=mask, labels=batch.labels, output_hidden_states=True)
    theirs.loss.backward()
    assert float(ours.detach()) == pytest.approx(float(theirs.loss.detach()), rel=1e-5)
    assert gradients.keys() == {name for name, p in model.named_parameters() if p.grad is not None}
    for name, gradient in gradients.items():
        torch.testing.assert_close(gradient, dict(model.named_parameters())[name].grad, rtol=1e-4, atol=1e-6)
    for layer in range(STILL.layers + 1):
        hidden = encode(model, batch, layer)[mask.bool()]
        torch.testing.assert_close(hidden, theirs.hidden_states[layer][mask.bool()], rtol=1e-4, atol=1e-5)


@EACH
def test_run_starts_from_a_folder_and_saves_one(spelt, study, tmp_path):
    before = save(spelt, study, tmp_path / "given").state_dict()
    still = ModelConfig(**vars(MODEL) | {"dropout": 0.0})
    config = of_study(study, XLMAlign(), model=still, start=tmp_path / "given")
    checkpoint = pretrain(tmp_path / "run", config)
    model, report = AutoModelForMaskedLM.from_pretrained(checkpoint, output_loading_info=True)
    assert type(model) is spelt.masked_model
    assert not report["missing_keys"] and not report["unexpected_keys"]
    after = model.state_dict()
    assert after.keys() == before.keys()
    moved = {name: float((after[name] - value).abs().max()) for name, value in before.items()}
    assert 0 < moved[spelt.word_embeddings] < 0.1  # it started there: at most twelve steps of 2e-3
    assert max(moved.values()) < 0.1
    assert json.loads((tmp_path / "run" / MANIFEST).read_text())["drawn"] == []


@EACH
def test_new_scripts_get_rows_of_their_own(spelt, study, languages, tmp_path):
    given = save(spelt, study, tmp_path / "given", rows=SIZE).state_dict()
    made, drawn = InitialModel(tmp_path / "given", STILL, languages, False, 3).whole()
    assert drawn == [f"rows {SIZE:,} to {2 * SIZE - 1:,} of its table"]
    now = made.state_dict()
    for name, value in given.items():
        assert now[name][: len(value)].equal(value)
        assert len(now[name]) == (2 * SIZE if value.shape[:1] == (SIZE,) else len(value))
    new = now[spelt.word_embeddings][SIZE:]
    assert 0.05 < float(new.std()) < 0.2
    other, _ = InitialModel(tmp_path / "given", STILL, languages, False, 4).whole()
    assert not other.state_dict()[spelt.word_embeddings][SIZE:].equal(new)
