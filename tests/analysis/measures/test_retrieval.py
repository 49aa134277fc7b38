from collections import Counter

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from calque.analysis.aligners import open_encoder
from calque.analysis.measures.alignment import cosine, found, retrieval, sentence_vectors
from calque.analysis.records.record import MeasuredModel
from calque.derive.readers.conllu import read_conllu
from calque.derive.vocabulary import open_vocabulary
from tests.refusals import refusal


def drawn(n, seed):
    random = torch.Generator().manual_seed(seed)
    source = torch.randn(n, 5, generator=random)
    target = source + torch.randn(n, 5, generator=random)
    target[0] = source.mean(0)
    return source, target


@given(st.integers(2, 25), st.integers(0, 99))
def test_retrieval_equals_brute_force(n, seed):
    source, target = (rows.numpy().astype(float) for rows in drawn(n, seed))

    def cos(a, b):
        return float(a @ b / np.sqrt((a @ a) * (b @ b)))

    cosines = np.array([[cos(a, b) for b in target] for a in source])
    scores = cosine(*map(torch.from_numpy, (source, target)))
    assert scores.numpy() == pytest.approx(cosines, abs=1e-9)
    forward, back = found(scores), found(scores.T)
    others = [[cosines[i, j] for j in range(n) if j != i] for i in range(n)]
    others_back = [[cosines[j, i] for j in range(n) if j != i] for i in range(n)]
    assert forward.tolist() == [cosines[i, i] > max(others[i]) for i in range(n)]
    assert back.tolist() == [cosines[i, i] > max(others_back[i]) for i in range(n)]


def test_real_encoder_finds_most_translations(calque_data, calque_encoder):
    encoder, vocabulary = open_encoder(calque_encoder), open_vocabulary(calque_encoder)
    left_out = Counter()
    vectors = {}
    for code, name in (("en", "English"), ("fr", "French")):
        trees = read_conllu(calque_data / "ud" / f"UD_{name}-PUD" / f"{code}_pud-ud-test.conllu")
        sentences = [sentence.words for sentence, _ in zip(trees, range(100), strict=False)]
        vectors[code] = sentence_vectors(encoder, vocabulary, sentences, left_out)
    scores = cosine(vectors["en"][-1], vectors["fr"][-1])
    assert min(found(scores).mean(), found(scores.T).mean()) > 0.95
    assert not left_out


@pytest.mark.parametrize("second", [[], ["cat"]])
def test_retrieval_needs_two_sentences(roberta, second):
    sentences = {"en": [["dog"], ["cat"]], "xx": [second, []]}
    message = refusal(retrieval, MeasuredModel(roberta, "run"), sentences, 2)
    assert message == f"retrieval needs at least 2 sentences in every language, not {len(second)}"
