from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from calque.derive.languages import Languages
from calque.derive.word_links import PairSample, estimate_links, with_links
from calque.pretrain.batch import UNLABELLED
from calque.pretrain.model import build
from calque.pretrain.objectives.linked_words import EXCHANGE, WEAM
from tests.pretrain.made import SIZE, STILL, only
from tests.translation import SIZE as TYPES
from tests.translation import made, write_translation

DEEP = replace(STILL, layers=3)


def by_hand(learner, batch):
    """L_cp, row by row: H' = A^T H with the rows of A^T normalised, equations 5 to 8 and 10, in double
    precision."""
    rows, own, (links,) = batch.rows, learner.own[EXCHANGE], batch.linked
    with torch.no_grad():
        mask = (rows.ids != 1).long()
        states = learner.model.roberta(rows.ids, attention_mask=mask).last_hidden_state.double()
        w2, b2, w3, b3, w, b = (
            p.double() for layer in (own.exchanged, own.dense, own.linear) for p in layer.parameters()
        )
        table = learner.model.get_input_embeddings().weight.double()
    total, asked = 0.0, 0
    for row in range(len(batch)):
        size = rows.ids.shape[1]
        a = torch.zeros(size, size, dtype=torch.double)
        here = links[0] == row
        for i, j in zip(links[1][here].tolist(), links[2][here].tolist(), strict=True):
            a[i, j] = a[j, i] = 1
        for i in range(size):
            if rows.labels[row, i] != UNLABELLED and a[:, i].sum():
                exchanged = (a[:, i] / a[:, i].sum()) @ states[row]
                hidden = F.gelu((exchanged @ w2.T + b2) @ w3.T + b3) @ w.T + b
                total -= float(F.log_softmax(hidden @ table.T, 0)[rows.labels[row, i]])
                asked += 1
    return total, asked


@torch.no_grad()
def test_loss_with_gold_links_by_hand(languages):
    objective = WEAM(1.0, links="gold")
    learner = objective.learner(build(DEEP, 2 * SIZE), 0).eval()
    made = only(objective, languages)
    batch, counts = made.draw(range(made.instances), np.random.default_rng(0))
    expected, asked = by_hand(learner, batch)
    losses = made.losses(learner, batch)
    assert counts == {"tlm": batch.rows.labelled, EXCHANGE: asked} and asked > 30
    assert float(losses[EXCHANGE]) == pytest.approx(expected, rel=1e-5)
    assert asked == batch.rows.labelled  # a derivation links every sub-word


@pytest.fixture(scope="module")
def translated(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    return folder, Languages.open(write_translation(made(), "xx", TYPES, folder / "pair"), ["xx"])


@torch.no_grad()
def test_loss_with_estimated_links_by_hand(translated):
    folder, languages = translated
    linked = with_links(languages, estimate_links(languages, "source", "xx", folder / "links"))
    objective = WEAM(1.0)
    learner = objective.learner(build(DEEP, TYPES), 0).eval()
    one = only(objective, linked)
    batch, counts = one.draw(range(one.instances), np.random.default_rng(0))
    expected, asked = by_hand(learner, batch)
    assert counts[EXCHANGE] == asked > 5
    assert float(one.losses(learner, batch)[EXCHANGE]) == pytest.approx(expected, rel=1e-5)


def test_links_do_not_depend_on_side_order(languages):
    (bitext,) = languages.bitexts
    batch, _ = only(WEAM(1.0, links="gold"), languages).draw(range(8), np.random.default_rng(3))
    known = {(int(a), int(b)) for a, b in enumerate(languages.tables[1])}
    clean = batch.clean
    ((of, *sides),) = batch.linked
    first, second = (clean[of, at] for at in sides)
    pairs = set(zip(first.tolist(), second.tolist(), strict=True))
    assert pairs <= known | {(b, a) for a, b in known}
    assert pairs & known and not pairs <= known
    for row in range(len(batch)):
        assert int((of == row).sum()) == int(batch.sides[row, 0])
    assert bitext.gold


def test_aligner_reads_only_the_objectives_pairs(translated):
    folder, languages = translated
    (bitext,) = languages.bitexts
    some = PairSample.of(0.5, 3)
    links = estimate_links(languages, "source", "xx", folder / "half", drawn=some)
    (linked,) = with_links(languages, links).bitexts
    chosen = set(bitext.sample(0.5, 3).tolist())
    assert len(chosen) == round(len(bitext) / 2)
    having = {pair for pair in range(len(bitext)) if len(linked.links(pair))}
    assert having and having <= chosen
    assert PairSample.of(1.0, 3) == PairSample() and PairSample.of(0.5, 3) != PairSample.of(0.5, 4)
