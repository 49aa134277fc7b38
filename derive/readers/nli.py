"""Pairs of texts with a label: natural language inference and paraphrase, as JSON lines or TSV."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from derive.errors import BadInput
from derive.example import Example
from derive.readers.english import split_sentences
from derive.readers.lines import read_lines
from derive.sentence import Sentence

LABELS = {
    "entailment": "entailment",
    "neutral": "neutral",
    "contradiction": "contradiction",
    "contradictory": "contradiction",
    "0": "0",  # paraphrase data: not one
    "1": "1",  # a paraphrase
}
NO_LABEL = "-"
"""MultiNLI's gold label where the annotators found no majority."""

_KEYS = (("premise", "sentence1"), ("hypothesis", "sentence2"), ("gold_label", "label"))


def read_nli(path: Path, counts: Counter[str] | None = None) -> Iterator[Example]:
    """Stream the pairs of a file; each text is split into sentences and words.

    JSON lines have `premise` and `hypothesis` or `sentence1` and `sentence2`, and `gold_label` or `label`.
    TSV is premise, hypothesis, label without a header, and quotes are plain characters.
    A pair whose gold label is `-` is left out and counted in `counts`.

    Raises:
        BadInput: with file and line. A column or key missing, an unknown label, a text without words.
    """
    counts = Counter() if counts is None else counts
    as_json: bool | None = None
    for number, line in read_lines(path):
        if as_json is None:
            as_json = line.startswith("{")
        premise, hypothesis, label = _json_row(path, number, line) if as_json else _tsv_row(path, number, line)
        if label == NO_LABEL:
            counts["pairs without a gold label"] += 1
            continue
        if label not in LABELS:
            raise BadInput(f"label {label!r}; expected one of {', '.join(LABELS)} or -", path, number)
        texts = tuple(tuple(Sentence(tuple(words)) for words in split_sentences(t)) for t in (premise, hypothesis))
        if not all(texts):
            raise BadInput(f"the {'hypothesis' if texts[0] else 'premise'} has no words", path, number)
        yield Example(texts, LABELS[label])


def _tsv_row(path: Path, number: int, line: str) -> tuple[str, str, str]:
    columns = line.split("\t")
    if len(columns) != 3:
        raise BadInput(f"{len(columns)} columns between tabs; expected premise, hypothesis, label", path, number)
    return columns[0], columns[1], columns[2]


def _json_row(path: Path, number: int, line: str) -> tuple[str, str, str]:
    try:
        row = json.loads(line)
    except json.JSONDecodeError as error:
        raise BadInput(f"not JSON: {error.msg} at column {error.colno}", path, number) from None
    if not isinstance(row, dict):
        raise BadInput(f"a JSON {type(row).__name__}; expected an object", path, number)
    values = []
    for names in _KEYS:
        value = next((row[name] for name in names if name in row), None)
        if not isinstance(value, str):
            found = "nothing" if value is None else f"{value!r}"
            raise BadInput(f"{' or '.join(names)} is {found}; expected a string", path, number)
        if any("\ud800" <= letter <= "\udfff" for letter in value):
            raise BadInput(f"{names[0]} holds half of a surrogate pair", path, number)
        values.append(value)
    return values[0], values[1], values[2]
