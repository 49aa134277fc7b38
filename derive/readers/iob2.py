"""Entity files, one word per line: PAN-X, CoNLL, WNUT, Universal NER, GermEval, MultiCoNER; or a sentence as JSON."""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from derive import strict_json
from derive.errors import BadInput
from derive.readers.compressed import opened
from derive.readers.hidden_words import HiddenWords
from derive.readers.lines import one_word, read_lines, tokens
from derive.sentence import Sentence, spans_of

_TAG = re.compile(r"O|[BIESUL]-\S+")
SINGLE, LAST = "SU", "EL"
"""The first letters of tags, in IOBES and BILOU, of one-word entities and of the last words of entities."""
DOCUMENT_START = "-DOCSTART-"
_LANGUAGE = re.compile(r"(?:simple|[a-z]{2,3}(?:-[a-z-]+)?):")  # simple: is the Wikipedia in simple English
_NO_TYPE = frozenset({"B-O", "I-O", "B-OTH", "I-OTH"})


@dataclass(frozen=True)
class Shape:
    """Where a file keeps its words and tags; columns count from 0, or from the end if negative.

    `separator` None is any run of spaces and tabs, `prefix` is PAN-X's language mark before every word (`en:`).
    `numbered` files (Universal NER) have a word number first and other columns after the tag, which may lack.
    """

    separator: str | None
    word: int = 0
    tag: int = -1
    prefix: str = ""
    numbered: bool = False
    width: int = 2


def read_iob2(
    path: Path,
    counts: Counter[str] | None = None,
    *,
    word_column: int | None = None,
    tag_column: int | None = None,
) -> Iterator[Sentence]:
    """Stream a file's sentences with their entity spans.

    The shape is read off the head of the file: tabs if it has one, else spaces; word first and tag last,
    but second and third where the first column numbers the words; a language prefix if all words have the
    same. The two arguments overrule the columns. A line that begins with # is a comment if it has no column or no tag.
    Tags may be IOB1, IOB2, IOBES or BILOU. JSON lines have `tokens`, and `ner_tags` or `tags` by name.

    What is repaired is counted in `counts`: an I- that continues nothing begins an entity (PAN-X and IOB1 have them);
    S- and U- are read as B-, E- and L- as I-; in Universal NER the type OTH and the stray tag B-O are O; white space
    inside a word goes, and a word of nothing else is left out. `-DOCSTART-` lines, comments with columns, and entities
    inside of others, which GermEval has in a further column, are left out and counted.

    Raises:
        BadInput: with file and line. A column missing or too many, a tag of another form, tags as numbers, a number
            out of order, a word without the prefix, a last line that has no end and may be cut, more than half of the
            words `_`.
    """
    counts = Counter() if counts is None else counts
    rows = _json_rows(path) if _is_json(path) else _rows(path, counts, word_column, tag_column)
    found, hidden = False, HiddenWords()
    for row in rows:
        if not row:
            counts["sentences without words, left out"] += 1
        words: list[str] = []
        tags: list[str] = []
        entity = ""  # the type of the one that may go on
        for line, form, tag in row:
            hidden.add([form], line)
            kind, _, label = tag.partition("-")
            begins = kind in ("B", *SINGLE)
            if kind in (*SINGLE, *LAST):
                counts["tags of IOBES or BILOU read as IOB2"] += 1
            if label and not begins and label != entity:
                counts["I- tags that begin an entity"] += 1
                begins = True
            ends = kind in (*SINGLE, *LAST)
            if word := _without_space(form, counts):
                words.append(word)
                tags.append(f"{'B' if begins else 'I'}-{label}" if label else "O")
                entity = "" if ends else label
            elif begins or ends:
                entity = ""  # an entity that begins here begins with the next word
        if words:
            found = True
            yield Sentence(tuple(words), spans=spans_of(tags))
    if not found:
        raise BadInput("no sentence in it", path)
    hidden.check(path)


Row = list[tuple[int, str, str]]
"""The words of a sentence as their file has them, each with its line and its tag."""


def _rows(path: Path, counts: Counter[str], word_column: int | None, tag_column: int | None) -> Iterator[Row]:
    """The sentences of a file of columns."""
    separator = _separator(path)
    shape = None
    types: set[str] = set()
    for block in _blocks(path, separator, counts):
        shape = shape or shape_of(block.lines, separator, word_column, tag_column)
        rows = [_row(path, number, line, shape) for number, line in block.lines]
        if block.unended:
            _check_last(path, *block.lines[-1], types | {row[shape.tag][2:] for row in rows[:-1]}, shape)
        types.update(row[shape.tag][2:] for row in rows)
        sentence: Row = []
        for place, ((number, _), row) in enumerate(zip(block.lines, rows, strict=True), start=1):
            if shape.numbered:
                if row[0] != str(place):
                    raise BadInput(f"word number {row[0]!r}; expected {place}", path, number)
                if any(_TAG.fullmatch(cell) and cell[0] in ("B", *SINGLE) for cell in row[3:]):
                    counts["entities inside of others, left out"] += 1
            form = _form(path, number, row[shape.word], shape)
            sentence.append((number, form, _tag(path, number, row[shape.tag], shape, counts)))
        yield sentence


def _is_json(path: Path) -> bool:
    return re.match(r'[\[{]\s*["{]', next(read_lines(path))[1]) is not None


def _json_rows(path: Path) -> Iterator[Row]:
    """The sentences of JSON lines, as data sets are exported."""
    for number, line in read_lines(path):
        sentence = strict_json.line(line, path, number)
        words, tags = sentence.get("tokens"), sentence.get("ner_tags", sentence.get("tags"))
        if not isinstance(words, list) or not isinstance(tags, list) or len(words) != len(tags):
            raise BadInput("expected lists `tokens` and `ner_tags`, as long as each other", path, number)
        if numbers := [tag for tag in tags if isinstance(tag, int)]:
            fault = f"the tag {numbers[0]} is a number; expected names such as B-PER: export the names of the labels"
            raise BadInput(fault, path, number)
        if wrong := [text for text in (*words, *tags) if not strict_json.is_text(text)]:
            raise BadInput(f"{wrong[0]!r} among tokens and tags; expected text", path, number)
        shape = Shape(None)
        yield [(number, word, _tag(path, number, tag, shape, Counter())) for word, tag in zip(words, tags, strict=True)]


def language_of_entities(path: Path) -> str:
    """The language whose mark is before the words of a file, as PAN-X's have it; empty where there is none.

    Raises:
        BadInput: the first sentence cannot be read.
    """
    if _is_json(path):
        return ""
    separator = _separator(path)
    first = next(_blocks(path, separator, Counter()), None)
    return shape_of(first.lines, separator).prefix.removesuffix(":") if first else ""


def _separator(path: Path) -> str | None:
    with opened(path) as file:
        return separator_of(file.read(1 << 16))


def separator_of(head: bytes) -> str | None:
    """What is between columns, by a file's head: tabs, if a line that is not a comment has one, or spaces (None)."""
    lines = head.splitlines()
    words = [line for line in lines if not line.startswith(b"#")] or lines
    return "\t" if any(b"\t" in line for line in words) else None


def is_comment(line: str, separator: str | None) -> bool:
    """Whether a line is a comment: it starts with # and has one column, or its first column is # and it has no tag."""
    if not line.startswith("#"):
        return False
    first, *others = _columns(line, separator)
    if separator and not others:
        return True
    return first == "#" and not any(map(_TAG.fullmatch, others))


@dataclass
class _Block:
    """The numbered lines of one sentence. `unended` says that the last is the file's and lacks its line end."""

    lines: list[tuple[int, str]]
    unended: bool = False


def _blocks(path: Path, separator: str | None, counts: Counter[str]) -> Iterator[_Block]:
    """The lines of each sentence: blank lines (white space alone, in WNUT) stand between them."""
    block = _Block([])
    number = 0
    for number, line in read_lines(path, counts):
        if not line.strip():
            if block.lines:
                yield block
            block = _Block([])
        elif line.startswith(DOCUMENT_START):
            counts[f"{DOCUMENT_START} lines"] += 1
        elif not is_comment(line, separator):
            block.lines.append((number, line))
        elif separator is None or separator in line:
            counts["comments with columns"] += 1
    if block.lines:
        block.unended = block.lines[-1][0] == number and not _ends(path)
        yield block


def _ends(path: Path) -> bool:
    """Whether the last line of a file has its line end."""
    with opened(path) as file:
        return deque(file, maxlen=1)[0].endswith(b"\n")


def _check_last(path: Path, number: int, line: str, types: set[str], shape: Shape) -> None:
    """Refuse a last line without its end that may be cut: whole is one whose tag is O or of a type met before.

    Raises:
        BadInput: the type is new, or the word is the last column.
    """
    row = _columns(line, shape.separator)
    tag = row[shape.tag]
    if shape.word in (-1, len(row) - 1) or (tag != "O" and tag[2:] not in types):
        raise BadInput("the last line has no line end: the file is truncated, or add one if it is whole", path, number)


def shape_of(
    block: list[tuple[int, str]],
    separator: str | None,
    word_column: int | None = None,
    tag_column: int | None = None,
) -> Shape:
    """The shape of a file whose first sentence has these numbered lines."""
    rows = [_columns(line, separator) for _, line in block]
    width = len(rows[0])
    numbered = all(
        len(row) > 2 and row[0] == str(place) and _TAG.fullmatch(row[2]) for place, row in enumerate(rows, start=1)
    )
    word, tag = (1, 2) if numbered else (0, -1)
    if word_column is not None or tag_column is not None:
        numbered = False
        word, tag = word_column if word_column is not None else word, tag_column if tag_column is not None else tag
    marks = {match[0] if (match := _LANGUAGE.match(row[word])) else "" for row in rows if word < len(row)}
    prefix = marks.pop() if len(marks) == 1 else ""
    return Shape(separator, word, tag, prefix, numbered, width)


def words_of(path: Path, lines: list[tuple[int, str]], shape: Shape, counts: Counter[str]) -> list[str]:
    """The words of a sentence with these numbered lines, whatever their tags are.

    Raises:
        BadInput: with file and line: a column is missing or too many, or a word lacks the prefix.
    """
    forms = (_form(path, number, _row(path, number, line, shape)[shape.word], shape) for number, line in lines)
    return [word for form in forms if (word := _without_space(form, counts))]


def _row(path: Path, number: int, line: str, shape: Shape) -> list[str]:
    """The columns of a line: as many as the first line has, if the tag's place is counted from the end."""
    row = _columns(line, shape.separator)
    least = max(shape.word + 1, shape.tag + 1, -shape.tag, 2)
    if len(row) < least or (shape.tag < 0 and len(row) != shape.width):
        expected = shape.width if shape.tag < 0 and shape.width >= least else f"at least {least}"
        between = "spaces" if shape.separator is None else "tabs"
        raise BadInput(f"{len(row)} columns between {between}; expected {expected}", path, number)
    return row


def _columns(line: str, separator: str | None) -> list[str]:
    return line.split(separator) if separator else tokens(line)


def _form(path: Path, number: int, text: str, shape: Shape) -> str:
    """What a file has of a word, without the language prefix."""
    if not text.startswith(shape.prefix):
        raise BadInput(f"{text!r} lacks the prefix {shape.prefix!r} of the words before", path, number)
    return text.removeprefix(shape.prefix)


def _without_space(form: str, counts: Counter[str]) -> str:
    """The word; nothing where there is none."""
    if not form.strip():
        counts["words of white space alone, left out"] += 1
        return ""
    return one_word(form, counts)


def _tag(path: Path, number: int, tag: str, shape: Shape, counts: Counter[str]) -> str:
    if not _TAG.fullmatch(tag) or (tag[2:] == "O" and not shape.numbered):
        raise BadInput(f"tag {tag!r}; expected O, B-type, I-type, or as in IOBES and BILOU", path, number)
    if shape.numbered and tag in _NO_TYPE:
        counts[f"{tag} tags read as O"] += 1
        return "O"
    return tag
