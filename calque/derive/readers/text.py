"""Read text of any kind (docs/formats.md) as sentences or lines, in chunks that are read independently."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from html import unescape
from itertools import chain, islice
from pathlib import Path
from typing import Any, Literal

from calque.derive.errors import BadInput
from calque.derive.files import check_file, read_toml
from calque.derive.readers.conllu import PLUS, read_conllu, read_raw_text
from calque.derive.readers.english import cut_tokens, split_sentences
from calque.derive.readers.examples import read_iob2
from calque.derive.readers.lines import (
    COMPRESSIONS,
    SIZE,
    Chunk,
    Numbered,
    Place,
    cut_file,
    read_lines,
    without_marks,
)
from calque.derive.sentence import UNKNOWN, Sentence

Kind = Literal["wikitext", "doc", "plain", "json", "treebank", "entities", "parquet", "columns"]
TEXT: tuple[Kind, ...] = ("wikitext", "doc", "plain", "treebank")
NATURAL_TEXT: tuple[Kind, ...] = (*TEXT, "entities", "parquet")  # in any language
PARQUET = b"PAR1"  # the first bytes of every Parquet file
SAMPLE = 200  # maximum number of lines, without blank ones, read to recognise a file's kind
_TREE = re.compile(r"\d+(?:[-.]\d+)?(?:\t[^\t]+){9}")
_LABEL = r"(?:O|[BI]-\S+)"
_TAGGED = re.compile(rf"[^\t]+(?:\t[^\t]*)*\t{_LABEL}|\d+\t[^\t]*\t{_LABEL}\t.*|\S+(?: \S+){{0,3}} {_LABEL}")

FRAGMENT = 8  # lines of a `<doc>` with at most this many words are not read as sentences
LINE_ENDS = re.compile(r"\r\n|\n|\r")
UNKNOWN_WORDS = "words that WikiText replaces with <unk>, read as the unknown type"
_HEADING = re.compile(r" ?((?:= )+)[^=\s].*?((?: =)+) ?")
_JOINER = re.compile(r" @([-,.])@ ")  # how WikiText writes punctuation inside a word
_JOINED = re.compile(rf" *([-,.]?)({UNKNOWN})([-,.]?) *")
_SPACES = re.compile(" {2,}")

_TAGS = {name: words.split() for name, words in read_toml(Path(__file__).with_suffix(".toml")).items()}
_ANY_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_BREAK, _INLINE = (
    re.compile(rf"</?(?:{'|'.join(_TAGS[name])})(?:\s[^<>]*=[^<>]*)?\s*/?>", re.IGNORECASE)
    for name in ("breaking", "inline")
)
_COMMENT = re.compile(r"<!--(?:(?!<!--).)*?-->")
_NOTE = re.compile(r"<ref\b(?:[^<>]*[^<>/])?>(?:(?!<ref\b).)*?</ref>", re.IGNORECASE)
_REFERENCE = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_WHITE = re.compile(r"[\t-\r\x1c-\x1e\x85\u2028\u2029]")
_UNSPACED = (
    "\u0e00-\u0fff"  # Thai, Lao, Tibetan
    "\u1000-\u109f\u1780-\u17ff"  # Burmese, Khmer
    "\u3000-\u30ff\u31f0-\u31ff"  # punctuation and kana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
    "\uff00-\uffef"  # wide forms
)
_BETWEEN = re.compile(f"(?<=[{_UNSPACED}]) (?=[{_UNSPACED}])")
_ANY = re.compile(f"[{_UNSPACED}]")


def detect(path: Path, kinds: Collection[Kind] = TEXT) -> Kind:
    """Detect a file's kind from its name and first lines; raise BadInput if it is not one of `kinds`."""
    check_file(path)
    if "parquet" in kinds:
        with path.open("rb") as file:
            if file.read(len(PARQUET)) == PARQUET:
                return "parquet"
    sample = list(islice((row for row in read_lines(path) if row[1].strip()), SAMPLE))
    if not sample:
        raise BadInput("this file contains only white space", path)
    lines = [numbered for numbered in sample if not numbered[1].startswith("#")] or sample
    is_plus = sample[0][1].startswith(PLUS)
    kind = "treebank" if is_plus else _kind(path, [line for _, line in lines])
    if kind not in kinds:
        raise lines[0][0].fault(f"this file seems to be {kind}; expected {', '.join(kinds)}")
    return kind


def _kind(path: Path, lines: Sequence[str]) -> Kind:
    if lines[0].startswith("<doc "):
        return "doc"
    if _TREE.fullmatch(lines[0]):
        return "treebank"
    if re.match(r'(?:\[\s*)?\{\s*"', lines[0]):
        return "json"
    if 2 * sum(_TAGGED.fullmatch(line.rstrip()) is not None for line in lines) >= len(lines):
        return "entities"
    tabs = Counter(line.strip().count("\t") for line in lines).most_common(1)[0]
    if len(lines) > 1 and tabs[0] and 5 * tabs[1] >= 4 * len(lines):
        return "columns"
    name = path.stem if path.suffix in COMPRESSIONS else path.name
    return "wikitext" if name.endswith(".tokens") or is_heading(lines[0]) else "plain"


def is_heading(line: str) -> bool:
    """Whether a WikiText line is a heading, such as ` = = Size = = `."""
    match = _HEADING.fullmatch(line)
    return match is not None and len(match[1]) == len(match[2])


def chunks(path: Path, size: int = SIZE, kinds: Collection[Kind] = TEXT) -> Iterator[Chunk]:
    """Divide a file of one of these kinds into chunks of about `size` bytes: whole lines, treebank sentences,
    documents or row groups; a file with entities is not divided."""
    kind = detect(path, kinds)
    if kind == "parquet":
        return _row_groups(path)
    if kind == "entities":
        return iter([Chunk(path, kind, 0, 1, b"")])
    if kind == "doc":
        return cut_file(path, kind, size, lambda line: line.rstrip() == b"</doc>")
    return cut_file(path, kind, size, bytes.isspace) if kind == "treebank" else cut_file(path, kind, size)


def sentences(chunk: Chunk) -> tuple[list[Sentence], Counter[str]]:
    """Return a chunk's sentences, and counts of exclusions."""
    left_out = Counter[str]()
    if chunk.kind == "treebank":
        return list(read_conllu(chunk.path, left_out, part=chunk.numbered())), +left_out
    read: list[list[str]] = []
    for line in lines_of(chunk, left_out):
        line = without_marks(line)
        if chunk.kind == "doc" and line and len(line.split(None, FRAGMENT)) <= FRAGMENT:
            _leave_out("headings and fragments", line, left_out)
        elif chunk.kind == "wikitext":
            read += [set_apart(" ".join(words)).split() for words in cut_tokens(line)]
        else:
            read += split_sentences(line)
    return [Sentence(tuple(words)) for words in read], +left_out


def lines_of(chunk: Chunk, counts: Counter[str]) -> Iterable[str]:
    """Return a chunk's lines, including blank ones, or the sentences of treebanks and entity files."""
    if chunk.kind == "parquet":
        column = _parquet(chunk.path, lambda file: file.read_row_group(chunk.line, ["text"])["text"])
        rows = column.to_pylist()
        texts = [Place(chunk.path).text(row, "column text") for row in rows if row is not None]
        counts["rows without text"] += len(rows) - len(texts)
        return chain.from_iterable(map(LINE_ENDS.split, texts))
    if chunk.kind == "entities":
        return [join_words(sentence.words) for sentence in read_iob2(chunk.path, counts)]
    lines = chunk.numbered()
    if chunk.kind == "treebank":
        return read_raw_text(chunk.path, lines)
    if chunk.kind == "doc":
        return _document_lines(lines, counts)
    plain = (line for _, line in lines)
    return _wikitext_lines(plain, counts) if chunk.kind == "wikitext" else plain


def _leave_out(reason: str, line: str, counts: Counter[str]) -> None:
    counts[reason] += bool(line)  # a title may be empty
    counts[f"words of {reason}"] += len(line.split())


def _row_groups(path: Path) -> Iterator[Chunk]:
    """Yield a chunk per row group: `offset` counts uncompressed bytes, and `line` is the group's index."""
    metadata, offset = _parquet(path, lambda file: file.metadata), 0
    for group in range(metadata.num_row_groups):
        yield Chunk(path, "parquet", offset, group, b"")
        offset += metadata.row_group(group).total_byte_size


def _parquet(path: Path, read: Callable[[Any], Any]) -> Any:
    try:
        from pyarrow import parquet

        file = parquet.ParquetFile(path)
        if "text" not in (names := file.schema_arrow.names):
            raise BadInput(f"no column text; available: {', '.join(names)}", path)
        return read(file)
    except ImportError:
        raise BadInput("reading Parquet needs pyarrow: pip install pyarrow", path) from None
    except (OSError, ValueError) as error:  # pyarrow's errors are subclasses of these
        raise BadInput(f"this Parquet file is damaged: {error}", path) from None


def join_words(words: Sequence[str]) -> str:
    """Join words with spaces, except in scripts without spaces and in text split into characters."""
    if all(len(word) == 1 for word in words) and _ANY.search("".join(words)):
        return "".join(words)
    return _BETWEEN.sub("", " ".join(words))


def _wikitext_lines(lines: Iterable[str], counts: Counter[str]) -> Iterator[str]:
    for line in lines:
        line = _JOINER.sub(r"\1", line) if "@" in line else line
        if is_heading(line):
            _leave_out("headings", line, counts)
        elif "<unk>" in line:
            counts[UNKNOWN_WORDS] += line.count("<unk>")
            yield line.replace("<unk>", UNKNOWN)
        else:
            yield line


def set_apart(text: str) -> str:
    """Put spaces around unknown words, as in `<unk> - based` for `<unk>-based`."""
    return _SPACES.sub(" ", _JOINED.sub(r" \1 \2 \3 ", text)) if UNKNOWN in text else text


def _document_lines(lines: Iterable[Numbered], counts: Counter[str]) -> Iterator[str]:
    doc_line: Place | None = None  # the <doc> line of the current document
    title = False
    for place, line in lines:
        begins, ends = line.startswith("<doc "), line.rstrip() == "</doc>"
        if begins == bool(doc_line) and (begins or ends or line.strip()):
            raise place.fault("misplaced line; expected text only between <doc ...> and </doc>, not nested")
        if begins or ends:
            doc_line, title = (place, True) if begins else (None, False)
        elif title:
            title = False
            _leave_out("titles", line, counts)
        elif doc_line:
            bare = unescaped(line, counts)
            if _ANY_TAG.fullmatch(bare.strip()):
                _leave_out("tags", bare, counts)
            else:
                yield without_tags(bare, counts)
    if doc_line:
        raise doc_line.fault("no </doc> for this <doc>: the file is truncated")


def unescaped(text: str, counts: Counter[str]) -> str:
    """Replace HTML character references, also if escaped twice; line breaks and tabs become spaces."""
    original = text
    for _ in range(3):
        text = _REFERENCE.sub(lambda match: _WHITE.sub(" ", unescape(match[0])), text)
    if text != original:
        counts["lines with escaped characters, unescaped"] += 1
    return text


def without_tags(text: str, counts: Counter[str]) -> str:
    """Remove HTML and MediaWiki tags, comments and footnotes; tags such as `<br>` become spaces."""
    removed = 0
    for pattern, replacement in ((_COMMENT, ""), (_NOTE, ""), (_BREAK, " "), (_INLINE, "")):
        text, count = pattern.subn(replacement, text)
        removed += count
    counts["tags inside lines, removed"] += removed
    return _SPACES.sub(" ", text) if removed else text
