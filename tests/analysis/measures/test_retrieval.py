"""Sentence retrieval against a search one sentence at a time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from analysis.aligners.encoder import Encoder
from analysis.aligners.subwords import SubWords
from analysis.measures.retrieval import NEIGHBOURS, cosine, csls, found, retrievals, sentence_vectors
from derive.errors import BadInput
from derive.links.aligner import LeftOut, Pair
from derive.readers.conllu import read_conllu
from tests.analysis.aligners.conftest import LENGTH, bert, roberta, sentence_pairs

__all__ = ["bert", "roberta", "sentence_pairs"]  # fixtures


def drawn(n: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Vectors, and the same with noise, some of them near to all others."""
    random = torch.Generator().manual_seed(seed)
    source = torch.randn(n, 5, generator=random)
    target = source + torch.randn(n, 5, generator=random)
    target[0] = source.mean(0)
    return source, target


@given(st.integers(2, 25), st.integers(0, 99))
def test_scores_are_those_of_one_pair_after_the_other(n: int, seed: int) -> None:
    source, target = (rows.numpy().astype(float) for rows in drawn(n, seed))

    def cos(a: np.ndarray, b: np.ndarray) -> float:
        return float(a @ b / np.sqrt((a @ a) * (b @ b)))

    cosines = np.array([[cos(a, b) for b in target] for a in source])
    near = [np.mean(sorted(row)[-NEIGHBOURS:]) for row in cosines]
    near_back = [np.mean(sorted(column)[-NEIGHBOURS:]) for column in cosines.T]
    corrected = [[2 * cosines[i, j] - near[i] - near_back[j] for j in range(n)] for i in range(n)]
    for measure, slow in ((cosine, cosines), (csls, np.array(corrected))):
        scores = measure(*map(torch.from_numpy, (source, target)))
        assert scores.numpy() == pytest.approx(slow, abs=1e-9)
        forward, back = found(scores)
        others = [[slow[i, j] for j in range(n) if j != i] for i in range(n)]
        others_back = [[slow[j, i] for j in range(n) if j != i] for i in range(n)]
        assert forward.tolist() == [slow[i, i] > max(others[i]) for i in range(n)]
        assert back.tolist() == [slow[i, i] > max(others_back[i]) for i in range(n)]


def test_a_tie_is_no_find_and_translations_that_are_alike_are_all_found() -> None:
    same = torch.ones(4, 3)
    assert not np.any(found(cosine(same, same)))
    apart = torch.eye(4)
    assert np.all(found(cosine(apart, 7 * apart))) and np.all(found(csls(apart, apart)))


def test_every_pair_layer_and_measure_stands_once() -> None:
    vectors = {name: torch.stack(drawn(12, seed)) for seed, name in enumerate(("en", "fr", "de"))}
    made = list(retrievals(vectors))
    names = [(one.first, one.second, one.layer, one.metric) for one in made]
    assert len(set(names)) == len(names) == 3 * 2 * 2
    assert [one for one in names if one[:2] == ("fr", "de")] == [
        ("fr", "de", layer, metric) for layer in (0, 1) for metric in ("cosine", "csls")
    ]
    (one,) = (one for one in retrievals(vectors, [1]) if (one.first, one.second, one.metric) == ("fr", "de", "csls"))
    assert np.array_equal(one.forward, found(csls(vectors["fr"][1], vectors["de"][1]))[0])
    assert np.array_equal(one.back, found(csls(vectors["fr"][1], vectors["de"][1]))[1])
    with pytest.raises(ValueError, match="no translations"):
        list(retrievals(vectors | {"hi": torch.ones(2, 11, 5)}))


@pytest.mark.parametrize("family", ["roberta", "bert"])
def test_a_vector_is_the_mean_of_a_sentences_own_sub_words(
    family: str, sentence_pairs: list[Pair], request: pytest.FixtureRequest
) -> None:
    folder: Path = request.getfixturevalue(family)
    encoder, pieces, left_out = Encoder(folder), SubWords(folder), LeftOut()
    long = tuple(sentence_pairs[0][0]) * 60
    sentences = [side for pair in sentence_pairs[:20] for side in pair] + [long]
    vectors = sentence_vectors(encoder, pieces, sentences, left_out)
    assert vectors.shape == (4, 41, 32)
    room = LENGTH - len(pieces.before) - len(pieces.after)
    for place in (0, 7, 40):
        ids = [i for word in pieces(sentences[place]) for i in word][:room]
        alone = encoder([[*pieces.before, *ids, *pieces.after]])
        for layer, hidden in enumerate(alone):
            first = len(pieces.before)
            mean = hidden[0, first : first + len(ids)].mean(0)
            assert torch.allclose(vectors[layer, place], mean, atol=1e-5)
    assert list(left_out.counts.values()) == [sum(map(len, pieces(long))) - room]
    with pytest.raises(BadInput, match="sentence 2 has no sub-words"):
        sentence_vectors(encoder, pieces, [sentences[0], ()], left_out)


def test_the_real_encoder_finds_most_translations(calque_data: Path, calque_encoder: Path) -> None:
    encoder, pieces, left_out = Encoder(calque_encoder), SubWords(calque_encoder), LeftOut()
    vectors = {}
    for code, name in (("en", "English"), ("fr", "French")):
        trees = read_conllu(calque_data / "ud" / f"UD_{name}-PUD" / f"{code}_pud-ud-test.conllu")
        sentences = [sentence.words for sentence, _ in zip(trees, range(100), strict=False)]
        vectors[code] = sentence_vectors(encoder, pieces, sentences, left_out)
    rates = {
        (one.metric, one.layer): (one.forward.mean(), one.back.mean())
        for one in retrievals(vectors, [0, encoder.layers])
    }
    assert min(rates["cosine", encoder.layers]) > 0.95 and min(rates["csls", encoder.layers]) > 0.95
    assert not left_out.counts
