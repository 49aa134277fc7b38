import pytest

from calque.derive.grammar import orders
from calque.derive.readers.conllu import read_conllu
from calque.derive.readers.examples import read_iob2
from calque.derive.sources.everyday import TREEBANK, french_order, opened
from calque.derive.sources.files import EVERYDAY

CONTENTS = opened().facts["contents"]


@pytest.mark.parametrize("split", ["train", "dev", "test"])
def test_tags_trees_and_entities_have_the_same_words(split):
    path = EVERYDAY / TREEBANK.format(split)
    trees, entities = list(read_conllu(path)), list(read_iob2(path))
    assert [s.words for s in trees] == [s.words for s in entities]
    assert all(s.heads and s.relations for s in trees)
    assert {span.label for s in entities for span in s.spans} == {"PER", "ORG", "LOC"}
    assert len(trees) == CONTENTS[path.name]["sentences"]


def test_french_order_is_shipped(tmp_path, monkeypatch):
    monkeypatch.setenv("CALQUE_DATA", str(tmp_path))
    order = french_order()
    assert order.name == "syn-fr"
    probabilities = order.superstrate.grammar(tmp_path).probabilities(("ADJ amod", "DET det", "@NOUN @"))
    determiner_noun_adjective = (1, 2, 0)
    assert orders(3)[probabilities.argmax()] == determiner_noun_adjective
