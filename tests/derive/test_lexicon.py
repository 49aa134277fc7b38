"""Lexicons: counted against a twin, written and read, and as pairs of ids."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from derive.bpe import SMALLEST, learn
from derive.dictionary import read_dictionary, write_dictionary
from derive.errors import BadInput
from derive.lexicon import Entry, counted, id_pairs, read_lexicon, write_lexicon
from derive.readers.parallel import Pair

words = st.lists(st.sampled_from("abcd"), min_size=1, max_size=4).map(tuple)


@st.composite
def linked(draw: st.DrawFn) -> list[tuple[Pair, list[tuple[int, int]]]]:
    made = []
    for source, target in draw(st.lists(st.tuples(words, words), max_size=6)):
        places = st.tuples(st.integers(0, len(source) - 1), st.integers(0, len(target) - 1))
        made.append(((source, target), draw(st.lists(places, unique=True))))
    return made


@given(linked(), st.integers(1, 3), st.sampled_from([0.0, 0.3, 0.5, 1.0]))
def test_counts_and_probabilities_are_those_of_the_links(pairs, least: int, probable: float) -> None:
    flat = [(source[i], target[j]) for (source, target), links in pairs for i, j in links]
    expected = {
        (a, b): (flat.count((a, b)), flat.count((a, b)) / sum(one == a for one, _ in flat))
        for a, b in set(flat)
        if flat.count((a, b)) >= least and flat.count((a, b)) / sum(one == a for one, _ in flat) >= probable
    }
    entries = counted(pairs, least, probable)
    assert {(e.source, e.target): (e.count, e.probability) for e in entries} == expected
    assert [e.count for e in entries] == sorted((e.count for e in entries), reverse=True)


def test_a_link_outside_its_sentences_is_no_entry() -> None:
    with pytest.raises(ValueError, match="the link 0-1 of sentences of 2 and 1 words"):
        counted([((("a", "b"), ("x",)), [(0, 1)])])


def test_what_was_written_is_read_and_published_dictionaries_too(tmp_path: Path) -> None:
    entries = [Entry("house", "maison", 0.75, 3), Entry("house", "chez\u00a0soi", 0.25, 1), Entry("“", "«", 1.0, 1)]
    write_lexicon(tmp_path / "lexicon", entries)
    assert (tmp_path / "lexicon").read_text(encoding="utf-8").startswith("house\tmaison\t0.75\t3\n")
    assert read_lexicon(tmp_path / "lexicon") == entries
    (tmp_path / "two").write_text("of\tde\nto\tà\n", encoding="utf-8")
    assert read_lexicon(tmp_path / "two") == [Entry("of", "de", 1.0, 1), Entry("to", "à", 1.0, 1)]


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("a\tb\nc\n", 2, "expected a word and its translation"),
        ("a\tb\t0.5\n", 1, "expected a word and its translation"),
        ("a\tb\thalf\t2\n", 1, "expected a word and its translation"),
        ("a\t \t0.5\t2\n", 1, "expected a word and its translation"),
        ("a\tb\t0\t2\n", 1, "a probability is above 0"),
        ("a\tb\tnan\t2\n", 1, "expected a word and its translation"),
        ("a\tb\t0.5\t0\n", 1, "a count above 0"),
        ("a\tb\t1\t2\na\tc\na\tb\n", 3, "a second entry for a and b"),
        ("a\tb", 1, "truncated"),
    ],
)
def test_a_line_that_is_no_entry_is_named(text: str, line: int, said: str, tmp_path: Path) -> None:
    (tmp_path / "lexicon").write_text(text)
    with pytest.raises(BadInput, match=f"lexicon:{line}: .*{said}"):
        read_lexicon(tmp_path / "lexicon")


def test_pairs_of_ids_are_single_types_and_the_most_probable(tmp_path: Path) -> None:
    vocabulary = learn([("house", "maison", "maisons", "the", "la", "le", "Paris")] * 50, SMALLEST + 22)
    single = {word: vocabulary.encode(word) for word in ("house", "maison", "maisons", "the", "la", "le", "Paris")}
    assert all(len(ids) == 1 for ids in single.values()) and len(vocabulary.encode("xylophone")) > 1
    entries = [
        Entry("the", "la", 0.4, 9),
        Entry("the", "le", 0.5, 8),
        Entry("house", "maison", 0.5, 3),
        Entry("house", "maisons", 0.5, 4),
        Entry("Paris", "Paris", 1.0, 4),
        Entry("xylophone", "la", 1.0, 1),
        Entry("house", "xylophone", 0.9, 1),
    ]
    pairs, left_out = id_pairs(entries, vocabulary)
    expected = [single["the"] + single["le"], single["house"] + single["maisons"]]
    assert pairs.tolist() == list(map(list, expected)), "the most frequent first"
    assert left_out == Counter(
        {
            "entries with a word of several sub-words, or of an unknown one": 2,
            "further translations of a type": 2,
            "entries of two words of one type": 1,
        }
    )
    write_dictionary(tmp_path / "dictionary.tsv", pairs, vocabulary)
    assert np.array_equal(read_dictionary(tmp_path / "dictionary.tsv"), pairs)
    assert id_pairs([], vocabulary)[0].shape == (0, 2)
