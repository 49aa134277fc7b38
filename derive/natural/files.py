"""Files of text and bitexts, read in pieces, optionally without the sentences that models are tested on."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from itertools import chain, compress, takewhile, zip_longest
from pathlib import Path
from typing import Any, Self
from unicodedata import normalize

from calque.derive.artefact import digest, input_digest
from calque.derive.errors import BadInput
from calque.derive.fingerprint import ADDED
from calque.derive.natural import parquet
from calque.derive.readers import lines, text
from calque.derive.readers.annotation import COLUMNS, annotation, head_of
from calque.derive.readers.conllu import read_raw_text
from calque.derive.readers.iob2 import read_iob2
from calque.derive.readers.lines import Chunk
from calque.derive.readers.markup import ESCAPED, seems_escaped, unescaped, whole_pairs
from calque.derive.readers.parallel import Pair, words_of
from calque.derive.readers.tables import HEADERS, is_header, is_quoted, unquoted

MANY = 1 << 14  # lines of two parallel files per piece
HEAD = 24  # minimum letters of a sentence withheld inside a longer line; shorter ones may match by chance
WHY = "lines with a sentence that models are tested on"
_OTHER = re.compile(r"[\W_]+")
_UNSPACED = (
    "\u0e00-\u0fff"  # Thai, Lao, Tibetan
    "\u1000-\u109f\u1780-\u17ff"  # Burmese, Khmer
    "\u3000-\u30ff\u31f0-\u31ff"  # punctuation and kana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
    "\uff00-\uffef"  # wide forms
)
_BETWEEN = re.compile(f"(?<=[{_UNSPACED}]) (?=[{_UNSPACED}])")
_ANY = re.compile(f"[{_UNSPACED}]")

Columns = tuple[list[str], ...]  # lines of one language, or parallel lines of two, none blank
Change = Callable[[Columns, Counter[str]], Columns]


@dataclass(frozen=True)
class Piece:
    """A chunk of a file, or of two parallel ones: `read` finds its lines, then `changes` apply."""

    chunks: tuple[Chunk, ...]
    read: Callable[[tuple[Chunk, ...], Counter[str]], Columns]
    changes: tuple[Change, ...] = ()

    def then(self, change: Change) -> Self:
        return replace(self, changes=(*self.changes, change))

    def columns(self, left_out: Counter[str]) -> Columns:
        columns = self.read(self.chunks, left_out)
        for change in self.changes:
            columns = change(columns, left_out)
        return columns


def up_to(megabytes: int, pieces: Iterable[Piece]) -> Iterator[Piece]:
    """The pieces of a file up to the one that reaches `megabytes`; all of them for 0."""
    return takewhile(lambda piece: not megabytes or piece.chunks[0].offset < megabytes * 1_000_000, pieces)


@dataclass(frozen=True)
class TextFiles:
    """Files of one language's text, one text per line, of any kind (`readers.text`); `column` is for JSON
    lines. `megabytes` limits each file to its head (0: no limit). `escaped`: unescape what Moses's tokenizer
    escapes."""

    paths: tuple[Path, ...]
    column: str = "text"
    megabytes: int = 0
    escaped: bool = False

    def __post_init__(self) -> None:
        if not self.paths:
            raise BadInput("a language without text: no file is named")
        if self.megabytes < 0:
            raise BadInput(f"megabytes is 0 (all of each file) or more, not {self.megabytes}")

    def pieces(self) -> Iterator[Piece]:
        change = _unescape if self.escaped else _count_escaped
        for path in self.paths:
            yield from (piece.then(change) for piece in up_to(self.megabytes, self._pieces(path)))

    def _pieces(self, path: Path) -> Iterator[Piece]:
        kind = _kind(path)
        if kind == "parquet":
            return (Piece((chunk,), partial(_running_lines, self.column)) for chunk in parquet.chunks(path))
        if kind in ("treebank", "entities"):
            return iter([Piece((Chunk(path, kind, 0, 0, 1),), _annotated_lines)])
        read = partial(_running_lines, self.column)
        return (Piece((chunk,), read) for chunk in text.chunks(path, lines.SIZE, text.detect(path)))

    def identity(self) -> list[Any]:
        files = [[_kind(path), digest(path)] for path in self.paths]
        return [files, self.column, self.megabytes, self.escaped]


@dataclass(frozen=True)
class BitextFiles:
    """Sentences and translations: line by line in `path` and `beside` (Moses), or in two `columns` of a
    tab-separated `path`. `words_in`: split into words as sets of gold links are, by the codes of both
    languages, without pairs of fewer than `fewest` words on a side."""

    path: Path
    beside: Path | None = None
    columns: tuple[int, int] = (0, 1)
    megabytes: int = 0
    escaped: bool = False
    words_in: tuple[str, str] | None = field(default=None, metadata=ADDED)
    fewest: int = field(default=1, metadata=ADDED)

    def __post_init__(self) -> None:
        if min(self.columns) < 0 or self.columns[0] == self.columns[1]:
            raise BadInput(f"columns {self.columns[0]} and {self.columns[1]}; expected two different ones, from 0")
        if self.megabytes < 0:
            raise BadInput(f"megabytes is 0 (all of it) or more, not {self.megabytes}")

    def pieces(self) -> Iterator[Piece]:
        for path in self.paths:
            first, sample = head_of(path)
            if (kind := annotation(first, sample)) and not (self.beside is None and kind == COLUMNS):
                raise BadInput(f"{kind}; expected sentences and their translations", path, sample[0][0])
        if self.beside is None:
            read = partial(_pairs_of_columns, self.columns, is_quoted(self.path))
            rows = lines.cut_file(self.path, "bitext", lines.ends_line, "line end")
            found: Iterator[Piece] = (Piece((chunk,), read) for chunk in rows)
        else:
            found = (Piece(chunks, _pairs_of_files) for chunks in _parallel_chunks(self.path, self.beside))
        for piece in up_to(self.megabytes, found):
            piece = piece.then(_unescape if self.escaped else _count_escaped)
            yield piece.then(partial(_split, self.words_in, self.fewest)) if self.words_in else piece

    def words(self, source: str, target: str, left_out: Counter[str]) -> Iterator[Pair]:
        """Stream the pairs' words, tokenized as sets of gold links are; `source` and `target` are codes such as en."""
        for piece in self.pieces():
            counts: Counter[str] = Counter()
            columns = piece.columns(counts)
            left_out.update(+counts)
            for first, second in zip(*columns, strict=True):
                yield words_of(first, source), words_of(second, target)

    def identity(self) -> list[Any]:
        identity = [list(map(input_digest, self.paths)), self.columns, self.megabytes, self.escaped]
        return [*identity, self.words_in, self.fewest] if self.words_in else identity

    @property
    def paths(self) -> tuple[Path, ...]:
        return (self.path,) if self.beside is None else (self.path, self.beside)


@dataclass(frozen=True)
class Without:
    """Files without lines that contain a sentence of the files `tests`, compared by letters and digits
    only."""

    files: TextFiles | BitextFiles
    tests: TextFiles

    def pieces(self) -> Iterator[Piece]:
        """The pieces in order; first checks that there are sentences to withhold."""
        sentences(self.tests)
        return (piece.then(partial(_withhold, self.tests)) for piece in self.files.pieces())

    def identity(self) -> list[Any]:
        return [self.files.identity(), self.tests.identity()]


FileSet = TextFiles | BitextFiles | Without
"""Files of text, or of parallel text, with their pieces and an identity for fingerprints."""


def _kind(path: Path) -> str:
    return "parquet" if parquet.is_parquet(path) else text.detect(path, entities=True)


def _running_lines(column: str, chunks: tuple[Chunk, ...], left_out: Counter[str]) -> Columns:
    (chunk,) = chunks
    read = parquet.texts if chunk.kind == "parquet" else text.lines_of
    return (lines.stripped(map(text.set_apart, read(chunk, column, left_out)), left_out),)


def _annotated_lines(chunks: tuple[Chunk, ...], left_out: Counter[str]) -> Columns:
    (chunk,) = chunks
    if chunk.kind == "treebank":
        return (lines.stripped(read_raw_text(chunk.path, left_out), left_out),)
    return ([join_words(sentence.words) for sentence in read_iob2(chunk.path, left_out)],)


def join_words(words: Sequence[str]) -> str:
    """The words joined by spaces, except between letters of scripts without spaces, or if a text was split by
    character."""
    if all(len(word) == 1 for word in words) and _ANY.search("".join(words)):
        return "".join(words)
    return _BETWEEN.sub("", " ".join(words))


def _pairs_of_columns(
    places: tuple[int, int], quoted: bool, chunks: tuple[Chunk, ...], left_out: Counter[str]
) -> Columns:
    (chunk,), rows, least = chunks, list[tuple[str, str]](), max(places) + 1
    for number, line in chunk.numbered(left_out):
        row = (unquoted(line, left_out) if quoted else line).split("\t") if line.strip() else [""] * least
        if len(row) < least:
            raise BadInput(f"{len(row)} tab-separated columns; expected at least {least}", chunk.path, number)
        pair = row[places[0]], row[places[1]]
        if number == 1 and is_header(pair):
            left_out[HEADERS] += 1
        else:
            rows.append(pair)
    return whole_pairs(rows, left_out)


def _pairs_of_files(chunks: tuple[Chunk, ...], left_out: Counter[str]) -> Columns:
    first, second = ([line for _, line in chunk.numbered(left_out)] for chunk in chunks)
    return whole_pairs(zip(first, second, strict=True), left_out)


def _parallel_chunks(path: Path, beside: Path) -> Iterator[tuple[Chunk, Chunk]]:
    with lines.open_bytes(path) as first, lines.open_bytes(beside) as second:
        rows = zip_longest(lines.raw_lines(first, path), lines.raw_lines(second, beside))
        starts, line, uneven = (0, 0), 1, 0
        ends = starts
        for number, (a, b) in enumerate(rows, start=1):
            if a is None or b is None:
                sizes = [number - (side is None) + sum(1 for _ in file) for side, file in ((a, first), (b, second))]
                where = f"; line {uneven:,} is the first that is blank in only one of them" if uneven else ""
                expected = f"{sizes[1]:,} lines for the {sizes[0]:,} of {path}; expected one translation per line"
                raise BadInput(expected + where, beside)
            if not uneven and (not a.strip()) != (not b.strip()):
                uneven = number
            ends = ends[0] + len(a), ends[1] + len(b)
            if number - line + 1 == MANY or sum(ends) - sum(starts) >= lines.LIMIT:
                yield _both(path, beside, starts, ends, line)
                starts, line = ends, number + 1
        if ends != starts:
            yield _both(path, beside, starts, ends, line)


def _both(path: Path, beside: Path, starts: Sequence[int], ends: Sequence[int], line: int) -> tuple[Chunk, Chunk]:
    (a, c), (b, d) = starts, ends
    return Chunk(path, "bitext", a, b - a, line), Chunk(beside, "bitext", c, d - c, line)


def _withhold(tests: TextFiles, columns: Columns, left_out: Counter[str]) -> Columns:
    tested = sentences(tests)
    return _only(columns, lambda row: not any(map(tested.within, row)), WHY, left_out)


def _unescape(columns: Columns, left_out: Counter[str]) -> Columns:
    unescaped_columns = tuple([unescaped(line, left_out).strip() for line in column] for column in columns)
    return _only(unescaped_columns, all, "blank lines", left_out)


def _count_escaped(columns: Columns, left_out: Counter[str]) -> Columns:
    left_out[ESCAPED] += sum(map(seems_escaped, chain.from_iterable(columns)))
    return columns


def _split(codes: tuple[str, str], fewest: int, columns: Columns, left_out: Counter[str]) -> Columns:
    both = zip(columns, codes, strict=True)
    split = tuple([" ".join(words_of(line, code)) for line in column] for column, code in both)
    why = f"pairs with fewer than {fewest} words on a side"
    return _only(split, lambda row: min(line.count(" ") for line in row) >= fewest - 1, why, left_out)


def _only(columns: Columns, fits: Callable[[tuple[str, ...]], bool], otherwise: str, left_out: Counter[str]) -> Columns:
    fitting = [fits(row) for row in zip(*columns, strict=True)]
    left_out[otherwise] += fitting.count(False)
    return tuple(list(compress(column, fitting)) for column in columns)


class Sentences:
    def __init__(self, texts: Iterable[str]) -> None:
        self.whole = {bare for text in texts if (bare := letters(text))}
        self._by_head: dict[str, list[str]] = {}
        for bare in self.whole:
            if len(bare) >= HEAD:
                self._by_head.setdefault(bare[:HEAD], []).append(bare)

    def within(self, line: str) -> bool:
        """Whether a line is one of the sentences or contains a long one."""
        bare = letters(line)
        return bare in self.whole or any(
            bare.startswith(sentence, i)
            for i in range(len(bare) - HEAD + 1)
            for sentence in self._by_head.get(bare[i : i + HEAD], ())
        )


def letters(text: str) -> str:
    """Letters and digits only, in lower case and Unicode's form NFKC, which unifies accents and widths."""
    return _OTHER.sub("", normalize("NFKC", text).lower())


def sentences(tests: TextFiles) -> Sentences:
    """The sentences of files, read once per process; BadInput if there are none."""
    return _read_sentences(tests, tuple(map(digest, tests.paths)))


@lru_cache(maxsize=4)
def _read_sentences(tests: TextFiles, digests: tuple[str, ...]) -> Sentences:
    left_out: Counter[str] = Counter()
    found = Sentences(line for piece in tests.pieces() for line in piece.columns(left_out)[0])
    if not found.whole:
        raise BadInput("no sentence to withhold", tests.paths[0])
    return found
