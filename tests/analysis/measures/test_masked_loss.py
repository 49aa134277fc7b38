"""The loss of probes against the loss of pretraining, and its null against who reads no context."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from analysis.measures.loss import masked_loss, masked_only, unigram_loss
from pretrain.batch import UNLABELLED, Rows
from pretrain.model import build, prediction_loss
from tests.analysis.measures.test_gradients import MODEL, TYPES, rows


def test_it_is_the_loss_of_pretraining() -> None:
    model, batch = build(MODEL, TYPES).eval(), rows(0)
    with torch.no_grad():
        expected = float(prediction_loss(model, batch)) / batch.labelled
    loss, count, shuffled = masked_loss(model, batch, 50, seed=0)
    assert loss == pytest.approx(expected, rel=1e-5)
    assert count == batch.labelled
    assert shuffled.shape == (50,)


def test_who_says_the_same_everywhere_has_the_same_loss_after_a_shuffle() -> None:
    model, batch = build(MODEL, TYPES).eval(), rows(1)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "lm_head.layer_norm" in name:
                parameter.zero_()
    loss, _, shuffled = masked_loss(model, batch, 20, seed=0)
    assert shuffled == pytest.approx([loss] * 20, rel=1e-6)


def test_who_copies_what_is_shown_leaves_the_null_but_for_ids_behind_a_mask() -> None:
    model, mask = build(MODEL, TYPES).eval(), 4
    random = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if ".output.dense." in name or "position" in name:
                parameter.zero_()  # a layer adds nothing: no id sees another, nor where it stands
    ids = torch.randint(5, TYPES, (16, 12), generator=random)
    asked = torch.rand(ids.shape, generator=random)
    labels = ids.masked_fill(asked > 0.6, UNLABELLED)
    batch = Rows(ids.masked_fill(asked < 0.4, mask), labels, torch.zeros_like(ids), False)
    with torch.no_grad():
        model.roberta.embeddings.word_embeddings.weight.mul_(20)  # and says what it sees
        model.lm_head.dense.weight.copy_(torch.eye(len(model.lm_head.dense.weight)))
    loss, _, shuffled = masked_loss(model, batch, 50, seed=0)
    assert loss < shuffled.min()
    loss, count, shuffled = masked_loss(model, masked_only(batch, mask), 50, seed=0)
    assert count == int((asked < 0.4).sum())
    assert shuffled == pytest.approx([loss] * 50, rel=1e-5)


def test_the_loss_of_frequencies_is_their_cross_entropy() -> None:
    counts = np.array([6, 2, 0, 0])
    assert unigram_loss(np.array([0, 0, 1, 2]), counts) == pytest.approx(-np.log([7, 7, 3, 1]).mean() + np.log(12))


def test_no_masked_id_is_said() -> None:
    model, batch = build(MODEL, TYPES).eval(), rows(0)
    with pytest.raises(ValueError, match="no id is masked"):
        masked_loss(model, Rows(batch.ids, torch.full_like(batch.ids, -100), batch.languages, False), 5, 0)
