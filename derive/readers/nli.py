"""Read labelled texts, or pairs of texts (inference, paraphrase, custom tasks), from JSON lines or TSV."""

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
from calque.derive.readers.markup import is_placeholder
from calque.derive.readers.tables import FirstRow, Table
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
    """Stream a file's pairs, split into sentences and words by `cut`. Without a header, the columns are
    premise, hypothesis, label. If columns are called premise and hypothesis, the labels 0, 1 and 2 mean
    entailment, neutral and contradiction. Pairs without a gold label are left out. A pair with a missing side
    (PAWS-X's `NS`) becomes an example without texts, so that parallel files stay aligned."""
    counts = Counter() if counts is None else counts
    languages: dict[str, None] = {}
    missing: list[tuple[Place, str]] = []
    pairs = 0
    for place, row in _rows(path, counts, columns):
        languages[str(row.get("language", ""))] = None
        if len(languages) > 1:
            first, other = languages
            raise place.fault(f"language {other!r} after {first!r}; expected one language per file")
        texts = [place.text(_value(row, names), " or ".join(names)) for names in columns.texts]
        label = _label(place, row, counts, columns)
        if label is None:
            continue
        pairs += 1
        sides = [_sentences(text, cut, counts) for text in texts]
        if not all(sides):
            missing.append((place, columns.texts[sides.index(())][0]))
        yield Example(tuple(sides) if all(sides) else (), label)
    if 2 * len(missing) > pairs:
        place, side = missing[0]
        fault = f"the {side} is blank or a placeholder such as NS, and {len(missing):,} of {pairs:,} pairs"
        raise place.fault(f"{fault} lack a side; expected texts in at least half of them")
    if not languages:
        raise BadInput("this file contains a header but no pairs", path)


def _sentences(text: str, cut: Cut, counts: Counter[str]) -> tuple[Sentence, ...]:
    if is_placeholder(text):
        return ()
    return tuple([Sentence(tuple(words)) for words in cut(text, counts)])


def _rows(path: Path, counts: Counter[str], columns: Columns) -> Iterator[Row]:
    lines = iter(Table(path, counts) if columns.own_labels else Lines(path, counts))
    head = next(lines)
    if head[1].startswith("{"):
        for place, line in chain([head], lines):
            yield place, {name.casefold(): value for name, value in place.json(line).items()}
        return
    names = [cell.strip().casefold() for cell in head[1].split("\t")]
    expected, first = f"the header's {len(names)}", FirstRow()
    has_header = not any({*names}.isdisjoint(wanted) for wanted in (*columns.texts, GOLD))
    if not has_header:
        names = [*(f"sentence{place}" for place in range(1, len(columns.texts) + 1)), "label"]
        expected = ", ".join([*(wanted[0] for wanted in columns.texts), "label"])
        lines = chain([head], lines)
    for place, line in lines:
        cells = line.split("\t")
        if len(cells) != len(names):
            raise place.fault(f"{len(cells)} tab-separated columns; expected {expected}")
        if columns.own_labels and not has_header:
            first.add(place, cells)
        yield place, dict(zip(names, cells, strict=True))
    first.check()


def _label(place: Place, row: Mapping[str, Any], counts: Counter[str], columns: Columns) -> str | None:
    value = _value(row, GOLD)
    if isinstance(value, bool) or not isinstance(value, str | int):
        wrong = "missing" if value is None else repr(value)
        raise place.fault(f"{' or '.join(GOLD)} is {wrong}; expected a string or a number")
    label = str(value)
    if columns.own_labels:
        return place.text(label.strip() or None, "the label")
    if label in NO_LABEL:
        counts["pairs without a gold label"] += 1
        return None
    if label in NUMBERED and _value(row, INFERENCE) is not None:
        counts["labels 0, 1, 2 read as entailment, neutral, contradiction"] += 1
        return NUMBERED[label]
    if label not in LABELS:
        raise place.fault(f"label {label!r}; expected one of {', '.join(LABELS)} or -")
    return LABELS[label]


def _value(row: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    return next((row[name] for name in names if name in row), None)
