"""Read labelled words, one per line (PAN-X, CoNLL, WNUT, Universal NER, GermEval, MultiCoNER), or JSON
lines."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from calque.derive import strict_json
from calque.derive.readers.lines import (
    Lines,
    Numbered,
    Place,
    one_word,
    open_bytes,
    readable,
    tokens,
)
from calque.derive.readers.tables import HEADERS, FirstRow, Table, is_header
from calque.derive.sentence import Sentence, Span, spans_of

_TAG = re.compile(r"O|[BIESUL]-\S+")
_JSON = re.compile(r'[\[{]\s*["{]')
_SINGLE, _LAST = "SU", "EL"
"""The first letters of IOBES and BILOU tags for one-word entities and for the last words of entities."""
DOCUMENT_START = "-DOCSTART-"
_LANGUAGE = re.compile(r"(?:simple|[a-z]{2,3}(?:-[a-z-]+)?):")  # simple: the Simple English Wikipedia
_NO_TYPE = frozenset({"B-O", "I-O", "B-OTH", "I-OTH"})

Row = list[tuple[Place, str, str]]  # a sentence's (location, word, tag) triples, as in the file


@dataclass(frozen=True)
class Shape:
    """The layout of a file's columns: the word first and the tag last or, if `numbered` (Universal NER,
    GermEval), number, word and tag. If `separator` is None, spaces and tabs separate columns. `prefix` is
    PAN-X's language prefix (`en:`)."""

    separator: str | None = None
    prefix: str = ""
    numbered: bool = False
    width: int = 2

    def row(self, place: Place, line: str) -> tuple[list[str], str, str]:
        """Return a line's columns, its word and its tag; raise BadInput if the layout differs."""
        row = _columns(line, self.separator)
        if not (len(row) >= 3 if self.numbered else len(row) == self.width > 1):
            expected = "at least 3" if self.numbered else self.width if self.width > 1 else "at least 2"
            kind = "tab" if self.separator else "space"
            raise place.fault(f"{len(row)} {kind}-separated columns; expected {expected}")
        word, tag = row[1:3] if self.numbered else (row[0], row[-1])
        if not word.startswith(self.prefix):
            raise place.fault(f"{word!r} lacks the prefix {self.prefix!r} of the previous words")
        return row, word.removeprefix(self.prefix), tag


def read_iob2(path: Path, counts: Counter[str] | None = None) -> Iterator[Sentence]:
    """Stream a file's sentences with entity spans. Tags may follow IOB1, IOB2, IOBES or BILOU; JSON lines
    contain `tokens`, and tag names in `ner_tags` or `tags`. Exclusions and repairs are counted in
    `counts`."""
    counts = Counter() if counts is None else counts
    check = partial(_tag, shape=Shape(), counts=counts)
    rows = _json_rows(path, check) if _is_json(path) else _rows(path, counts)
    return readable(((_sentence(row, counts), _forms(row)) for row in rows), path, counts)


def _forms(row: Row) -> list[Numbered]:
    return [(place, form) for place, form, _ in row]


def _sentence(row: Row, counts: Counter[str]) -> Sentence:
    words: list[str] = []
    tags: list[str] = []
    entity = ""  # the type of the open entity
    for _, form, tag in row:
        kind, _, label = tag.partition("-")
        begins, ends = kind in ("B", *_SINGLE), kind in (*_SINGLE, *_LAST)
        if ends:
            counts["tags of IOBES or BILOU read as IOB2"] += 1
        if label and not begins and label != entity:
            counts["I- tags that begin an entity"] += 1
            begins = True
        if form.strip():
            words.append(one_word(form, counts))
            tags.append(f"{'B' if begins else 'I'}-{label}" if label else "O")
            entity = "" if ends else label
        else:
            counts["words of white space only, left out"] += 1
            entity = "" if begins or ends else entity  # an entity that begins here moves to the next word
    return Sentence(tuple(words), spans=spans_of(tags))


def _rows(path: Path, counts: Counter[str]) -> Iterator[Row]:
    shape, lines, types = _shape_of(path), Lines(path, counts), set[str]()
    for block in _blocks(lines, shape.separator, counts):
        sentence: Row = []
        for place, line in block:
            row, word, tag = shape.row(place, line)
            if place.line == lines.number and tag != "O" and tag[2:] not in types:
                lines.check_end()  # a tag of a known type cannot be truncated
            types.add(tag[2:])
            if shape.numbered:
                if row[0] != str(len(sentence) + 1):
                    raise place.fault(f"word number {row[0]!r}; expected {len(sentence) + 1}")
                if any(_TAG.fullmatch(cell) and cell[0] in ("B", *_SINGLE) for cell in row[3:]):
                    counts["nested entities, left out"] += 1
            sentence.append((place, word, _tag(place, tag, shape, counts)))
        yield sentence


def _tag(place: Place, tag: str, shape: Shape, counts: Counter[str]) -> str:
    if not _TAG.fullmatch(tag) or (tag[2:] == "O" and not shape.numbered):
        raise place.fault(f"tag {tag!r}; expected O, B-type, I-type, or a tag of IOBES or BILOU")
    if shape.numbered and tag in _NO_TYPE:
        counts[f"{tag} tags read as O"] += 1
        return "O"
    return tag


def _shape_of(path: Path) -> Shape:
    with open_bytes(path) as file:
        head = file.read(1 << 16).splitlines()
    words = [line for line in head if not line.startswith(b"#")] or head
    separator = "\t" if any(b"\t" in line for line in words) else None
    first = next(_blocks(Lines(path), separator, Counter()), [])
    rows = [_columns(line, separator) for _, line in first]
    numbered = all(_is_numbered(row, number) for number, row in enumerate(rows, start=1))
    matches = [_LANGUAGE.match(row[numbered]) for row in rows]
    marks = {match[0] if match else "" for match in matches}
    prefix = marks.pop() if len(marks) == 1 else ""
    return Shape(separator, prefix, numbered, len(rows[0]) if rows else Shape.width)


def _is_numbered(row: Sequence[str], number: int) -> bool:
    return len(row) > 2 and row[0] == str(number) and _TAG.fullmatch(row[2]) is not None


def _blocks(
    lines: Iterable[Numbered], separator: str | None, counts: Counter[str]
) -> Iterator[list[Numbered]]:
    block: list[Numbered] = []
    for place, line in lines:
        if not line.strip():
            if block:
                yield block
            block = []
        elif line.startswith(DOCUMENT_START):
            counts[f"{DOCUMENT_START} lines"] += 1
        elif not _is_comment(line, separator):
            block.append((place, line))
        elif separator is None or separator in line:
            counts["comments with columns"] += 1
    if block:
        yield block


def _is_comment(line: str, separator: str | None) -> bool:
    if not line.startswith("#"):
        return False
    first, *others = _columns(line, separator)
    return bool(separator and not others) or (first == "#" and not any(map(_TAG.fullmatch, others)))


def _columns(line: str, separator: str | None) -> list[str]:
    return line.split(separator) if separator else tokens(line)


def _is_json(path: Path) -> bool:
    return _JSON.match(next(iter(Lines(path)))[1]) is not None


def _json_rows(path: Path, check: Callable[[Place, str], str]) -> Iterator[Row]:
    for place, line in Lines(path):
        row = place.json(line)
        words, tags = row.get("tokens"), row.get("ner_tags", row.get("tags"))
        if not isinstance(words, list) or not isinstance(tags, list) or len(words) != len(tags):
            raise place.fault("expected lists `tokens` and `ner_tags` of equal length")
        if numbers := [tag for tag in tags if isinstance(tag, int)]:
            raise place.fault(f"the tag {numbers[0]} is a number; export label names such as B-PER instead")
        if wrong := [text for text in (*words, *tags) if not strict_json.is_text(text)]:
            raise place.fault(f"{wrong[0]!r} in tokens or tags; expected text")
        yield [(place, word, check(place, tag)) for word, tag in zip(words, tags, strict=True)]


def read_word_labels(path: Path, counts: Counter[str] | None = None) -> Iterator[Sentence]:
    """Stream sentences whose words all have labels, stored as one-word spans. Each line contains a word, a
    tab and a label, or a JSON object with `tokens` and `tags`."""
    counts = Counter() if counts is None else counts
    rows = _json_rows(path, _label) if _is_json(path) else _label_rows(path, counts)
    sentences = ((_labelled(row), _forms(row)) for row in rows)
    return readable(sentences, path, counts, withheld=True)


def _labelled(row: Row) -> Sentence:
    for place, word, _ in row:
        if word.split() != [word]:
            raise place.fault(f"the word {word[:100]!r}; expected one without white space")
    spans = tuple(Span(i, i + 1, label) for i, (_, _, label) in enumerate(row))
    return Sentence(tuple(word for _, word, _ in row), spans=spans)


def _label_rows(path: Path, counts: Counter[str]) -> Iterator[Row]:
    lines, first = Table(path, counts), FirstRow()
    sentence: Row = []
    for place, line in lines:
        cells = line.split("\t")
        if not line.strip():
            if sentence:
                yield sentence
            sentence = []
            continue
        if len(cells) != 2:
            raise place.fault(f"{len(cells)} tab-separated columns; expected a word and its label")
        if not first.labels and is_header(cells, labelled=True):
            counts[HEADERS] += 1
            continue
        label = _label(place, cells[1])
        if label not in first.labels:
            lines.check_end()  # a known label cannot be truncated
        first.add(place, cells)
        sentence.append((place, cells[0], label))
    if sentence:
        yield sentence
    first.check()


def _label(place: Place, label: str) -> str:
    if label.split() != [label]:
        raise place.fault(f"the label {label!r}; expected one without white space")
    return label
