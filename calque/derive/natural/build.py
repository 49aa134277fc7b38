"""Write a folder of natural languages that are encoded with an existing vocabulary, or a folder of sentences
and their translations with a vocabulary learnt from both."""

import hashlib
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, Literal

import numpy as np

from calque.derive.artefact import input_digest
from calque.derive.build import CorporaWriter
from calque.derive.corpus import LONGEST, Corpus
from calque.derive.dictionary import LEXICON_FORMAT, id_pairs, read_lexicon, write_dictionary
from calque.derive.encode import Encoded, encode_sentences, vocabulary_of
from calque.derive.errors import BadInput, listed
from calque.derive.files import check_name
from calque.derive.fingerprint import fingerprint, sha256
from calque.derive.languages import (
    BITEXTS,
    DICTIONARY,
    FORMAT,
    KEPT,
    RESERVED,
    SIDES,
    SOURCE,
    VOCABULARY,
    NamePair,
    new_folder,
)
from calque.derive.natural.files import Chunks, FileSet
from calque.derive.readers.lines import EDITION
from calque.derive.sentence import UNKNOWN, Sentence
from calque.derive.transform import Account
from calque.derive.vocabulary import TOKENIZER, GivenVocabulary, Vocabulary, learn_of_words
from calque.derive.workers import Progress, Workers, silent

NO_TYPE, TOO_LONG = "lines without a type", "lines that are too long"
TRANSLATED = 10_000  # number of sentence pairs encoded at a time by `write_translation`
_UNKNOWN = re.compile(rf"\s*{UNKNOWN}")


def encode_lines(vocabulary: Vocabulary, lines: Sequence[str]) -> Corpus:
    """Encode each line. UNKNOWN words are encoded as the unknown type, and words without ids are left out."""
    parts = [_UNKNOWN.split(line) for line in lines]  # the text between unknown words
    encodings = iter(vocabulary.encode_texts(list(chain.from_iterable(parts))))
    ids, pieces, words = list[int](), list[int](), list[int]()
    for texts in parts:
        before = len(pieces)
        for place, (text, encoding) in enumerate(zip(texts, encodings, strict=False)):
            if place:
                ids.append(vocabulary.specials.unknown)
                pieces.append(1)
            if text:
                ids += encoding.ids
                pieces += _pieces(text, [stop for _, stop in encoding.offsets])
        words.append(len(pieces) - before)
    counts = np.array(pieces, np.int64), np.array(words, np.int64)
    return Corpus.of(vocabulary.as_text(np.array(ids, np.int64)), *counts)


def _pieces(line: str, stops: Sequence[int]) -> list[int]:
    """Return the number of ids of each word that has ids. Id i ends before character `stops[i]`. If ids are
    not in word order, they all count as one word."""
    ends, end = [], 0
    for word in line.split():
        end = line.index(word, end) + len(word)
        ends.append(end)
    words = [min(bisect_left(ends, stop), len(ends) - 1) for stop in stops]
    return list(Counter(words).values()) if words == sorted(words) else [len(words)]


def encode_piece(folder: Path, digest: str, piece: tuple[FileSet, Chunks]) -> list[Encoded]:
    """Encode parallel chunks, one per language. The first language's account counts the lines left out."""
    account = Account()
    vocabulary, (files, chunks) = vocabulary_of(folder, digest), piece
    sides = [encode_lines(vocabulary, lines) for lines in files.read(chunks, account.left_out)]
    empty = np.any([side.pieces.sizes == 0 for side in sides], axis=0)
    too_long = np.any([_too_long(side) for side in sides], axis=0) & ~empty
    account.left_out[NO_TYPE] += int(empty.sum())
    account.left_out[TOO_LONG] += int(too_long.sum())
    first, *other_sides = (side.where(~(empty | too_long)) for side in sides)
    return [Encoded(first, account), *map(Encoded, other_sides)]


def _too_long(lines: Corpus) -> np.ndarray:
    """Whether each line has more words, or a word of more sub-words, than can be stored, (N,) bool."""
    mask = lines.pieces.sizes > LONGEST
    mask[lines.pieces.item[lines.pieces.values > LONGEST]] = True
    return mask


Rows = Literal["used", "all"]
Texts = Mapping[str, FileSet]
Bitexts = Mapping[NamePair, tuple[FileSet, ...]]
Dictionaries = Mapping[NamePair, Path]


def natural_fingerprint(
    texts: Texts,
    bitexts: Bitexts,
    vocabulary: GivenVocabulary,
    rows: Rows = "used",
    dictionaries: Dictionaries | None = None,
) -> str:
    """Return the fingerprint of the folder that `derive_natural` writes for these inputs."""
    return fingerprint(
        FORMAT,
        EDITION,
        [[name, files.identity()] for name, files in texts.items()],
        [[pair, [files.identity() for files in parts]] for pair, parts in bitexts.items()],
        vocabulary.identity(),
        rows,
        [[pair, input_digest(path), LEXICON_FORMAT] for pair, path in (dictionaries or {}).items()],
    )


def derive_natural(
    texts: Texts,
    bitexts: Bitexts,
    vocabulary: GivenVocabulary,
    folder: Path,
    workers: int = 1,
    progress: Progress = silent,
    rows: Rows = "used",
    dictionaries: Dictionaries | None = None,
) -> Path:
    """Encode natural languages and write them atomically to a folder for `Languages.open`. The keys of
    `bitexts` and `dictionaries` are pairs of names in `texts`. Models get rows for all types if `rows` is
    "all", or for special types and types in the text if it is "used"."""
    dictionaries = dictionaries or {}
    check_languages(texts, bitexts, dictionaries)
    for file in dictionaries.values():
        read_lexicon(file)  # fail early, before hours of encoding
    print_ = natural_fingerprint(texts, bitexts, vocabulary, rows, dictionaries)
    types = vocabulary.open()
    with Workers(workers, progress) as pool, new_folder(folder, {"fingerprint": print_}) as out:
        types.save(out.vocabulary)
        write = partial(_write_corpora, out.vocabulary, types, pool)
        for name, files in texts.items():
            counts = write(name, [files], [out.part / name])
            out.facts["languages"][name] = {"fingerprint": fingerprint(print_, name), **counts}
        for pair, parts in bitexts.items():
            place = f"{BITEXTS}/{'/'.join(pair)}"
            sides = [out.part / place / side for side in SIDES]
            out.add_pair(pair, place, **write("-".join(pair), parts, sides))
        types.save(out.vocabulary)
        for entry in out.facts["pairs"]:
            if lexicon := dictionaries.get(tuple(entry["languages"])):
                path = out.part / entry["folder"] / DICTIONARY
                entry["dictionary"] = _write_entries(lexicon, path, types)
        out.facts[VOCABULARY] = types.account
        if rows == "used":
            type_ids = np.union1d(types.types, types.specials.ids).astype(np.int64)
            np.save(out.part / KEPT, type_ids)
            out.facts[VOCABULARY] |= {"rows": len(type_ids)}
    return folder


def check_languages(texts: Texts, bitexts: Bitexts, dictionaries: Dictionaries) -> None:
    """Raise BadInput for names that languages cannot have, and for bitexts or dictionaries without text."""
    for name in texts:
        check_name(name, "a language called")
        if name in RESERVED:
            raise BadInput(f"a language cannot be called {name!r}; {', '.join(RESERVED)} are reserved")
    for pair, files in bitexts.items():
        if not set(pair) <= set(texts) or pair[0] == pair[1] or not files or pair[::-1] in bitexts:
            expected = (
                "two different languages with text, at least one file, and no bitext in the other direction"
            )
            raise BadInput(f"the bitext {'-'.join(pair)} needs {expected}")
    for pair in dictionaries:
        if pair not in bitexts:
            raise BadInput(f"there is a dictionary for {' and '.join(pair)}, but no bitext")


def _write_entries(lexicon: Path, path: Path, vocabulary: Vocabulary) -> dict[str, Any]:
    counts = Counter[str]()
    pairs, left_out = id_pairs(read_lexicon(lexicon, counts), vocabulary)
    left_out += counts
    occur = (vocabulary.counts[pairs] > 0).all(axis=1)
    left_out["entries with a type that does not occur in the text"] += int((~occur).sum())
    if not occur.any():
        expected = "words must consist of one sub-word and occur in the text"
        raise BadInput(f"all entries were left out: {listed(left_out)}; {expected}", lexicon)
    write_dictionary(path, pairs[occur], vocabulary)
    return {"entries": int(occur.sum()), "left out": dict(+left_out)}


def _write_corpora(
    folder: Path,
    vocabulary: Vocabulary,
    pool: Workers,
    name: str,
    files: Sequence[FileSet],
    folders: Sequence[Path],
) -> dict[str, Any]:
    """Encode files and write one corpus per language; return manifest entries."""
    pieces = [(part, chunks) for part in files for chunks in part.chunks()]
    encode = partial(encode_piece, folder, sha256(folder / TOKENIZER))
    with CorporaWriter(folders, vocabulary.size) as corpora:
        for sides in pool.map(encode, pieces, f"encoding {name}"):
            for side in sides:
                vocabulary.count(side.lines.tokens.values)
            corpora.append(sides)
        if not corpora.sentences:
            raise BadInput(f"{name}: no lines of text remain; all are empty or were left out")
    left_out = +corpora.totals[0].account.left_out
    out = [{"words": writer.words, "tokens": writer.tokens} for writer in corpora.writers]
    return {
        "in": {"lines": corpora.sentences + left_out[NO_TYPE] + left_out[TOO_LONG]},
        "out": {"lines": corpora.sentences, **(out[0] if len(out) == 1 else {"sides": out})},
        "left out": dict(sorted(left_out.items())),
    }


Pairs = Sequence[tuple[tuple[str, ...], tuple[str, ...]]]
"""The words of each sentence and the words of its translation, both non-empty."""


def write_translation(pairs: Pairs, language: str, vocabulary_size: int, folder: Path) -> Path:
    """Write a source language and its translation into `language`, with a shared vocabulary and without word
    links."""
    digest = hashlib.sha256()
    for number, (source, target) in enumerate(pairs, start=1):
        if not (source and target):
            raise BadInput(f"sentence pair {number:,} has an empty side")
        digest.update(f"{' '.join(source)}\t{' '.join(target)}\n".encode())
    vocabulary = learn_of_words(Counter(chain.from_iterable(chain.from_iterable(pairs))), vocabulary_size)
    print_ = fingerprint(FORMAT, digest.hexdigest(), vocabulary_size)
    with new_folder(folder, {"fingerprint": print_, VOCABULARY: vocabulary.account}) as out:
        vocabulary.save(out.vocabulary)
        names = (SOURCE, language)
        with CorporaWriter([out.part / name for name in names], vocabulary.size) as corpora:
            for first in range(0, len(pairs), TRANSLATED):
                sides = zip(*pairs[first : first + TRANSLATED], strict=True)
                lines = [encode_sentences(list(map(Sentence, side)), vocabulary) for side in sides]
                pieces = lines[1].pieces
                lines[1] = Corpus.of(lines[1].tokens.values, pieces.values, pieces.sizes)  # without origin
                corpora.append(list(map(Encoded, lines)))
        for name, writer in zip(names, corpora.writers, strict=True):
            out.facts["languages"][name] = {"out": writer.facts, "fingerprint": print_}
        out.add_image(language, np.arange(vocabulary.size), places=None, letters={})
        out.add_pair((SOURCE, language), language)
        write_dictionary(out.part / language / DICTIONARY, np.empty((0, 2), np.int64), vocabulary)
    return folder
