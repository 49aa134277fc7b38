"""Word-aligned BERT against sums over words, each sentence encoded alone by transformers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from derive.errors import BadInput
from derive.languages import Languages
from derive.types import OURS
from pretrain.distributed import ALONE
from pretrain.model import build
from pretrain.objectives.word_aligned import KEPT, LINKED, START, WordAligned, Words
from pretrain.train import make_optimizer, train
from tests.pretrain.made import SIZE, STILL, TRAIN

DEEP = replace(STILL, layers=2)
GOLD = WordAligned(1.0, links="gold")


def stream(languages: Languages, objective: WordAligned = GOLD) -> Words:
    (one,) = objective.streams(languages, DEEP.length, 0)
    assert isinstance(one, Words)
    return one


def last_sub_words(model: Any, ids: np.ndarray, pieces: np.ndarray) -> list[np.ndarray]:
    """The vector of each word of one sentence: that of its last sub-word, in the last layer."""
    row = torch.tensor([[OURS.start, *ids.tolist(), OURS.end]])
    states = model.roberta(row).last_hidden_state[0].double().numpy()
    return [states[end] for end in np.cumsum(pieces)]


@torch.no_grad()
def test_losses_are_sums_over_words(languages: Languages) -> None:
    one, learner = stream(languages), GOLD.learner(build(DEEP, 2 * SIZE), 0)
    for parameter in learner.model.parameters():
        parameter.add_(0.05 * torch.randn_like(parameter))
    learner.eval()
    chosen = [0, 1, 2, 3]
    batch, counts = one.draw(chosen, np.random.default_rng(0))
    losses = one.losses(learner, batch)
    (bitext,) = languages.bitexts
    apart = kept = links = words = 0.0
    for pair in (int(pair) for instance in chosen for pair in one.pairs.groups[instance][1]):
        a, b = bitext.lines[pair]
        (first, second), corpora = bitext.ids(pair), (bitext.first.corpus, bitext.second.corpus)
        source = last_sub_words(learner.model, first, corpora[0].line_pieces(a))
        other = last_sub_words(learner.model, second, corpora[1].line_pieces(b))
        before = last_sub_words(learner.own[START].model, first, corpora[0].line_pieces(a))
        for i, j in bitext.links(pair):
            apart += float(((source[i] - other[j]) ** 2).sum())
        kept += sum(float(((x - y) ** 2).sum()) for x, y in zip(source, before, strict=True))
        links, words = links + len(bitext.links(pair)), words + len(source)
    assert counts == {LINKED: links, KEPT: words} and words > 20
    assert float(losses[LINKED]) == pytest.approx(apart, rel=1e-5)
    assert float(losses[KEPT]) == pytest.approx(kept, rel=1e-5)


def test_translations_come_nearer_and_the_source_stays(languages: Languages) -> None:
    one = stream(languages)
    config = replace(TRAIN, steps=40, warmup=4, batch=12, learning_rate=2e-3)
    ends = {}
    for objective in (GOLD, replace(GOLD, weight=1e-6)):
        learner = objective.learner(build(DEEP, 2 * SIZE), 0)
        one.weights = {LINKED: 1.0, KEPT: objective.weight}
        seen: list[dict[str, float]] = []

        def look(step: int, losses: dict[str, float], norm: float, seen: list[dict[str, float]] = seen) -> None:
            seen.append(losses)

        train(learner, make_optimizer(learner, config), [one], config, 0, ALONE, after=look)
        assert seen[0][KEPT] < 1e-8  # the start is itself
        assert seen[-1][LINKED] < 0.5 * seen[0][LINKED]
        ends[objective.weight] = seen[-1]
    assert ends[1.0][KEPT] < ends[1e-6][KEPT]


def test_the_start_is_not_trained_and_is_in_the_state(languages: Languages) -> None:
    learner = GOLD.learner(build(DEEP, 2 * SIZE), 0)
    assert not any(START in name for name in learner.trained)
    assert any(START in name for name in learner.state)


def test_links_that_there_are_not_are_refused(languages: Languages) -> None:
    with pytest.raises(BadInput, match="WORD-ALIGNED-100 asks for estimated links, and the languages have none"):
        stream(languages, WordAligned(1.0))


@pytest.mark.parametrize("wrong", [{"weight": 0.0}, {"parallel_fraction": 2.0}])
def test_values_that_make_no_sense_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        WordAligned(**wrong)
