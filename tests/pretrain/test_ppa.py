from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load_file
from torch.nn import functional as F

from calque.derive.vocabulary import OURS
from calque.pretrain.model import build, prediction_loss
from calque.pretrain.modules import MoCo
from calque.pretrain.objective import Sum
from calque.pretrain.objectives.mlm import MLM
from calque.pretrain.objectives.xlm import MOCO, PPA
from tests.pretrain.made import SIZE, STILL, TRAIN, check_resumes, first_update, of_study, only

DEEP = replace(STILL, layers=2, initializer_range=0.2)
SMALL = PPA(1.0, queue=20, momentum=0.8, dimensions=9, temperature=0.2)


def made(languages, objective=SMALL):
    return only(objective, languages), objective.learner(build(DEEP, 2 * SIZE), 0)


def sentences(batch, side):
    found = []
    for row, (n, m) in zip(batch.clean.tolist(), batch.sides.tolist(), strict=True):
        ids = row[1 : n + 1] if side == 0 else row[n + 2 : n + m + 2]
        found.append([OURS.start, *ids, OURS.end])
    return found


def vector(model, projection, ids):
    """z = W2 ReLU(W1 h), normalised, in double precision; h is the first position's normalised vector."""
    h = model.roberta(torch.tensor([ids])).last_hidden_state[0, 0].double()
    w1, w2 = projection.inner.weight.double(), projection.outer.weight.double()
    z = w2 @ torch.relu(w1 @ (h / h.norm()))
    return z / z.norm()


@torch.no_grad()
def test_contrastive_loss_by_hand(languages):
    stream, learner = made(languages)
    own = learner.own[MOCO]
    for parameter in learner.model.parameters():  # an update that the slow encoder has not followed
        parameter.add_(0.05 * torch.randn_like(parameter))
    slow = {name: p.clone() for name, p in own.slow.model.named_parameters()}
    live = dict(learner.model.named_parameters())
    queue = own.queue.clone()
    batch, counts = stream.draw(range(6), np.random.default_rng(0))
    ((keyed,), more) = stream.before_step(first_update(learner), [batch])
    for name, p in own.slow.model.named_parameters():
        torch.testing.assert_close(p, 0.8 * slow[name] + 0.2 * live[name])
    learner.eval()
    losses = stream.losses(learner, keyed)
    keys = [vector(own.slow.model, own.slow_projection.model, ids) for ids in sentences(batch, 1)]
    total = 0.0
    for ids, key in zip(sentences(batch, 0), keys, strict=True):
        query = vector(learner.model, own.projection, ids)
        logits = torch.stack([query @ other for other in (key, *queue.double())]) / 0.2
        assert len(logits) == 1 + 20
        total -= float(F.log_softmax(logits, 0)[0])
    assert counts == {"tlm": batch.rows.labelled, MOCO: len(batch)} and more == {} and len(batch) > 5
    assert float(losses[MOCO]) == pytest.approx(total, rel=1e-5)
    assert float(losses["tlm"]) == pytest.approx(float(prediction_loss(learner.model, batch.rows)))
    assert int(own.taken) == len(batch)
    torch.testing.assert_close(own.queue[: len(batch)].double(), torch.stack(keys), rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(own.queue[len(batch) :], queue[len(batch) :])


@given(st.lists(st.integers(0, 9), min_size=1, max_size=9))
def test_queue_holds_the_last_keys(sizes):
    own = MoCo(build(DEEP, 50), queue=5, dimensions=2)
    first = own.queue.clone()
    keys = torch.arange(2.0 * sum(sizes)).view(-1, 2)
    for some in keys.split(sizes):
        own.enqueue(some)
    expected = first
    for number, key in enumerate(keys):
        expected[number % 5] = key
    torch.testing.assert_close(own.queue, expected)
    assert int(own.taken) == sum(sizes)


@torch.no_grad()
def test_ppa_without_tlm_keeps_the_contrast(languages):
    expected = {}
    for beside in ("TLM", "", "MLM"):
        stream, learner = made(languages, replace(SMALL, beside=beside))
        learner.eval()
        batch, counts = stream.draw(range(6), np.random.default_rng(0))
        ((keyed,), _) = stream.before_step(first_update(learner), [batch])
        losses = {name: float(loss) for name, loss in stream.losses(learner, keyed).items()}
        terms = {MOCO, *([beside.lower()] * bool(beside))}
        assert losses.keys() == counts.keys() == stream.weights.keys() == terms
        assert losses[MOCO] == pytest.approx(expected.setdefault(MOCO, losses[MOCO]))
    total, asked = 0.0, 0
    for row, labels, (n, m) in zip(batch.rows.ids, batch.rows.labels, batch.sides.tolist(), strict=True):
        for a, size in ((1, n), (n + 2, m)):
            ids = torch.tensor([[OURS.start, *row[a : a + size].tolist(), OURS.end]])
            wanted = labels[a : a + size]
            logits = learner.model(input_ids=ids).logits[0, 1:-1].double()
            total += float(F.cross_entropy(logits, wanted, ignore_index=-100, reduction="sum"))
            asked += int((wanted != -100).sum())
    assert losses["mlm"] == pytest.approx(total, rel=1e-5) and counts["mlm"] == asked > 10


def test_stopped_run_resumes_with_its_queue(study, tmp_path):
    config = of_study(study, Sum("both", (MLM(), SMALL)), train=replace(TRAIN, weight_decay=0.1))
    names = load_file(check_resumes(tmp_path, config, 3, 7, 11) / "model.safetensors").keys()
    assert names and not [name for name in names if MOCO in name]
