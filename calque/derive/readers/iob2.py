"""Read labelled words, one per line: entities (PAN-X, CoNLL, WNUT, Universal NER) and your own labels."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from calque.derive.errors import BadInput
from calque.derive.readers.lines import Place, one_word, read_lines, tokens
from calque.derive.sentence import Sentence, Span, spans_of

DOCUMENT_START = "-DOCSTART-"
_TAG = re.compile(r"O|[BI]-\S+")
_LANGUAGE = re.compile(r"(?:simple|[a-z]{2,3}(?:-[a-z-]+)?):")  # simple: the Simple English Wikipedia
_NO_TYPE = frozenset({"B-O", "I-O", "B-OTH", "I-OTH"})  # in Universal NER

Row = tuple[Place, list[str]]  # a word's line and columns


def read_iob2(path: Path, counts: Counter[str] | None = None) -> Iterator[Sentence]:
    """Stream a file's sentences with entity spans, tagged in IOB1 or IOB2. Each line starts with the word and
    ends with its tag; numbered lines (Universal NER) start with number, word and tag. Repairs and exclusions
    are counted."""
    counts = Counter() if counts is None else counts
    numbered, width, prefix = False, 0, ""
    for rows in _sentences(path, counts):
        if not width:
            numbered, width, prefix = _layout([columns for _, columns in rows])
        words, tags = list[str](), ["O"]
        for place, columns in rows:
            if not (len(columns) > 2 if numbered else len(columns) == width > 1):
                raise place.fault(f"{len(columns)} columns; expected {'at least 3' if numbered else width}")
            form, tag = (columns[1], columns[2]) if numbered else (columns[0], columns[-1])
            if not form.startswith(prefix):
                raise place.fault(f"{form!r} lacks the prefix {prefix!r} of the previous words")
            if numbered and tag in _NO_TYPE:
                counts[f"{tag} tags read as O"] += 1
                tag = "O"
            if not _TAG.fullmatch(tag) or tag[2:] == "O":
                raise place.fault(f"tag {tag!r}; expected O, B-type or I-type")
            if not form.removeprefix(prefix).strip():
                counts["words of white space only, left out"] += 1
                continue
            if tag.startswith("I-") and tag[2:] != tags[-1][2:]:
                counts["I- tags that begin an entity"] += 1
                tag = f"B{tag[1:]}"
            words.append(one_word(form.removeprefix(prefix), counts))
            tags.append(tag)
        if words:
            yield Sentence(tuple(words), spans=spans_of(tags[1:]))


def read_word_labels(path: Path, counts: Counter[str]) -> Iterator[Sentence]:
    """Stream sentences whose words all have labels, which are stored as one-word spans. Each line contains a
    word, a tab and a label; the first line may be a header with the names word and label."""
    for rows in _sentences(path, counts, labels=True):
        for place, columns in rows:
            if len(columns) != 2 or any(column.split() != [column] for column in columns):
                expected = "expected a word, a tab and its label, without other white space"
                raise place.fault(f"{columns}; {expected}")
        words, labels = zip(*(columns for _, columns in rows), strict=True)
        spans = tuple(Span(i, i + 1, label) for i, label in enumerate(labels))
        yield Sentence(words, spans=spans)


def _layout(rows: Sequence[Sequence[str]]) -> tuple[bool, int, str]:
    """Infer from the first sentence whether rows are numbered, their width, and PAN-X's prefix (`en:`)."""
    numbered = all(
        len(row) > 2 and row[0] == str(number) and _TAG.fullmatch(row[2]) is not None
        for number, row in enumerate(rows, start=1)
    )
    matches = [_LANGUAGE.match(row[numbered]) for row in rows]
    prefixes = {match[0] if match else "" for match in matches}
    return numbered, len(rows[0]), prefixes.pop() if len(prefixes) == 1 else ""


def _sentences(path: Path, counts: Counter[str], labels: bool = False) -> Iterator[list[Row]]:
    """Yield each sentence's lines, split at tabs or, without tabs, at spaces. With `labels`, no line is a
    comment."""
    rows, has_rows = list[Row](), False
    tabs = any("\t" in line for _, line in islice(read_lines(path), 100) if line[0:1] != "#")
    for place, line in read_lines(path, counts, must_end=True):
        if not line.strip():
            if rows:
                yield rows
            rows = []
        elif line.startswith(DOCUMENT_START):
            counts[f"{DOCUMENT_START} lines"] += 1
        else:
            columns = line.split("\t") if labels or tabs else tokens(line)
            if labels and not has_rows and line.casefold() == "word\tlabel":
                counts["headers, left out"] += 1
            elif labels or not (line.startswith("#") and not _TAG.fullmatch(columns[-1])):
                rows.append((place, columns))
            has_rows = has_rows or bool(rows)
    if rows:
        yield rows
    if not has_rows:
        raise BadInput("this file contains no sentences", path)
