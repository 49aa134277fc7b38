from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from calque.derive.corpus import Corpus
from calque.derive.language import SOURCE, Language
from calque.derive.languages import Languages, disjoint_halves

TYPES = 20
SENTENCES = st.lists(st.lists(st.integers(5, 7), min_size=1, max_size=3), min_size=1, max_size=40)


def corpus_of(lines: Sequence[Sequence[int]], source_line: Sequence[int]) -> Corpus:
    ids = np.array([i for line in lines for i in line], np.uint16)
    ends = np.array([sum(map(len, lines[:n])) for n in range(len(lines) + 1)])
    origin = np.array([place for line in lines for place in range(len(line))], np.uint16)
    return Corpus(ids, ends, ends, np.ones(len(ids), np.uint16), origin, np.array(source_line, np.int64))


def lines_of(corpus: Corpus) -> Iterator[tuple[int, list[int], list[int], list[list[int]]]]:
    for line, source in enumerate(corpus.source_line.tolist()):
        yield source, corpus[line].tolist(), corpus.line_pieces(line).tolist(), corpus.links(line).tolist()


def check_halves(whole: Languages, halves: Languages) -> None:
    """Every line is in one half, and the halves share no sentence of the source."""
    ids = [
        tuple(line.tolist()) for line in (whole[SOURCE].corpus[n] for n in range(len(whole[SOURCE].corpus)))
    ]
    read = {each.name: each.corpus.source_line.tolist() for each in halves.languages}
    for name in whole.others:
        both = sorted([*read[SOURCE], *read[name]])
        there = {*whole[name].corpus.source_line.tolist()}
        assert [line for line in both if line in there] == sorted(there), (
            "each line that has an image is read once"
        )
        assert not {ids[line] for line in read[SOURCE]} & {ids[line] for line in read[name]}
    for before, after in zip(whole.languages, halves.languages, strict=True):
        kept = {*read[before.name]}
        assert [line for line in lines_of(before.corpus) if line[0] in kept] == list(lines_of(after.corpus))


@given(SENTENCES, st.data())
def test_halves_are_the_text_and_share_no_sentence(sentences: list[list[int]], data: st.DataObject) -> None:
    has_image = data.draw(st.lists(st.booleans(), min_size=len(sentences), max_size=len(sentences)))
    numbers = [number for number, kept in enumerate(has_image) if kept]
    images = [[TYPES + i for i in reversed(sentences[number])] for number in numbers]
    table = np.arange(TYPES)
    languages = (
        Language(SOURCE, 0, corpus_of(sentences, range(len(sentences))), table),
        Language("other", 1, corpus_of(images, numbers), table + TYPES),
    )
    whole = Languages(Path(), languages)
    check_halves(whole, disjoint_halves(whole))
