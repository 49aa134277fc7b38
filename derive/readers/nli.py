"""Read labelled texts, or pairs of texts (inference, paraphrase, custom tasks), from JSON lines or TSV."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from calque.derive.errors import BadInput
from calque.derive.example import Example
from calque.derive.files import read_toml
from calque.derive.readers.english import split_sentences
from calque.derive.readers.lines import Lines, Place
from calque.derive.sentence import Sentence

_TABLE = read_toml(Path(__file__).with_name("nli.toml"))
LABELS: dict[str, str] = _TABLE["labels"]
NUMBERED: dict[str, str] = _TABLE["numbered"]
INFERENCE, PREMISES, HYPOTHESES, TEXTS, GOLD = (
    tuple(_TABLE["columns"][name]) for name in ("inference", "premises", "hypotheses", "texts", "gold")
)
NO_LABEL = frozenset(("-", "-1"))
"""Gold labels of pairs that annotators disagreed on, in MultiNLI and in copies with numeric labels."""
MISSING = "pairs with a side that is blank or a placeholder (NS)"
_PLACEHOLDER = re.compile(r"(?:<|&lt;)[A-Za-z][\w-]*(?:>|&gt;)|NS|ns|#N/A|#(?:NAME|REF|VALUE)[?!]")
"""Placeholders for missing text: a lone tag, such as eBible's `<range>` for a verse merged with the previous
one; PAWS-X's NS; spreadsheet errors."""

Cut = Callable[[str, Counter[str]], list[list[str]]]  # splits text into sentences of words; counts repairs
Row = tuple[Place, Mapping[str, Any]]  # a pair's location and its values by lower-case column name


@dataclass(frozen=True)
class Columns:
    """The possible names of each text's column. If `own_labels`, any text is a valid label."""

    texts: tuple[tuple[str, ...], ...] = (PREMISES, HYPOTHESES)
    own_labels: bool = False


PUBLISHED, OWN_PAIRS, OWN_TEXTS = Columns(), Columns(own_labels=True), Columns((TEXTS,), own_labels=True)


def read_nli(
    path: Path, counts: Counter[str] | None = None, cut: Cut = split_sentences, columns: Columns = PUBLISHED
) -> Iterator[Example]:
    """Stream a file's pairs, split into sentences and words by `cut`. A table with your own labels starts
    with the columns' names; in others, the columns without names are premise, hypothesis, label. If columns
    are called premise and hypothesis, the labels 0, 1 and 2 mean entailment, neutral and contradiction. Pairs
    without a gold label are left out. A pair with a missing side (PAWS-X's `NS`) becomes an example without
    texts, so that parallel files stay aligned."""
    counts = Counter() if counts is None else counts
    languages: set[str] = set()
    for place, row in _rows(path, counts, columns):
        languages.add(str(row.get("language", "")))
        if len(languages) > 1:
            raise place.fault(f"languages {', '.join(sorted(languages))}; expected one language per file")
        texts = [place.text(_value(row, names), " or ".join(names)) for names in columns.texts]
        label = _own_label(place, row) if columns.own_labels else _label(place, row, counts)
        if label in NO_LABEL and not columns.own_labels:
            counts["pairs without a gold label"] += 1
            continue
        sides = [[] if is_placeholder(text) else cut(text, counts) for text in texts]
        sentences = tuple(tuple([Sentence(tuple(words)) for words in side]) for side in sides)
        yield Example(sentences if all(sentences) else (), label)
    if not languages:
        raise BadInput("this file contains a header but no pairs", path)


def is_placeholder(text: str) -> bool:
    """Whether a text is a placeholder for missing text."""
    return _PLACEHOLDER.fullmatch(text.strip()) is not None


def _rows(path: Path, counts: Counter[str], columns: Columns) -> Iterator[Row]:
    lines = iter(Lines(path, counts))
    head = next(lines)
    if head[1].startswith("{"):
        for place, line in chain([head], lines):
            yield place, {name.casefold(): value for name, value in place.json(line).items()}
        return
    names = [cell.strip().casefold() for cell in head[1].split("\t")]
    if any({*names}.isdisjoint(wanted) for wanted in (*columns.texts, GOLD)):
        expected = [*(wanted[-1] for wanted in columns.texts), "label"]
        if columns.own_labels:
            raise head[0].fault(f"columns {names}; expected a header with names such as {expected}")
        names, lines = ["sentence1", "sentence2", "label"], chain([head], lines)
    for place, line in lines:
        cells = place.fields(line) if columns.own_labels else line.split("\t")
        if len(cells) != len(names):
            raise place.fault(f"{len(cells)} tab-separated columns; expected {', '.join(names)}")
        yield place, dict(zip(names, cells, strict=True))


def _own_label(place: Place, row: Mapping[str, Any]) -> str:
    value = _value(row, GOLD)
    label = str(value).strip() if isinstance(value, str | int) else None
    return place.text(label or None, "the label")


def _label(place: Place, row: Mapping[str, Any], counts: Counter[str]) -> str:
    label = str(_value(row, GOLD))
    if label in NO_LABEL:
        return label
    if label in NUMBERED and _value(row, INFERENCE) is not None:
        counts["labels 0, 1, 2 read as entailment, neutral, contradiction"] += 1
        return NUMBERED[label]
    if label not in LABELS:
        raise place.fault(f"label {label!r}; expected one of {', '.join(LABELS)} or -")
    return LABELS[label]


def _value(row: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    return next((row[name] for name in names if name in row), None)
