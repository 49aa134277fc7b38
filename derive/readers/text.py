"""Read text of any kind (docs/formats.md) as sentences or lines, in chunks that workers read
independently."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from calque.derive.readers.conllu import read_conllu
from calque.derive.readers.english import cut_tokens, split_sentences
from calque.derive.readers.kinds import ANNOTATED, NUMBERED, TAG_LINE, Head, Kind, is_heading
from calque.derive.readers.lines import (
    SIZE,
    WITHHELD,
    Chunk,
    Numbered,
    Place,
    cut_file,
    is_withheld,
    without_marks,
)
from calque.derive.readers.markup import ESCAPED, seems_escaped, unescaped, without_tags
from calque.derive.sentence import UNKNOWN, Sentence

FRAGMENT = 8  # lines of a `<doc>` with at most this many words are not read as sentences
LINE_ENDS = re.compile(r"\r\n|\n|\r")
_JOINER = re.compile(r" @([-,.])@ ")  # how WikiText writes punctuation inside a word
_JOINED = re.compile(rf" *([-,.]?)({UNKNOWN})([-,.]?) *")  # an unknown word with adjacent punctuation
_SPACES = re.compile(" {2,}")
NUMBERS = "line numbers, removed"
UNKNOWN_WORDS = "words that WikiText replaces with <unk>, read as the unknown type"


def detect(path: Path, entities: bool = False) -> Kind:
    """Detect a text file's kind from its name and first lines; raise BadInput for unsupported annotated
    files."""
    head = Head.of(path)
    if head.kind in ANNOTATED and head.kind not in ("treebank", "json", *(["entities"] if entities else [])):
        raise head.refusal("running text, CoNLL-U or JSON lines")
    return head.kind


def chunks(path: Path, size: int = SIZE, kind: Kind | None = None) -> Iterator[Chunk]:
    """Divide a file into chunks of about `size` bytes that consist of whole lines, treebank sentences or
    documents."""
    kind = kind or detect(path)
    if kind == "doc":
        return cut_file(path, kind, size, lambda line: line.rstrip() == b"</doc>", "</doc>")
    if kind == "treebank":
        return cut_file(path, kind, size, bytes.isspace, "blank line")
    return cut_file(path, kind, size)


def sentences(
    chunk: Chunk, escaped: bool = False, column: str = "text"
) -> tuple[list[Sentence], Counter[str]]:
    """Return a chunk's sentences, and counts of exclusions; `escaped`: whether to undo the Moses tokenizer's
    escaping."""
    left_out = Counter[str]()
    if chunk.kind == "treebank":
        part = chunk.numbered(left_out)
        return list(read_conllu(chunk.path, left_out, unparsed=True, part=part)), +left_out
    read: list[list[str]] = []
    for line in lines_of(chunk, column, left_out):
        line = without_marks(line, left_out)
        if chunk.kind == "doc" and line and len(line.split(None, FRAGMENT)) <= FRAGMENT:
            _leave_out("headings and fragments", line, left_out)
            continue
        if escaped:
            line = unescaped(line, left_out)
        else:
            left_out[ESCAPED] += seems_escaped(line)
        if is_withheld(line):
            left_out[WITHHELD] += 1
        elif chunk.kind == "wikitext":
            read += [set_apart(" ".join(words)).split() for words in cut_tokens(line)]
        else:
            read += split_sentences(line, left_out)
    return [Sentence(tuple(words)) for words in read], +left_out


def lines_of(chunk: Chunk, column: str, counts: Counter[str]) -> Iterator[str]:
    """Yield a chunk's lines of text, including blank ones; exclusions and repairs are counted in `counts`."""
    lines = chunk.numbered(counts)
    if chunk.kind == "json":
        yield from _json_texts(column, lines, counts)
    elif chunk.kind == "doc":
        yield from _document_lines(lines, counts)
    elif chunk.kind == "numbered":
        yield from _without_numbers(lines, counts)
    elif chunk.kind == "wikitext":
        yield from _wikitext_lines(lines, counts)
    else:
        yield from (line for _, line in lines)


def _leave_out(reason: str, line: str, counts: Counter[str]) -> None:
    if line:  # a title may be empty
        counts[reason] += 1
        counts[f"words of {reason}"] += len(line.split())


def _json_texts(column: str, lines: Iterable[Numbered], counts: Counter[str]) -> Iterator[str]:
    for place, line in lines:
        if not line.strip():
            counts["blank lines"] += 1
            continue
        row = place.json(line)
        if column not in row:
            raise place.fault(f"no column {column!r}; there are {', '.join(row) or 'none'}")
        if row[column] is None:
            counts["rows without text"] += 1
        else:
            yield from LINE_ENDS.split(place.text(row[column], repr(column)))


def _without_numbers(lines: Iterable[Numbered], counts: Counter[str]) -> Iterator[str]:
    for place, line in lines:
        match = NUMBERED.match(line)
        if match:
            counts[NUMBERS] += 1
            yield line[match.end() :]
        elif line.strip():
            raise place.fault("no number and tab before the text, unlike in the first lines")


def _wikitext_lines(lines: Iterable[Numbered], counts: Counter[str]) -> Iterator[str]:
    for _, line in lines:
        line = _JOINER.sub(r"\1", line) if "@" in line else line
        if line.startswith((" =", "=")) and is_heading(line):
            _leave_out("headings", line, counts)
            continue
        if "<unk>" in line:
            line = line.replace("<unk>", UNKNOWN)
            counts[UNKNOWN_WORDS] += line.count(UNKNOWN)
        yield line


def set_apart(text: str) -> str:
    """Put spaces around unknown words, as in `<unk> - based` for `<unk>-based`."""
    return _SPACES.sub(" ", _JOINED.sub(r" \1 \2 \3 ", text)) if UNKNOWN in text else text


def _document_lines(lines: Iterable[Numbered], counts: Counter[str]) -> Iterator[str]:
    opened: Place | None = None  # the open document's <doc>
    title = False
    for place, line in lines:
        if line.startswith("<doc "):
            if opened:
                raise place.fault(f"<doc> inside the document of line {opened.line}")
            opened, title = place, True
        elif line.rstrip() == "</doc>":
            if not opened:
                raise place.fault("</doc> without <doc>")
            opened = None
        elif not opened:
            if line.strip():
                raise place.fault("text outside of <doc> ... </doc>")
        elif title:
            title = False
            _leave_out("titles", line, counts)
        else:
            bare = unescaped(line, counts)
            if TAG_LINE.fullmatch(bare.strip()):
                _leave_out("tags", bare, counts)
            else:
                yield without_tags(bare, counts)
    if opened:
        raise opened.fault("no </doc> for this <doc>: the file is truncated")
