from dataclasses import replace

import numpy as np
import pytest
import torch

from calque.pretrain.model import build, state_of
from calque.pretrain.modules import Learner
from calque.pretrain.objective import Update
from calque.pretrain.objectives.dictionary import RotateMLM
from calque.pretrain.objectives.mlm import MLM
from calque.pretrain.train import make_optimizer
from tests.pretrain.made import (
    LANGUAGE,
    SIZE,
    STILL,
    TRAIN,
    check_resumes,
    fit,
    new_learner,
    of_study,
    one_process,
    only,
)

WORDS = "model.roberta.embeddings.word_embeddings.weight"


def entries(languages):
    source, derived = torch.from_numpy(languages.dictionary("source", LANGUAGE)).T
    return source, derived


def trained(objective, languages, steps, of):
    learner, config = new_learner(objective), replace(TRAIN, steps=of)
    optimizer = make_optimizer(learner, config)
    fit(learner, objective.streams(languages, STILL.length, 0), config, optimizer, last=steps)
    return learner, optimizer


def test_rotate_mlm_is_mlm_until_its_step(languages):
    mlm, ours = (trained(objective, languages, 5, 10)[0] for objective in (MLM(), RotateMLM()))
    assert all(a.equal(b) for a, b in zip(state_of(mlm).values(), state_of(ours).values(), strict=True))
    mlm, ours = (trained(objective, languages, 6, 10)[0] for objective in (MLM(), RotateMLM()))
    before, after = (state_of(learner)[WORDS][SIZE + 5 :] for learner in (mlm, ours))
    assert (before - after).abs().max() > 0.1


def by_hand(table, source, derived):
    """The derived rows after the rotation found by Kabsch's algorithm, and the rotation."""
    start, end = table[derived].mean(0), table[source].mean(0)
    u, _, vt = np.linalg.svd((table[derived] - start).T @ (table[source] - end))
    return (table[SIZE + 5 : 2 * SIZE] - start) @ (u @ vt) + end, u @ vt


def test_only_derived_rows_and_moments_rotate(languages):
    learner, optimizer = trained(MLM(), languages, 5, 10)
    table = learner.model.get_input_embeddings().weight
    moments = optimizer.state[table]
    before = {name: tensor.clone() for name, tensor in state_of(learner).items()}
    mean, square = moments["exp_avg"].clone(), moments["exp_avg_sq"].clone()
    only(RotateMLM(), languages).before_step(Update(learner, one_process(), optimizer, 5, 10), [])
    source, derived = (ids.numpy() for ids in entries(languages))
    expected, matrix = by_hand(before[WORDS].double().numpy(), source, derived)
    np.testing.assert_allclose(table.detach()[SIZE + 5 :].numpy(), expected, atol=1e-5)
    np.testing.assert_allclose(matrix @ matrix.T, np.eye(STILL.hidden), atol=1e-9)
    for name, old, turn in (("exp_avg", mean, matrix), ("exp_avg_sq", square, matrix**2)):
        rotated = old.double().numpy()[SIZE + 5 :] @ turn
        np.testing.assert_allclose(moments[name][SIZE + 5 :].numpy(), rotated, rtol=1e-3, atol=1e-7)
        assert moments[name][: SIZE + 5].equal(old[: SIZE + 5])
    # A row's share of the updates is unchanged.
    torch.testing.assert_close(moments["exp_avg_sq"].sum(1), square.sum(1))
    assert table.detach()[: SIZE + 5].equal(before[WORDS][: SIZE + 5])
    after = state_of(learner)
    assert [name for name in after if not after[name].equal(before[name])] == [WORDS]


def test_rotated_translations_become_equal(languages):
    model = build(STILL, 2 * SIZE)
    model.lm_head.decoder.weight = torch.nn.Parameter(model.get_input_embeddings().weight.detach().clone())
    turns = [torch.linalg.qr(torch.randn(STILL.hidden, STILL.hidden))[0] for _ in range(2)]
    tables = [model.get_input_embeddings().weight, model.get_output_embeddings().weight]
    with torch.no_grad():
        for table, turn in zip(tables, turns, strict=True):
            table[SIZE + 5 :] = table[5:SIZE] @ turn + torch.randn(STILL.hidden)
    learner = Learner(model, {})
    update = Update(learner, one_process(), make_optimizer(learner, TRAIN), 6, 12)
    only(RotateMLM(), languages).before_step(update, [])
    for table in tables:
        torch.testing.assert_close(table[SIZE + 5 :], table[5:SIZE], atol=1e-4, rtol=0)


@pytest.mark.parametrize("stops", [(3, 7), (6, 9)])
def test_run_stopped_near_the_rotation_resumes(stops, study, tmp_path):
    check_resumes(tmp_path, of_study(study, RotateMLM()), *stops)
