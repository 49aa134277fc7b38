import dataclasses
import hashlib
import json
from collections import Counter
from functools import cache
from itertools import islice

import numpy as np
import pytest

from calque.analysis.tasks.score import Gazetteer, Unigram, entity_f1
from calque.derive.pocket.language import CHUNK, Pocket
from calque.derive.pocket.tree import ORDERS
from calque.derive.sentence import Example, iob2

POCKET = Pocket(600)


@cache
def in_order(name):
    return tuple(Pocket(600, order=name).sentences(3_000))


def ancestors(sentence, i):
    for _ in range(len(sentence)):
        i = sentence.heads[i]
        if i < 0:
            return
        yield i
    raise AssertionError(f"a cycle in {sentence}")


def test_trees_are_projective_with_one_root():
    for sentence in in_order("english"):
        assert sentence.heads.count(-1) == 1
        assert sentence.relations[sentence.heads.index(-1)] == "root"
        for i, head in enumerate(sentence.heads):
            list(ancestors(sentence, i))
            if head >= 0:
                for between in range(min(i, head) + 1, max(i, head)):
                    assert head in ancestors(sentence, between), sentence


def test_chunks_make_up_the_stream():
    stream = list(POCKET.sentences(2 * CHUNK + 10, stream=4))
    assert list(POCKET.chunk(4, 1)) == stream[CHUNK : 2 * CHUNK]
    assert list(islice(POCKET.chunk(4, 2), 10)) == stream[2 * CHUNK :]
    assert list(POCKET.sentences(50, stream=5)) != stream[:50]
    assert list(Pocket(600, seed=1).sentences(50, stream=4)) != stream[:50]


def words(sentence):
    """The words, with `a` for `an`, since the choice depends on the order."""
    return Counter("a" if word == "an" else word for word in sentence.words)


@pytest.mark.parametrize("name", [name for name in ORDERS if name != "english"])
def test_other_orders_have_english_words_and_relations(name):
    for english, sister in zip(in_order("english"), in_order(name), strict=True):
        assert words(sister) == words(english)
        assert sorted(zip(sister.tags, sister.relations, strict=True)) == sorted(
            zip(english.tags, english.relations, strict=True)
        )
        assert sister.origin == tuple(range(len(sister)))


GOLDEN = {
    "english": "4c9ffc941e6a3d3dc43a9934638fea11",
    "romance": "3ef3bdcca9335fa1aa75393e88f0ba48",
    "verbfinal": "4762deb5238633b7d98d29dfd14dbc07",
}


def digest(made):
    total = hashlib.sha256()
    for one in made:
        total.update(json.dumps(dataclasses.asdict(one, dict_factory=filled)).encode())
    return total.hexdigest()[:32]


def filled(columns):
    assert not any(value for name, value in columns if name in ("glued", "sources", "id"))
    return {name: value for name, value in columns if name not in ("glued", "sources", "id")}


@pytest.mark.parametrize("order", GOLDEN)
def test_sentences_are_as_recorded(order):
    assert digest(Pocket(600, order=order).sentences(1_000)) == GOLDEN[order]


SIZES = pytest.mark.parametrize("types", [300, 600])
TRAIN, TEST = 1, 2


@cache
def drawn(types, stream):
    return tuple(Pocket(types).sentences(3_000, stream, withhold=stream == TRAIN))


def examples(types, stream):
    return [Example(((sentence,),)) for sentence in drawn(types, stream)]


@SIZES
def test_word_table_tags_at_most_nine_words_in_ten(types):
    tags = [sentence.tags for sentence in drawn(types, TRAIN)]
    predict = Unigram().learn(zip(examples(types, TRAIN), tags, strict=True), str)
    predicted = np.concatenate(predict(examples(types, TEST), str))
    assert np.mean(predicted == np.concatenate([sentence.tags for sentence in drawn(types, TEST)])) <= 0.90


@SIZES
def test_training_names_find_at_most_three_entities_in_four(types):
    gold = [iob2(sentence) for sentence in drawn(types, TRAIN)]
    predict = Gazetteer().learn(zip(examples(types, TRAIN), gold, strict=True), str)
    predicted = predict(examples(types, TEST), str)
    assert entity_f1([iob2(sentence) for sentence in drawn(types, TEST)], predicted).value <= 0.75
