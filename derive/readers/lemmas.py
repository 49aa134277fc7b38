"""Lemmas of words, from the LEMMA column of CoNLL-U."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from derive.readers.conllu import NAMES, NOTHING, cells, column_names
from derive.readers.lines import one_word, read_lines

FORM, LEMMA = 1, 2


def read_lemmas(path: Path) -> Iterator[tuple[str, str]]:
    """Stream a word and its lemma for each word that has one; multiword tokens and empty nodes are no words.

    Raises:
        BadInput: with file and line, where a line of a word has not the columns of its file.
    """
    names = NAMES
    for number, line in read_lines(path):
        if number == 1:
            names = column_names(path, line)
        if not line or line.startswith("#"):
            continue
        columns = cells(path, number, line, names)
        if columns[0].isascii() and columns[0].isdecimal() and columns[LEMMA] != NOTHING:
            yield one_word(columns[FORM], Counter()), columns[LEMMA]
