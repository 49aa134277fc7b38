from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.tasks.rows import Encoded, Language, encode_split
from analysis.tasks.task import Split
from derive.errors import BadInput
from derive.example import Example
from derive.script import Transliterate
from derive.sentence import Sentence
from derive.types import END, FIRST, PAD, START
from pretrain.batch import UNLABELLED

V = FIRST + 26
Words = list[str]


def spell(word: str) -> tuple[int, ...]:
    """A toy vocabulary: a letter is a sub-word."""
    return tuple(FIRST + ord(letter) - ord("a") for letter in word)


SOURCE = Language(spell, np.arange(V), 0)
DERIVED = Language(spell, Transliterate().image(V), 1)


def tagged(sentences: Sequence[Words]) -> Split:
    """Every word's label is its first letter."""
    examples = tuple(Example(((Sentence(tuple(words)),),)) for words in sentences)
    return Split(Path("toy.jsonl"), examples, tuple(tuple(word[0] for word in words) for words in sentences))


def pairs(*texts: tuple[str, str]) -> Split:
    examples = tuple(Example(tuple((Sentence(tuple(text.split())),) for text in pair), "yes") for pair in texts)
    return Split(Path("toy.jsonl"), examples, (("yes",),) * len(texts))


LETTERS = "abcdefghijklmnopqrstuvwxyz"
words = st.lists(st.text(LETTERS, min_size=1, max_size=12), min_size=1, max_size=12)


def rows_of(encoded: Encoded) -> list[list[int]]:
    return [ids[:n].tolist() for ids, n in zip(encoded.ids, encoded.lengths, strict=True)]


@given(st.lists(words, min_size=1, max_size=4), st.integers(8, 40))
def test_every_word_is_in_one_row_with_its_label_at_its_first_subword(sentences: list[Words], length: int) -> None:
    encoded = encode_split(tagged(sentences), LETTERS, True, SOURCE, length)
    assert encoded.lengths.max() <= length
    labelled = encoded.labels != UNLABELLED
    assert (encoded.ids[labelled] == encoded.labels[labelled] + FIRST).all()
    assert encoded.sizes.tolist() == [len(words) for words in sentences]
    assert [LETTERS[label] for label in encoded.labels[labelled]] == [word[0] for words in sentences for word in words]
    text = [id_ for row in rows_of(encoded) for id_ in row[1:-1]]
    assert text == [id_ for words in sentences for word in words for id_ in spell(word)[: length - 2]]
    assert all(row[0] == START and row[-1] == END for row in rows_of(encoded))


def test_a_sentence_that_fits_is_one_row_and_a_longer_one_is_cut_between_words() -> None:
    encoded = encode_split(tagged([["ab", "cd", "ef"], ["abc", "def", "g"]]), LETTERS, True, SOURCE, 8)
    assert rows_of(encoded) == [
        [START, *spell("abcdef"), END],
        [START, *spell("abcdef"), END],
        [START, *spell("g"), END],
    ]
    assert encoded.cut == 1


def test_a_word_longer_than_a_row_is_cut_and_counted() -> None:
    encoded = encode_split(tagged([["abcdefghij"]]), LETTERS, True, SOURCE, 8)
    assert rows_of(encoded) == [[START, *spell("abcdef"), END]]
    assert (encoded.cut, encoded.sizes.tolist()) == (1, [1])


def test_padding_follows_the_row_and_has_no_label() -> None:
    encoded = encode_split(tagged([["a"], ["abc"]]), LETTERS, True, SOURCE, 8)
    assert encoded.ids[0].tolist() == [START, *spell("a"), END, PAD, PAD]
    assert encoded.labels[0].tolist() == [UNLABELLED, 0, UNLABELLED, UNLABELLED, UNLABELLED]


def test_pairs_have_two_marks_between_them() -> None:
    encoded = encode_split(pairs(("ab c", "d")), ["no", "yes"], False, SOURCE, 20)
    assert rows_of(encoded) == [[START, *spell("abc"), END, END, *spell("d"), END]]
    assert (encoded.labels.tolist(), encoded.cut) == ([1], 0)


def test_the_longer_text_of_a_pair_is_cut_and_counted() -> None:
    encoded = encode_split(pairs(("abcdefgh", "xyz"), ("ab", "cd"), ("abcd", "wxyz")), ["yes"], False, SOURCE, 10)
    assert rows_of(encoded) == [
        [START, *spell("abc"), END, END, *spell("xyz"), END],
        [START, *spell("ab"), END, END, *spell("cd"), END],
        [START, *spell("abc"), END, END, *spell("wxy"), END],
    ]
    assert encoded.cut == 2


def test_a_derived_language_has_the_images_and_shares_the_marks() -> None:
    split = tagged([["ab", "c"], ["d"]])
    source, derived = (encode_split(split, LETTERS, True, language, 8) for language in (SOURCE, DERIVED))
    special = source.ids < FIRST
    assert (derived.ids[special] == source.ids[special]).all()
    assert (derived.ids[~special] == source.ids[~special] + V).all()
    assert (derived.labels == source.labels).all()
    assert derived.language == 1


def test_an_unknown_label_is_named_with_its_line() -> None:
    with pytest.raises(BadInput, match=r"toy\.jsonl:2: unknown label 'z'; the training data have a, b"):
        encode_split(tagged([["a", "b"], ["a", "z"]]), "ab", True, SOURCE, 8)


def test_a_word_without_subwords_is_named_with_its_line() -> None:
    language = Language(lambda word: (), np.arange(V), 0)
    with pytest.raises(BadInput, match=r"toy\.jsonl:1: the word 'a'"):
        encode_split(tagged([["a"]]), "a", True, language, 8)
