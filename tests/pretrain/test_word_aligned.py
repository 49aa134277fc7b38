from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from calque.derive.vocabulary import OURS
from calque.pretrain.model import build
from calque.pretrain.objectives.linked_words import KEPT, LINKED, START, WordAligned
from tests.pretrain.made import SIZE, STILL, only

DEEP = replace(STILL, layers=2)
GOLD = WordAligned(1.0, links="gold")
FROZEN = replace(GOLD, frozen=True)


def last_sub_words(model, ids, pieces):
    row = torch.tensor([[OURS.start, *ids.tolist(), OURS.end]])
    states = model.roberta(row).last_hidden_state[0].double().numpy()
    return [states[end] for end in np.cumsum(pieces)]


@torch.no_grad()
def test_losses_are_sums_over_words(languages):
    one, learner = only(GOLD, languages), GOLD.learner(build(DEEP, 2 * SIZE), 0)
    for parameter in learner.model.parameters():
        parameter.add_(0.05 * torch.randn_like(parameter))
    learner.eval()
    chosen = [0, 1, 2, 3]
    batch, counts = one.draw(chosen, np.random.default_rng(0))
    losses = one.losses(learner, batch)
    (bitext,) = languages.bitexts
    apart = kept = links = words = 0.0
    for pair in (int(pair) for instance in chosen for pair in one.groups[instance]):
        a, b = bitext.lines[pair]
        (first, second), corpora = bitext.ids(pair), (bitext.first.corpus, bitext.second.corpus)
        source = last_sub_words(learner.model, first, corpora[0].pieces[a])
        other = last_sub_words(learner.model, second, corpora[1].pieces[b])
        before = last_sub_words(learner.own[START].model, first, corpora[0].pieces[a])
        for i, j in bitext.links(pair):
            apart += float(((source[i] - other[j]) ** 2).sum())
        kept += sum(float(((x - y) ** 2).sum()) for x, y in zip(source, before, strict=True))
        links, words = links + len(bitext.links(pair)), words + len(source)
    assert counts == {LINKED: links, KEPT: words} and words > 20
    assert float(losses[LINKED]) == pytest.approx(apart, rel=1e-5)
    assert float(losses[KEPT]) == pytest.approx(kept, rel=1e-5)


def released(one, learner, instances):
    """The loss in the authors' code: means over links and dimensions, with `<s>` and `</s>` as words."""
    (bitext,) = one.bitexts
    corpora = (bitext.first.corpus, bitext.second.corpus)

    def packed(model, ids, pieces):
        row = torch.tensor([[OURS.start, *ids.tolist(), OURS.end]])
        return model.roberta(row).last_hidden_state[0, [0, *np.cumsum(pieces).tolist(), len(ids) + 1]]

    linked, towards, kept, start = [], [], [], []
    for pair in (int(pair) for instance in instances for pair in one.groups[instance]):
        sides = zip(bitext.ids(pair), corpora, bitext.lines[pair], strict=True)
        source, other = ((ids, corpus.pieces[line]) for ids, corpus, line in sides)
        now, before = packed(learner.model, *source), packed(learner.own[START].model, *source).detach()
        foreign = packed(learner.model, *other)
        links = [(0, 0), *((i + 1, j + 1) for i, j in bitext.links(pair)), (len(now) - 1, len(foreign) - 1)]
        linked.append(foreign[[j for _, j in links]])
        towards.append(before[[i for i, _ in links]])
        kept.append(now)
        start.append(before)
    return F.mse_loss(torch.cat(linked), torch.cat(towards)) + F.mse_loss(torch.cat(kept), torch.cat(start))


@pytest.mark.parametrize("pieces", [1, 3])
def test_frozen_objective_equals_the_released_code(languages, pieces):
    one, learner = only(FROZEN, languages), FROZEN.learner(build(DEEP, 2 * SIZE), 0)
    with torch.no_grad():
        for parameter in learner.model.parameters():
            parameter.add_(0.05 * torch.randn_like(parameter))
    chosen = [0, 2, 3, 5, 7]
    batch, counts = one.draw(chosen, np.random.default_rng(0))
    parts = [one.losses(learner, batch.part(i, pieces)) for i in range(pieces)]
    loss = torch.stack([part[name] / counts[name] for part in parts for name in (LINKED, KEPT)]).sum()
    expected = released(one, learner, chosen)
    parameters = list(learner.trained.values())
    ours, theirs = (torch.autograd.grad(x, parameters, allow_unused=True) for x in (loss, expected))
    torch.testing.assert_close(loss, expected, rtol=1e-5, atol=0.0)
    for name, mine, other in zip(learner.trained, ours, theirs, strict=True):
        assert (mine is None) == (other is None), name
        if mine is not None:
            torch.testing.assert_close(mine, other, rtol=1e-4, atol=1e-7)
