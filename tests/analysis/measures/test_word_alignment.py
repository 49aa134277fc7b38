import pytest

from calque.analysis.aligners.methods import METHODS, OT, RELEASED
from calque.analysis.measures.word_alignment import alone_and_joint, score_all
from calque.derive.readers.parallel import Gold, GoldPair
from tests.analysis.conftest import opened


@pytest.fixture
def gold(sentence_pairs):
    links = []
    for source, target in sentence_pairs:
        diagonal = [(i, i) for i in range(min(len(source), len(target)))]
        sure = frozenset((i, j) for i, j in diagonal if source[i][0] < target[j][0])
        links.append(GoldPair(sure, frozenset(diagonal)))
    return Gold(tuple(links), (), {})


@pytest.mark.parametrize(("family", "second"), [("roberta", 0), ("bert", 1)])
def test_one_pass_equals_separate_aligners(family, second, gold, sentence_pairs, request):
    folder = request.getfixturevalue(family)
    rows, left_out = alone_and_joint(
        folder, sentence_pairs, gold, {False: 0, True: second}, "cpu", (OT, RELEASED)
    )
    assert [(row.layer, row.joint, row.method) for row in rows] == [
        (layer, joint, method.name)
        for layer in range(4)
        for joint in (False, True)
        for method in (METHODS if layer == 2 else METHODS[:2])  # two thirds of three layers
    ]
    assert not left_out
    methods = {method.name: method for method in METHODS}
    for row in rows:
        aligner = opened(folder, methods[row.method], row.layer, row.joint)
        assert row.total == score_all(gold.pairs, aligner.align(sentence_pairs))
