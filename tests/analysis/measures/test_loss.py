import numpy as np
import pytest
import torch
from transformers import RobertaForMaskedLM

from calque.analysis.measures.loss import held_out_loss, masked_loss
from calque.analysis.records.record import HELD_OUT, MeasuredModel
from calque.derive.build import derive_languages
from calque.derive.dictionary import DictionaryConfig
from calque.derive.languages import Languages, only_last
from calque.derive.pocket.language import Pocket
from calque.derive.script import Transliterate
from calque.derive.sources.pocket import PocketEnglish, Sizes
from calque.pretrain.mask import MASK_RATE
from calque.pretrain.model import build, prediction_loss
from calque.pretrain.objectives.mlm import Monolingual
from tests.analysis.measures.test_gradients import MODEL, TYPES, rows

FEW = Sizes(1, 1, 1)
LENGTH, SHARE = 24, 0.25


@pytest.fixture(scope="module")
def languages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("held")
    source = PocketEnglish(Pocket(types=300), 400, FEW, FEW, FEW)
    clones = Transliterate(), Transliterate(script=2)
    derive_languages(source, clones, 400, DictionaryConfig(), folder / "data", folder / "cache")
    return Languages.open(folder / "data", ["trans", "trans2"])


def measured(checkpoint, languages, seed=0):
    records = held_out_loss(MeasuredModel(checkpoint, "run", step=7), languages, SHARE, seed).records
    assert {(r.run, r.measure, r.metric, r.step) for r in records} == {("run", HELD_OUT, "nats", 7)}
    return {record.language: (record.value, record.count) for record in records}


@pytest.mark.parametrize("token_types", [1, 4])
def test_held_out_loss_equals_transformers(languages, token_types, make_checkpoint, monkeypatch):
    monkeypatch.setattr("calque.analysis.measures.loss.ROWS", rows := 5)
    checkpoint = make_checkpoint(languages.rows, languages=token_types, length=LENGTH)
    model = RobertaForMaskedLM.from_pretrained(checkpoint).eval()
    stream, first = Monolingual(only_last(languages, SHARE), LENGTH, MASK_RATE), 0
    found = measured(checkpoint, languages)
    for number, ((name,), count) in enumerate(stream.parts.items()):
        random, total, asked = np.random.default_rng(0), 0.0, 0
        for start in range(first, first + count, rows):
            batch, counts = stream.draw(range(start, min(start + rows, first + count)), random)
            with torch.no_grad():
                kinds = torch.full_like(batch.ids, number if token_types > 1 else 0)
                theirs = model(input_ids=batch.ids, token_type_ids=kinds, labels=batch.labels).loss
            total, asked = total + counts["mlm"] * float(theirs), asked + counts["mlm"]
        assert count > rows and found[name] == (pytest.approx(total / asked, rel=1e-5), asked)
        first += count


def test_masked_loss_equals_pretraining_loss():
    model, batch = build(MODEL, TYPES).eval(), rows(0)
    with torch.no_grad():
        expected = float(prediction_loss(model, batch)) / batch.labelled
    loss, count, shuffled = masked_loss(model, batch, 50, seed=0)
    assert loss == pytest.approx(expected, rel=1e-5)
    assert count == batch.labelled
    assert shuffled.shape == (50,)
