"""Pairs of texts with a label: natural language inference and paraphrase, as JSON lines, TSV or CSV."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

from derive import strict_json
from derive.errors import BadInput
from derive.example import Example
from derive.readers.codes import code, differ
from derive.readers.english import split_sentences
from derive.readers.lines import read_lines
from derive.readers.placeholders import is_placeholder
from derive.sentence import Sentence

LABELS = {
    "entailment": "entailment",
    "neutral": "neutral",
    "contradiction": "contradiction",
    "contradictory": "contradiction",  # XNLI's machine translations
    "e": "entailment",  # ANLI
    "n": "neutral",
    "c": "contradiction",
    "not_entailment": "not_entailment",  # GLUE's RTE
    "non-entailment": "not_entailment",  # HANS
    "0": "0",  # paraphrase data: not one
    "1": "1",  # a paraphrase
}
NUMBERED = {"0": "entailment", "1": "neutral", "2": "contradiction"}
"""What the numbers mean beside a premise and a hypothesis, in copies of SNLI, MultiNLI, XNLI and ANLI."""
NO_LABEL = frozenset(("-", "-1"))
"""Gold labels where the annotators found no majority, in MultiNLI and in its numbered copies."""
NOT_WANTED = "pairs without a gold label"
OTHER_LANGUAGE = "pairs of other languages"
MISSING = "pairs with a side that is blank or a placeholder (NS)"

INFERENCE = ("premise", "context")
PREMISES = (*INFERENCE, "sentence1", "question1", "#1 String", "question")
HYPOTHESES = ("hypothesis", "hypo", "sentence2", "question2", "#2 String", "sentence")
GOLD = ("gold_label", "label", "is_duplicate", "Quality")
"""What the two texts and the label are called: in sets of inference, and in GLUE's QQP, MRPC and QNLI."""
LANGUAGE = "language"
HEADER = 10_000
"""Letters of a header between commas, at most."""


@dataclass(frozen=True)
class _Columns:
    """Where a TSV has its texts and its label, how many columns it has, and which is the language's, if one is.

    GLUE's MNLI has a column more in dev files than in training files, so places are the header's and not ours.
    """

    premise: int = 0
    hypothesis: int = 1
    label: int = 2
    width: int = 3
    names: tuple[str, ...] = ()
    between: str = "tabs"

    @classmethod
    def of(cls, header: list[str], between: str = "tabs") -> _Columns | None:
        """Those that the first line names; None where it is no header."""
        premise, hypothesis, label = (
            next((header.index(name) for name in names if name in header), -1) for names in (PREMISES, HYPOTHESES, GOLD)
        )
        if min(premise, hypothesis, label) < 0:
            return None
        return cls(premise, hypothesis, label, len(header), tuple(header), between)


@dataclass(frozen=True)
class _Row:
    """A pair as it stands in its file. `numbers` says whether a label that is a number means one of `NUMBERED`."""

    premise: str
    hypothesis: str
    label: str
    language: str
    numbers: bool


Cut = Callable[[str], list[list[str]]]
"""The words of each sentence of a text."""


def read_nli(
    path: Path, counts: Counter[str] | None = None, cut: Cut = split_sentences, language: str = ""
) -> Iterator[Example]:
    """Stream the pairs of a file; each text is split into sentences and words, as English is or by another `cut`.

    JSON lines have `premise` (or `context`, `sentence1`), `hypothesis` (or `hypo`, `sentence2`), and `gold_label` or
    `label`. TSV has these as a header (GLUE's with its other names, HANS's, MultiNLI's, XNLI's), or it is premise,
    hypothesis, label without one; its quotes are plain characters. CSV has a header, and its quotes hold commas and
    line ends. Labels 0, 1 and 2 mean entailment, neutral and contradiction where the texts are called premise and
    hypothesis, which is counted; elsewhere 0 and 1 are those of paraphrases.
    A pair whose gold label is `-` (or -1) is left out and counted in `counts`. So is, of a file with a column of
    languages, what is not of `language`, if that begins with a code of two letters: XNLI's own files have fifteen.
    A pair with a side that is blank or a placeholder, such as PAWS-X's `NS`, becomes an example without texts: it keeps
    its place among the lines of parallel files until a caller leaves it out.

    Raises:
        BadInput: with file and line. A column or key missing, an unknown label, more than half of the pairs with a
            missing side, several languages without `language`, no pair in `language`, a file with a header only.
    """
    counts = Counter() if counts is None else counts
    said: str | None = None
    others: Counter[str] = Counter()
    missing: list[tuple[int, str]] = []
    pairs = 0
    for number, row in _rows(path, counts):
        if differ(row.language, language):
            others[row.language] += 1
            continue
        if said is not None and row.language != said:
            hint = "split it by that column" + ("" if code(language) else ", or call the language by its code")
            raise BadInput(f"language {row.language!r} after {said!r}; expected one in a file: {hint}", path, number)
        said = row.language
        example = _example(path, number, row, counts, cut)
        if example is not None:
            pairs += 1
            if not example.texts:
                missing.append((number, "hypothesis" if _words(row.premise, cut) else "premise"))
            yield example
    if 2 * len(missing) > pairs:
        number, side = missing[0]
        raise BadInput(
            f"the {side} has no words (blank, or a placeholder such as NS), and {len(missing):,} of {pairs:,} "
            "pairs lack a side; expected texts in at least half of them",
            path,
            number,
        )
    if others:
        counts[OTHER_LANGUAGE] += others.total()
    if said is None and others:
        raise BadInput(f"says that it is of {_listed(others)}; expected pairs of {language!r}", path)
    if said is None:
        raise BadInput("a header and no pair", path)


def language_of_pairs(path: Path) -> str:
    """The language that a file says its pairs are of, as XNLI's do in a column; empty where it says none.

    Raises:
        BadInput: the first pair cannot be read.
    """
    return next((row.language for _, row in _rows(path, Counter())), "")


def _rows(path: Path, counts: Counter[str]) -> Iterator[tuple[int, _Row]]:
    """The pairs of a file as they stand in it, and their lines."""
    lines = read_lines(path, counts)
    number, first = next(lines)
    if first.startswith("{"):
        yield from ((number, _json_row(path, number, line)) for number, line in chain([(number, first)], lines))
    elif columns := _Columns.of(first.split("\t")):
        yield from ((number, _row(path, number, line.split("\t"), columns)) for number, line in lines)
    elif columns := _Columns.of(next(csv.reader([first[:HEADER]])), "commas"):
        yield from ((number, _row(path, number, cells, columns)) for number, cells in _csv(path, lines))
    else:
        lines = chain([(number, first)], lines)
        yield from ((number, _row(path, number, line.split("\t"), _Columns())) for number, line in lines)


def _csv(path: Path, lines: Iterator[tuple[int, str]]) -> Iterator[tuple[int, list[str]]]:
    """The rows of a file whose columns are between commas, where quotes hold commas and line ends."""
    before = 1  # the header's line
    reader = csv.reader((f"{line}\n" for _, line in lines), strict=True)
    while True:
        try:
            cells = next(reader, None)
        except csv.Error as error:
            raise BadInput(f"columns between commas: {error}", path, before + 1) from None
        if cells is None:
            return
        yield before + 1, cells
        before = 1 + reader.line_num


def _example(path: Path, number: int, row: _Row, counts: Counter[str], cut: Cut) -> Example | None:
    """The pair; None where it has no gold label."""
    if row.label in NO_LABEL:
        counts[NOT_WANTED] += 1
        return None
    label = LABELS.get(row.label)
    if row.numbers and row.label in NUMBERED:
        label = NUMBERED[row.label]
        counts["labels 0, 1, 2 read as entailment, neutral, contradiction"] += 1
    if label is None:
        raise BadInput(f"label {row.label!r}; expected one of {', '.join(LABELS)} or -", path, number)
    texts = tuple(_words(text, cut) for text in (row.premise, row.hypothesis))
    return Example(texts if all(texts) else (), label)


def _words(text: str, cut: Cut) -> tuple[Sentence, ...]:
    """The sentences of a side; none where it is missing."""
    return () if is_placeholder(text) else tuple(Sentence(tuple(words)) for words in cut(text))


def _row(path: Path, number: int, cells: list[str], columns: _Columns) -> _Row:
    if len(cells) != columns.width:
        expected = f"the header's {columns.width}" if columns.names else "premise, hypothesis, label"
        raise BadInput(f"{len(cells)} columns between {columns.between}; expected {expected}", path, number)
    language = cells[columns.names.index(LANGUAGE)] if LANGUAGE in columns.names else ""
    numbers = bool(columns.names) and columns.names[columns.premise] in INFERENCE
    return _Row(cells[columns.premise], cells[columns.hypothesis], cells[columns.label], language, numbers)


def _json_row(path: Path, number: int, line: str) -> _Row:
    row = strict_json.line(line, path, number)
    premise, hypothesis = (_text(path, number, row, names) for names in (PREMISES, HYPOTHESES))
    label = _value(row, GOLD)
    if isinstance(label, int) and not isinstance(label, bool):
        label = str(label)
    elif not isinstance(label, str):
        raise BadInput(f"{' or '.join(GOLD)} is {_told(label)}; expected a string or a number", path, number)
    return _Row(premise, hypothesis, label, str(row.get(LANGUAGE, "")), _value(row, INFERENCE) is not None)


def _text(path: Path, number: int, row: Mapping[str, Any], names: tuple[str, ...]) -> str:
    value = _value(row, names)
    if not isinstance(value, str):
        raise BadInput(f"{' or '.join(names)} is {_told(value)}; expected a string", path, number)
    if not strict_json.is_text(value):
        raise BadInput(f"{names[0]} holds a NUL or half of a surrogate pair; expected text", path, number)
    return value


def _value(row: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    return next((row[name] for name in names if name in row), None)


def _listed(languages: Collection[str]) -> str:
    shown = ", ".join(map(repr, islice(languages, 3)))
    return f"{shown} and {len(languages) - 3:,} others" if len(languages) > 3 else shown


def _told(value: Any) -> str:
    return "nothing" if value is None else repr(value)
