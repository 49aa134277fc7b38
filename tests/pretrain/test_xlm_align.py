from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
import torch

from calque.derive.vocabulary import OURS
from calque.pretrain.batch import UNLABELLED
from calque.pretrain.model import prediction_loss
from calque.pretrain.objectives.xlm import DWA, XLMAlign
from tests.pretrain.made import STILL, TRAIN, first_update, fit, new_learner, only
from tests.pretrain.test_transport import links_by_hand

DEEP = replace(STILL, layers=3)
SWITCHES = [{}, {"label_layer": 1}, {"first": "rows"}, {"filtering": False}, {"layer": 1}, {"labels": "gold"}]
SWITCHES += [{"layer": 2, "tlm": False}, {"queries": "unmasked"}, {"queries": "all-aligned"}]
SWITCHES += [{"queries": "all-aligned", "filtering": False}]


def hidden_states(model, ids, layer):
    output = model.roberta(ids, attention_mask=(ids != OURS.pad).long(), output_hidden_states=True)
    return output.hidden_states[layer].double().numpy()


def labelled_by_hand(h, n, m, dwa):
    plan = np.maximum(1e-6, h[1 : n + 1] @ h[n + 2 : n + m + 2].T)
    for _ in range(2):
        for axis in (0, 1) if dwa.first == "columns" else (1, 0):
            plan = plan / plan.sum(axis, keepdims=True)
    if dwa.filtering:
        return links_by_hand(plan), plan
    links = np.zeros((n, m), bool)
    links[np.arange(n), plan.argmax(1)] = links[plan.argmax(0), np.arange(m)] = True
    return links, plan


def queries_by_hand(batch, row, links, plan, dwa):
    (n, m), dice = batch.sides[row].tolist(), batch.dice[row].tolist()
    pairs = [(1 + i, n + 2 + j) for i, j in np.argwhere(links)]
    if dwa.queries == "all-aligned":
        return [(a, b) if dice[a] < dice[b] else (b, a) for a, b in pairs]
    asked = []
    for place in range(1, n + m + 2):
        masked = bool(batch.rows.labels[row, place] != UNLABELLED)
        asks = masked if dwa.queries == "masked" else not masked and dice[place] < dwa.mask_rate
        ends = [(b if a == place else a, plan[a - 1, b - n - 2]) for a, b in pairs if place in (a, b)]
        if asks and ends:
            asked.append((place, max(ends, key=lambda end: float(end[1]))[0]))
    return asked


@pytest.mark.parametrize("switches", SWITCHES, ids=str)
@torch.no_grad()
def test_losses_and_counts(switches, languages):
    dwa = DWA(**switches)
    stream, learner = only(dwa, languages), new_learner(XLMAlign(**vars(dwa)), DEEP).eval()
    model = learner.model
    batch, counts = stream.draw(range(6), np.random.default_rng(0))
    ((labelled,), more) = stream.before_step(first_update(learner), [batch])
    learner.eval()
    losses = stream.losses(learner, labelled)
    counts = counts | more
    clean = hidden_states(model, batch.clean, dwa.labelling_layer(3))
    masked = hidden_states(model, batch.rows.ids, dwa.layer or 3)
    w, b, v, c = (p.double().numpy() for p in learner.own["pointer"].parameters())
    total, tally = 0.0, Counter()
    for row, (n, m) in enumerate(batch.sides.tolist()):
        gold = np.zeros((n, m), bool)
        gold[np.arange(n), batch.gold[row, :n]] = True
        links, plan = labelled_by_hand(clean[row], n, m, dwa) if dwa.labels == "self" else (gold, gold)
        for place, target in queries_by_hand(batch, row, links, plan, dwa):
            others = range(n + 2, n + m + 2) if place <= n else range(1, n + 1)
            query, keys = masked[row, place] @ w.T + b, [masked[row, other] @ v.T + c for other in others]
            scores = np.array([query @ key for key in keys]) / np.sqrt(DEEP.hidden)
            total -= scores[others.index(target)] - np.log(np.exp(scores).sum())
            tally["dwa"] += 1
        tally["label precision"] += int(links.sum())
        tally["label recall"] += n
        tally["labelled"] += n + m
        tally["right"] += int((links & gold).sum())
        tally["linked"] += int(links.any(1).sum() + links.any(0).sum())
    assert tally["dwa"] > 10
    assert float(losses["dwa"]) == pytest.approx(total, rel=1e-5)
    assert int(losses["label precision"]) == int(losses["label recall"]) == tally.pop("right")
    assert int(losses["labelled"]) == tally.pop("linked")
    assert counts == dict(tally) | ({"tlm": batch.rows.labelled} if dwa.tlm else {})
    assert list(stream.weights) == (["tlm", "dwa"] if dwa.tlm else ["dwa"])
    if dwa.tlm:
        assert float(losses["tlm"]) == pytest.approx(float(prediction_loss(model, batch.rows)), rel=1e-5)


def test_xlm_align_without_dwa_is_tlm(languages):
    with_dwa, without = (only(dwa, languages) for dwa in (DWA(), DWA(queries="none")))
    (a, n), (b, m) = (stream.draw(range(3), np.random.default_rng(5)) for stream in (with_dwa, without))
    assert a.rows.ids.equal(b.rows.ids)
    assert n == m == {"tlm": b.rows.labelled}
    assert without.weights == {"tlm": 1.0}
    learner = new_learner(XLMAlign(queries="none"), DEEP)
    assert not list(learner.own)
    ((same,), counts) = without.before_step(first_update(learner), [b])
    assert same is b
    assert counts == {}
    assert float(without.losses(learner, same)["tlm"].detach()) > 0


def test_labels_take_no_gradient_and_no_dropout(languages):
    noisy = replace(DEEP, dropout=0.5)
    objective, config = XLMAlign(), replace(TRAIN, steps=1, warmup=0)
    learner = new_learner(objective, noisy)
    streams = objective.streams(languages, noisy.length, 0)
    pairs = streams[1]
    plain, made = pairs.label, []

    def label(model, batch):
        assert not model.training
        assert not torch.is_grad_enabled()
        made.append((batch, plain(model, batch)))
        return made[-1][1]

    pairs.label = label
    ((_, seen, _),) = fit(learner, streams, config)
    ((batch, (labelled, counts)),) = made
    assert learner.model.training
    again = plain(new_learner(objective, noisy).model.eval(), batch)[1]
    assert again == counts
    _, _, reported = labelled
    for name, total in reported.items():
        assert seen[name] == pytest.approx(int(total) / counts[name])
