"""Lemmas of words, from the LEMMA column of CoNLL-U."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from derive.errors import BadInput
from derive.readers.conllu import COLUMNS
from derive.readers.lines import one_word, read_lines

FORM, LEMMA = 1, 2
NOTHING = "_"


def read_lemmas(path: Path) -> Iterator[tuple[str, str]]:
    """Stream a word and its lemma for each word that has one; multiword tokens and empty nodes are no words.

    Raises:
        BadInput: with file and line, where a line of a word has not ten columns.
    """
    for number, line in read_lines(path):
        if not line or line.startswith("#"):
            continue
        columns = line.split("\t")
        if len(columns) != COLUMNS:
            raise BadInput(f"{len(columns)} columns between tabs; expected {COLUMNS}", path, number)
        if columns[0].isdecimal() and columns[LEMMA] != NOTHING:
            yield one_word(columns[FORM], Counter()), columns[LEMMA]
