import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.linalg import block_diag
from scipy.special import log_softmax

from calque.analysis.aligners import OT
from calque.derive.errors import BadInput
from calque.derive.vocabulary import OURS
from calque.pretrain.model import build
from calque.pretrain.objectives import parse
from calque.pretrain.objectives.linked_words import CONTRAST, GROUP, LABELLED, AlignerTraining
from tests.pretrain.made import SIZE, STILL, only

GOLD, LABELS = AlignerTraining(labels="gold"), ("gold", "agreement", "agreement", "self")


def model_of(seed=0):
    model = build(STILL, 2 * SIZE, seed=seed).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.05 * torch.randn_like(parameter))
    return model


def words_of(model, ids, pieces, layer):
    row = torch.tensor([[OURS.start, *ids.tolist(), OURS.end]])
    states = model(row, output_hidden_states=True).hidden_states[layer][0, 1:-1].double().numpy()
    return np.stack([part.mean(0) for part in np.split(states, np.cumsum(pieces)[:-1])])


def unit(words):
    words = words - words.mean(0)
    return words / np.linalg.norm(words, axis=1, keepdims=True)


def groups_of(one, instances):
    (bitext,) = one.bitexts
    pairs = [int(pair) for instance in instances for pair in one.groups[instance]]
    pairs.sort(key=lambda pair: sum(map(len, bitext.ids(pair))))
    return [group.tolist() for group in np.array_split(pairs, math.ceil(len(pairs) / GROUP))]


def expected(one, model, layer, instances, labels, least):
    (bitext,) = one.bitexts
    total = np.zeros(3)
    for group in groups_of(one, instances):
        units, tables = [[], []], []
        for pair in group:
            corpora = (bitext.first.corpus, bitext.second.corpus)
            sides = zip(bitext.ids(pair), corpora, bitext.lines[pair], strict=True)
            means = [words_of(model, ids, corpus.pieces[line], layer) for ids, corpus, line in sides]
            cosines = unit(means[0]) @ unit(means[1]).T
            table = np.zeros(cosines.shape)
            if labels == "self":
                states = [torch.tensor(side)[None].float() for side in means]
                masks = [torch.ones(1, side.shape[1], dtype=torch.bool) for side in states]
                table[tuple(OT.extract(OT.score(*states, *masks), *masks)[:, 1:].T.tolist())] = 1
                total[1] += sum(table.shape)
            else:
                table[tuple(bitext.links(pair).T)] = 1
                total[1] += table.any(0).sum() + table.any(1).sum()
            if labels == "agreement":
                table *= np.exp((log_softmax(10 * cosines, 0) + log_softmax(10 * cosines, 1)) / 2) >= least
            total[2] += table.any(0).sum() + table.any(1).sum()
            tables.append(table)
            for side, own in zip(units, means, strict=True):
                side.append(unit(own))
        logits, linked = np.concatenate(units[0]) @ np.concatenate(units[1]).T / 0.1, block_diag(*tables)
        for axis in (0, 1):
            share = linked / np.maximum(linked.sum(axis, keepdims=True), 1)
            total[0] -= float((share * log_softmax(logits, axis=axis)).sum())
    return total


@pytest.mark.parametrize("layer", [1, 2])
@pytest.mark.parametrize(("labels", "least"), [*zip(LABELS, (0.1, 0.1, 0.2, 0.1), strict=True)])
@torch.no_grad()
def test_loss_by_hand(languages, labels, least, layer):
    one, model = only(replace(GOLD, layer=layer), languages), model_of()
    chosen = [0, 3, 4, 9, 11, 12, 17, 20, 21]
    # Gold links replace fast_align's agreement.
    one.objective = replace(one.objective, labels=labels, least=least)
    batch, counts = one.draw(chosen, np.random.default_rng(0))
    learner = one.objective.learner(model, 0)
    losses = [one.losses(learner, piece) for piece in one.pieces(batch)]
    loss, words, labelled = expected(one, model, layer, chosen, labels, least)
    assert len(losses) > 1 and counts == {CONTRAST: words, LABELLED: words}
    assert sum(float(each[CONTRAST]) for each in losses) == pytest.approx(loss, rel=1e-4)
    assert sum(float(each[LABELLED]) for each in losses) == labelled > 0
    assert (labelled < words) == (labels != "gold")


def test_threshold_needs_labels_by_agreement():
    with pytest.raises(BadInput, match="requires labels by agreement, but the labels are self"):
        parse("ALIGNER-self-least20")
