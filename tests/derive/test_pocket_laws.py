"""What the tasks of Pocket English ask for: context, and more than training and the corpus showed."""

from collections.abc import Iterator
from functools import cache

import numpy as np
import pytest
from sklearn.feature_extraction import FeatureHasher
from sklearn.linear_model import SGDClassifier

from calque.analysis.tasks.baselines import Gazetteer, Unigram
from calque.analysis.tasks.score import entity_f1
from calque.derive.example import Example
from calque.derive.pocket.language import Pocket
from calque.derive.pocket.lexicon import Lexicon
from calque.derive.sentence import Sentence, iob2

ITEMS = 5_000
SIZES = pytest.mark.parametrize("types", [300, 1_000])
CORPUS, TRAIN, TEST = range(3)


@cache
def known(types: int) -> tuple[Sentence, ...]:
    return tuple(Pocket(types).sentences(ITEMS, TRAIN, withhold=True))


@cache
def asked(types: int) -> tuple[Sentence, ...]:
    return tuple(Pocket(types).sentences(ITEMS, TEST))


def plain(word: str) -> str:
    return word


def examples(sentences: tuple[Sentence, ...]) -> list[Example]:
    return [Example(((sentence,),)) for sentence in sentences]


@SIZES
def test_a_tagger_without_context_is_wrong_for_one_word_in_ten(types: int) -> None:
    learnt = Unigram().learn(zip(examples(known(types)), (s.tags for s in known(types)), strict=True), plain)
    said = learnt(examples(asked(types)), plain)
    right = [a == b for s, tags in zip(asked(types), said, strict=True) for a, b in zip(s.tags, tags, strict=True)]
    assert np.mean(right) <= 0.90


@SIZES
def test_the_words_around_a_word_tell_its_class(types: int) -> None:
    hasher = FeatureHasher(2**18, input_type="string")
    seen, new = (
        hasher.transform(window for sentence in part for window in windows(sentence.words))
        for part in (known(types), asked(types))
    )
    model = SGDClassifier(loss="log_loss", alpha=1e-6, max_iter=6, tol=None, random_state=0)
    model.fit(seen, [tag for sentence in known(types) for tag in sentence.tags])
    assert np.mean(model.predict(new) == np.array([tag for s in asked(types) for tag in s.tags])) >= 0.97


def windows(words: tuple[str, ...]) -> Iterator[list[str]]:
    """Of each word: itself and two on either side, one by one and in twos and threes."""
    padded = ("", "", *words, "", "")
    for a, b, c, d, e in zip(padded, padded[1:], padded[2:], padded[3:], padded[4:], strict=False):
        runs = {"b": (b,), "a": (a,), "c": (c,), "d": (d,), "e": (e,), "bc": (b, c), "cd": (c, d)}
        runs |= {"bcd": (b, c, d), "abc": (a, b, c), "cde": (c, d, e)}
        yield [f"{name}={' '.join(run)}" for name, run in runs.items()]


@SIZES
def test_a_list_of_names_does_not_find_names(types: int) -> None:
    learnt = Gazetteer().learn(zip(examples(known(types)), map(iob2, known(types)), strict=True), plain)
    said = learnt(examples(asked(types)), plain)
    assert entity_f1([iob2(sentence) for sentence in asked(types)], said).value <= 0.75


@SIZES
def test_a_quarter_of_the_tests_names_have_words_that_no_name_of_training_has(types: int) -> None:
    withheld = Lexicon(types, 0).withheld
    assert not withheld & {word for name in names(known(types)) for word in name}
    new = [not withheld.isdisjoint(name) for name in names(asked(types))]
    assert 0.25 <= np.mean(new) <= 0.40


def names(sentences: tuple[Sentence, ...]) -> list[tuple[str, ...]]:
    return [sentence.words[span.start : span.end] for sentence in sentences for span in sentence.spans]


@SIZES
def test_the_corpus_shows_few_of_the_tests_sentences_and_not_all_of_their_grammar(types: int) -> None:
    corpus = list(Pocket(types).sentences(40_000, CORPUS))
    sentences, tags = {sentence.words for sentence in corpus}, {sentence.tags for sentence in corpus}
    assert np.mean([sentence.words in sentences for sentence in asked(types)]) < 0.01
    assert np.mean([sentence.tags in tags for sentence in asked(types)]) < 0.60
