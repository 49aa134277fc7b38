from collections import Counter

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from calque.analysis.aligners.encoder import SubWords, open_encoder
from calque.analysis.measures.alignment import CSLS_NEIGHBOURS, cosine, csls
from calque.analysis.measures.retrieval import (
    MARGIN_NEIGHBOURS,
    PARTS,
    found,
    margin,
    mined,
    retrieval,
    sentence_vectors,
)
from calque.analysis.records.record import MeasuredModel
from calque.derive.readers.conllu import read_conllu
from tests.refusals import refusal


def by_csls(source, target):
    return csls(cosine(source, target))


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
    near = [np.mean(sorted(row)[-CSLS_NEIGHBOURS:]) for row in cosines]
    near_back = [np.mean(sorted(column)[-CSLS_NEIGHBOURS:]) for column in cosines.T]
    corrected = [[2 * cosines[i, j] - near[i] - near_back[j] for j in range(n)] for i in range(n)]
    for measure, slow in ((cosine, cosines), (by_csls, np.array(corrected))):
        scores = measure(*map(torch.from_numpy, (source, target)))
        assert scores.numpy() == pytest.approx(slow, abs=1e-9)
        forward, back = found(scores)
        others = [[slow[i, j] for j in range(n) if j != i] for i in range(n)]
        others_back = [[slow[j, i] for j in range(n) if j != i] for i in range(n)]
        assert forward.tolist() == [slow[i, i] > max(others[i]) for i in range(n)]
        assert back.tolist() == [slow[i, i] > max(others_back[i]) for i in range(n)]


def test_real_encoder_finds_most_translations(calque_data, calque_encoder):
    encoder, pieces, left_out = open_encoder(calque_encoder), SubWords(calque_encoder), Counter()
    vectors = {}
    for code, name in (("en", "English"), ("fr", "French")):
        trees = read_conllu(calque_data / "ud" / f"UD_{name}-PUD" / f"{code}_pud-ud-test.conllu")
        sentences = [sentence.words for sentence, _ in zip(trees, range(100), strict=False)]
        vectors[code] = sentence_vectors(encoder, pieces, sentences, left_out)
    for similarity in (cosine, by_csls):
        assert min(map(np.mean, found(similarity(vectors["en"][-1], vectors["fr"][-1])))) > 0.95
    assert not left_out


@pytest.mark.parametrize("second", [[], ["cat"]])
def test_retrieval_needs_two_sentences(roberta, second):
    sentences = {"en": [["dog"], ["cat"]], "xx": [second, []]}
    message = refusal(retrieval, MeasuredModel(roberta, "run"), sentences, 2)
    assert message == f"retrieval needs at least 2 sentences in every language, not {len(second)}"


def rows(count, seed, width=16):
    return torch.randn(count, width, generator=torch.Generator().manual_seed(seed))


def xtremes(source, target):
    groups = len(source) // PARTS
    middle, end = groups // 2 * PARTS, groups * PARTS

    def mine(low, high):
        first = [i for i in range(low, high) if i % PARTS != 3]
        second = [i for i in range(low, high) if i % PARTS != 2]
        sides = (source[first], target[second])
        x, y = (torch.nn.functional.normalize(rows, dim=1).double().numpy() for rows in sides)
        cosines = x @ y.T
        near_x = [sorted(range(len(y)), key=lambda j: -cosines[i, j])[:4] for i in range(len(x))]
        near_y = [sorted(range(len(x)), key=lambda i: -cosines[i, j])[:4] for j in range(len(y))]
        mean_x = [np.mean([cosines[i, j] for j in near]) for i, near in enumerate(near_x)]
        mean_y = [np.mean([cosines[i, j] for i in near]) for j, near in enumerate(near_y)]

        def score(i, j):
            return float(cosines[i, j] / ((mean_x[i] + mean_y[j]) / 2))

        proposed = [max((score(i, j), i, j) for j in near) for i, near in enumerate(near_x)]
        proposed += [max((score(i, j), i, j) for i in near) for j, near in enumerate(near_y)]
        made, seen_first, seen_second = [], set(), set()
        for value, i, j in sorted(proposed, reverse=True):
            if i not in seen_first and j not in seen_second:
                seen_first.add(i)
                seen_second.add(j)
                made.append((value, first[i] == second[j]))
        return made

    dev, test = mine(0, middle), mine(middle, end)
    threshold = best = 0.0
    for extracted in range(1, len(dev) + 1):
        correct = sum(right for _, right in dev[:extracted])
        f1 = 2 * correct / (extracted + middle // 2)
        if f1 > best:
            best, after = f1, min(extracted, len(dev) - 1)
            threshold = (dev[extracted - 1][0] + dev[after][0]) / 2
    said = [right for value, right in test if value >= threshold]
    return 2 * sum(said) / (len(said) + (end - middle) // 2)


@given(st.integers(2, 12), st.floats(0.0, 3.0), st.integers(0, 10_000))
def test_mining_equals_xtremes_evaluation(groups, noise, seed):
    source = rows(groups * PARTS, seed) + 1  # so that cosines are positive, as between an encoder's states
    target = source + noise * rows(len(source), seed + 1)
    found, _ = mined(source, target)
    assert found == pytest.approx(xtremes(source, target), abs=1e-12)


def test_margin_equals_artetxe_and_schwenk():
    source, target = rows(9, 0), rows(7, 1)
    cosines = torch.nn.functional.cosine_similarity(source[:, None], target[None], dim=2).numpy()
    near = [np.sort(cosines, axis=axis) for axis in (1, 0)]
    k = MARGIN_NEIGHBOURS
    x, y = near[0][:, -k:].sum(1) / (2 * k), near[1][-k:].sum(0) / (2 * k)
    np.testing.assert_allclose(margin(source, target).numpy(), cosines / (x[:, None] + y[None]), rtol=1e-4)
