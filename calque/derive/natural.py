"""Natural languages: text and bitexts, encoded with an existing vocabulary or one learnt from them."""

import math
import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import lru_cache, partial
from itertools import chain, compress, islice, takewhile, zip_longest
from pathlib import Path
from typing import Any, ClassVar, Literal
from unicodedata import normalize

import numpy as np

from calque.derive.build import Encoded, vocabulary_of, write_corpora
from calque.derive.corpus import LONGEST, Corpus
from calque.derive.errors import BadInput
from calque.derive.files import check_name, digest, input_digest, making
from calque.derive.fingerprint import ADDED, fingerprint, sha256
from calque.derive.languages import BITEXTS, FORMAT, KEPT, KIND, RESERVED, SIDES, VOCABULARY, NamePair
from calque.derive.readers import lines, text
from calque.derive.readers.examples import is_placeholder
from calque.derive.readers.lines import EDITION, Chunk
from calque.derive.readers.parallel import words_of
from calque.derive.sentence import UNKNOWN
from calque.derive.transform import Account
from calque.derive.vocabulary import TOKENIZER, Vocabulary, given_fingerprint, open_vocabulary
from calque.derive.workers import Progress, Workers, silent

MANY = 1 << 14  # number of lines in parallel chunks
HEAD = 24  # shorter test sentences, which would match by chance, are not searched for inside lines
WHY = "lines that contain a test sentence"
NO_TYPE, TOO_LONG = "lines without a type", "lines that are too long"
_OTHER = re.compile(r"[\W_]+")
_UNKNOWN = re.compile(rf"\s*{UNKNOWN}")

Columns = tuple[list[str], ...]  # non-blank lines in one language, or parallel lines in two
Chunks = tuple[Chunk, ...]  # a chunk of one file, or parallel chunks of two


@dataclass(frozen=True)
class TextFiles:
    """Text files of any kind (docs/formats.md) in one language. At most `megabytes` of each are read (0: no
    limit), except of files with entities."""

    former_fields: ClassVar = {"column": "text", "escaped": False}

    paths: tuple[Path, ...]
    megabytes: int = 0

    def __post_init__(self) -> None:
        if not self.paths:
            raise BadInput("a language needs at least one text file")

    def chunks(self) -> Iterator[Chunks]:
        """Yield the chunks of all files; raise BadInput for unsuitable files."""
        limit = self.megabytes * 1_000_000 or math.inf
        for path in self.paths:
            chunks = text.chunks(path, lines.SIZE, text.NATURAL_TEXT)
            yield from ((chunk,) for chunk in takewhile(lambda chunk: chunk.offset < limit, chunks))

    def read(self, chunks: Chunks, left_out: Counter[str]) -> Columns:
        """Read a chunk as one column of lines; count exclusions."""
        (chunk,) = chunks
        texts = map(text.set_apart, text.lines_of(chunk, left_out))
        if chunk.kind == "entities":
            return (list(texts),)
        return _complete(((line,) for line in texts), 1, left_out)

    def identity(self) -> list[Any]:
        """The values that determine the lines, for fingerprints."""
        files = [[text.detect(path, text.NATURAL_TEXT), digest(path)] for path in self.paths]
        return [files, "text", self.megabytes, False]


@dataclass(frozen=True)
class BitextFiles:
    """Sentences and translations, line by line in the files `path` and `beside` or in two `columns` of the
    tab-separated file `path`. If `words_in` contains two language codes, text is split into words as in
    gold-link sets, and pairs with fewer than `fewest` words on a side are left out."""

    former_fields: ClassVar = {"escaped": False, "megabytes": 0}

    path: Path
    beside: Path | None = None
    columns: tuple[int, int] = (0, 1)
    words_in: tuple[str, str] | None = field(default=None, metadata=ADDED)
    fewest: int = field(default=1, metadata=ADDED)

    @property
    def paths(self) -> tuple[Path, ...]:
        return (self.path, self.beside) if self.beside else (self.path,)

    def chunks(self) -> Iterator[Chunks]:
        """Yield the chunks of one file, or parallel chunks of two; raise BadInput for unsuitable files."""
        for path in self.paths:
            text.detect(path, ("wikitext", "doc", "plain") if self.beside else ("plain", "columns"))
        if self.beside:
            return _parallel_chunks(self.paths)
        return ((chunk,) for chunk in lines.cut_file(self.path, "bitext"))

    def read(self, chunks: Chunks, left_out: Counter[str]) -> Columns:
        """Read chunks as one column of lines per language; count exclusions."""
        sides = [chunk.numbered() for chunk in chunks]
        rows: list[tuple[str, ...]] = []
        if self.beside:
            rows += ((first, second) for (_, first), (_, second) in zip(*sides, strict=True))
        for place, line in () if self.beside else sides[0]:
            row = line.split("\t")
            if line.strip() and len(row) <= max(self.columns):
                raise place.fault(f"{len(row)} tab-separated columns; expected over {max(self.columns)}")
            rows.append(tuple(row[column] if line.strip() else "" for column in self.columns))
        columns = _complete(rows, 2, left_out)
        if not self.words_in:
            return columns
        codes = zip(columns, self.words_in, strict=True)
        split = tuple([" ".join(words_of(line, code)) for line in column] for column, code in codes)
        reason = f"pairs with fewer than {self.fewest} words on a side"
        return _only(
            split, lambda row: min(side.count(" ") for side in row) + 1 >= self.fewest, reason, left_out
        )

    def identity(self) -> list[Any]:
        identity = [list(map(input_digest, self.paths)), self.columns, 0, False]
        return [*identity, self.words_in, self.fewest] if self.words_in else identity


FileSet = TextFiles | BitextFiles


def read_all(files: FileSet, left_out: Counter[str], withheld: TextFiles | None = None) -> Iterator[Columns]:
    """Yield the lines of each chunk, one column per language, except those with a `withheld` sentence."""
    return (_read(files, chunks, left_out, withheld) for chunks in files.chunks())


def _read(files: FileSet, chunks: Chunks, left_out: Counter[str], withheld: TextFiles | None) -> Columns:
    columns = files.read(chunks, left_out)
    if withheld is None:
        return columns
    tested = sentences(withheld)
    return _only(columns, lambda row: not any(map(tested.within, row)), WHY, left_out)


def _parallel_chunks(paths: Sequence[Path]) -> Iterator[Chunks]:
    """Divide two parallel files into chunks of the same MANY lines."""
    line = 1
    with ExitStack() as files:
        sides = [files.enter_context(lines.open_bytes(path)) for path in paths]
        rows = zip_longest(*sides, fillvalue=b"")
        while block := list(islice(rows, MANY)):
            if not all(block[-1]):
                size = line - 1 + sum(map(all, block))
                fault = f"this file has {size:,} lines; the other file of the bitext has more"
                raise BadInput(fault, paths[bool(block[-1][0])])
            columns = zip(paths, zip(*block, strict=True), strict=True)
            yield tuple(Chunk(path, "bitext", 0, line, b"".join(column)) for path, column in columns)
            line += len(block)


def _complete(rows: Iterable[Sequence[str]], sides: int, left_out: Counter[str]) -> Columns:
    """Strip texts; return the columns of rows with text on all `sides`, and count the others."""
    complete = []
    for row in rows:
        bare = [lines.without_marks(side).strip() for side in row]
        if sides > 1 and any(map(is_placeholder, bare)):
            left_out["pairs with a placeholder for a translation"] += 1
        elif all(bare):
            complete.append(bare)
        else:
            left_out["pairs with an empty side" if any(bare) else "blank lines"] += 1
    return tuple([row[side] for row in complete] for side in range(sides))


def _only(
    columns: Columns, fits: Callable[[tuple[str, ...]], bool], otherwise: str, left_out: Counter[str]
) -> Columns:
    mask = [fits(row) for row in zip(*columns, strict=True)]
    left_out[otherwise] += mask.count(False)
    return tuple(list(compress(column, mask)) for column in columns)


class Sentences:
    """A set of sentences to search for in lines; only letters and digits are compared."""

    def __init__(self, texts: Iterable[str]) -> None:
        self.whole = {bare for text in texts if (bare := letters(text))}
        self._by_head: defaultdict[str, list[str]] = defaultdict(list)
        for bare in self.whole:
            self._by_head[bare[:HEAD]].append(bare)

    def within(self, line: str) -> bool:
        """Whether a line equals one of the sentences or contains one of at least HEAD characters."""
        bare = letters(line)
        for i in range(len(bare) - HEAD + 1):
            if any(bare.startswith(long, i) for long in self._by_head.get(bare[i : i + HEAD], ())):
                return True
        return bare in self.whole


def letters(text: str) -> str:
    """Return a text's letters and digits in lower case, after NFKC normalisation."""
    return _OTHER.sub("", normalize("NFKC", text).lower())


def sentences(tests: TextFiles) -> Sentences:
    """Read the sentences in test files, once per process; raise BadInput if there are none."""
    return _read_sentences(tests, *map(input_digest, tests.paths))


@lru_cache(maxsize=4)
def _read_sentences(tests: TextFiles, *digests: str) -> Sentences:
    sentences = Sentences(line for (column,) in read_all(tests, Counter()) for line in column)
    if not sentences.whole:
        raise BadInput("this file contains no sentences to withhold", tests.paths[0])
    return sentences


def encode_lines(vocabulary: Vocabulary, lines: Sequence[str]) -> Corpus:
    """Encode each line, with the unknown type for UNKNOWN words and without words that have no ids."""
    parts = [_UNKNOWN.split(line) for line in lines]  # the text between unknown words
    encodings = iter(vocabulary.encode_texts(list(chain.from_iterable(parts))))
    ids, pieces, words = list[int](), list[int](), list[int]()
    for known_parts in parts:
        before = len(pieces)
        for place, (part, encoding) in enumerate(zip(known_parts, encodings, strict=False)):
            if place:
                ids.append(vocabulary.specials.unknown)
                pieces.append(1)
            if part:
                ids += encoding.ids
                pieces += _pieces(part, [stop for _, stop in encoding.offsets])
        words.append(len(pieces) - before)
    counts = np.array(pieces, np.int64), np.array(words, np.int64)
    return Corpus.of(vocabulary.as_text(np.array(ids, np.int64)), *counts)


def _pieces(line: str, stops: Sequence[int]) -> list[int]:
    """Return the number of ids of each word that has ids, or of the line if ids are not in word order. Id i
    ends before character `stops[i]`."""
    ends, end = [], 0
    for word in line.split():
        end = line.index(word, end) + len(word)
        ends.append(end)
    words = [min(bisect_left(ends, stop), len(ends) - 1) for stop in stops]
    return list(Counter(words).values()) if words == sorted(words) else [len(words)]


def encode_piece(
    folder: Path, digest: str, withheld: TextFiles | None, piece: tuple[FileSet, Chunks]
) -> list[Encoded]:
    """Encode parallel chunks; the first language's account counts the lines left out."""
    vocabulary, account = vocabulary_of(folder, digest), Account()
    sides = [encode_lines(vocabulary, column) for column in _read(*piece, account.left_out, withheld)]
    empty = np.any([side.pieces.sizes == 0 for side in sides], axis=0)
    too_long = np.any([_too_long(side) for side in sides], axis=0) & ~empty
    account.left_out[NO_TYPE] += int(empty.sum())
    account.left_out[TOO_LONG] += int(too_long.sum())
    first, *other_sides = (side.where(~(empty | too_long)) for side in sides)
    return [(first, account), *((side, Account()) for side in other_sides)]


def _too_long(lines: Corpus) -> np.ndarray:
    """Whether each line has more words, or a word more sub-words, than can be stored, (N,) bool."""
    mask = lines.pieces.sizes > LONGEST
    mask[lines.pieces.item[lines.pieces.values > LONGEST]] = True
    return mask


Rows = Literal["used", "all"]
Texts = Mapping[str, FileSet]
Bitexts = Mapping[NamePair, tuple[FileSet, ...]]


def natural_fingerprint(
    texts: Texts, bitexts: Bitexts, vocabulary: Path, rows: Rows = "used", withheld: TextFiles | None = None
) -> str:
    """Return the fingerprint of the folder that `derive_natural` writes for these inputs."""

    def identity(files: FileSet) -> list[Any]:
        return [files.identity(), withheld.identity()] if withheld else files.identity()

    return fingerprint(
        FORMAT,
        EDITION,
        [[name, identity(files)] for name, files in texts.items()],
        [[pair, list(map(identity, parts))] for pair, parts in bitexts.items()],
        given_fingerprint(vocabulary),
        rows,
        [],  # dictionaries, in earlier versions
    )


def derive_natural(
    texts: Texts,
    bitexts: Bitexts,
    vocabulary: Path,
    folder: Path,
    workers: int = 1,
    progress: Progress = silent,
    rows: Rows = "used",
    withheld: TextFiles | None = None,
) -> Path:
    """Encode natural languages and write them atomically to a folder for `Languages.open`. The keys of
    `bitexts` are pairs of names in `texts`. Models get rows for "all" types, or for special types and those
    "used" in the text. Lines with a `withheld` sentence are left out."""
    check_languages(texts, bitexts)
    print_ = natural_fingerprint(texts, bitexts, vocabulary, rows, withheld)
    types = open_vocabulary(vocabulary)
    facts: dict[str, Any] = {"format": FORMAT, "fingerprint": print_, "languages": {}, "pairs": []}
    with Workers(workers, progress) as pool, making(folder, KIND, facts) as part:
        place = part / VOCABULARY
        types.save(place)
        write = partial(_write_corpora, place, types, pool, withheld)
        for name, files in texts.items():
            counts = write(name, [files], {name: part / name})
            facts["languages"][name] = {"fingerprint": fingerprint(print_, name), **counts}
        for pair, parts in bitexts.items():
            pair_folder, name = f"{BITEXTS}/{'/'.join(pair)}", "-".join(pair)
            sides = {f"{name} ({side})": part / pair_folder / side for side in SIDES}
            facts["pairs"].append({"languages": pair, "folder": pair_folder, **write(name, parts, sides)})
        types.save(place)
        facts[VOCABULARY] = types.account
        if rows == "used":
            type_ids = np.union1d(types.types, types.specials.ids).astype(np.int64)
            np.save(part / KEPT, type_ids)
            facts[VOCABULARY] |= {"rows": len(type_ids)}
    return folder


def check_languages(texts: Texts, bitexts: Bitexts) -> None:
    """Raise BadInput for names that languages cannot have, and for bitexts without text."""
    for name in texts:
        check_name(name, "a language called")
        if name in RESERVED:
            raise BadInput(f"a language cannot be called {name!r}; {', '.join(RESERVED)} are reserved")
    for pair, files in bitexts.items():
        if not set(pair) <= set(texts) or pair[0] == pair[1] or not files or pair[::-1] in bitexts:
            expected = "two different languages with text, a file, and no bitext in the other direction"
            raise BadInput(f"the bitext {'-'.join(pair)} needs {expected}")


def _write_corpora(
    folder: Path,
    vocabulary: Vocabulary,
    pool: Workers,
    withheld: TextFiles | None,
    name: str,
    files: Sequence[FileSet],
    folders: Mapping[str, Path],
) -> dict[str, Any]:
    encode = partial(encode_piece, folder, sha256(folder / TOKENIZER), withheld)

    def pieces() -> Iterator[tuple[FileSet, Chunks]]:
        return ((part, chunks) for part in files for chunks in part.chunks())

    chunks = pool.map(encode, pieces, f"encoding {name}")
    counts, accounts = zip(*write_corpora(folders, vocabulary, chunks).values(), strict=True)
    left_out, written = +accounts[0].left_out, counts[0]["sentences"]
    out = [{"words": side["words"], "tokens": side["tokens"]} for side in counts]
    return {
        "in": {"lines": written + left_out[NO_TYPE] + left_out[TOO_LONG]},
        "out": {"lines": written, **(out[0] if len(out) == 1 else {"sides": out})},
        "left out": dict(sorted(left_out.items())),
    }
