"""Natural languages on disk: text and bitexts as ids of a given vocabulary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np

from derive.artefact import making
from derive.derived_folder import DICTIONARY, KIND, SOURCE, VOCABULARY
from derive.dictionary import write_dictionary
from derive.digests import digest
from derive.errors import BadInput
from derive.files import MANIFEST, check_name, fingerprint
from derive.lexicon import FORMAT as LEXICON
from derive.lexicon import id_pairs, read_lexicon
from derive.natural.corpora import Corpora
from derive.natural.piece import Files
from derive.natural_folder import BITEXTS, KEPT, PAIR
from derive.progress import Progress, silent
from derive.readers.compressed import check_file
from derive.vocabulary import GivenVocabulary, Vocabulary
from derive.workers import Workers

FORMAT = 2
"""Goes up when the same files would give others."""
Rows = Literal["used", "all"]
Texts = Mapping[str, Files]
Bitexts = Mapping[tuple[str, str], tuple[Files, ...]]
Dictionaries = Mapping[tuple[str, str], Path]
_TAKEN = (SOURCE, VOCABULARY, BITEXTS, KEPT, MANIFEST)


def natural_fingerprint(
    texts: Texts,
    bitexts: Bitexts,
    vocabulary: GivenVocabulary,
    rows: Rows = "used",
    dictionaries: Dictionaries | None = None,
) -> str:
    """Twelve hexadecimal digits that change whenever the files of `derive_natural` would."""
    return fingerprint(
        FORMAT,
        [[name, files.identity()] for name, files in texts.items()],
        [[pair, [files.identity() for files in parts]] for pair, parts in bitexts.items()],
        vocabulary.identity(),
        rows,
        [[pair, _checked(path), LEXICON] for pair, path in (dictionaries or {}).items()],
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
    """Write natural languages as a folder that `Languages.open` reads: see `derive.natural_folder`.

    Files do not depend on the number of workers. `folder` is whole or absent. Memory does not grow with the text.

    Args:
        texts: each language's text.
        bitexts: sentences and their translations, by the names of the two languages, which have texts.
        vocabulary: the tokenizer's folder.
        folder: what to write.
        workers: how many processes encode.
        progress: is told bytes of the files on the disk.
        rows: whether a model has a row of each type of the tokenizer, or of those only that some text uses and of
            special ones.
        dictionaries: files of words and their translations between the languages of a bitext (`derive.lexicon`), of
            which those become entries that are types of their own and occur.

    Raises:
        BadInput: a file that cannot be used, a language or a bitext of which no line is left, a bitext of a language
            without text, a name that no folder can have, a dictionary of a pair without a bitext or of words
            that no text has.
    """
    dictionaries = dictionaries or {}
    _check(texts, bitexts, dictionaries)
    print_ = natural_fingerprint(texts, bitexts, vocabulary, rows, dictionaries)
    facts: dict[str, Any] = {"format": FORMAT, "fingerprint": print_}
    opened = vocabulary.open()
    with Workers(workers) as pool, making(folder, KIND, facts) as part:
        opened.save(part / VOCABULARY)
        corpora = Corpora(part / VOCABULARY, pool, progress, opened.size)
        facts["languages"] = {
            name: {"fingerprint": fingerprint(print_, name), **corpora.write(name, [files], [part / name])}
            for name, files in texts.items()
        }
        facts[BITEXTS] = {}
        for pair, files in bitexts.items():
            name = "-".join(pair)
            made = corpora.write(name, files, [part / BITEXTS / name / side for side in pair])
            facts[BITEXTS][name] = {PAIR: list(pair), **made}
        opened.counts = corpora.counts
        opened.save(part / VOCABULARY)
        for pair, path in dictionaries.items():
            name = "-".join(pair)
            facts[BITEXTS][name] |= {"dictionary": _dictionary(path, part / BITEXTS / name / DICTIONARY, opened)}
        facts[VOCABULARY] = opened.account
        if rows == "used":
            kept = np.union1d(opened.types, opened.specials.ids).astype(np.int64)
            np.save(part / KEPT, kept)
            facts[VOCABULARY] |= {"rows": len(kept)}
    return folder


def _check(texts: Texts, bitexts: Bitexts, dictionaries: Dictionaries) -> None:
    if not texts:
        raise BadInput("no language; expected the text of at least one")
    for name in texts:
        check_name(name, "a language called")
        if name in _TAKEN:
            raise BadInput(f"a language called {name!r}; expected none of {', '.join(_TAKEN)}")
    names: set[str] = set()
    for pair, files in bitexts.items():
        if lacking := [name for name in pair if name not in texts]:
            raise BadInput(f"a bitext of {' and '.join(pair)}, and no text of {lacking[0]}")
        if pair[0] == pair[1] or not files:
            raise BadInput(f"a bitext of {' and '.join(pair)}; expected two languages and at least one file")
        if (name := "-".join(sorted(pair))) in names:
            raise BadInput(f"two bitexts {name}; expected one, of several files")
        names.add(name)
    for pair in dictionaries:
        if pair not in bitexts:
            raise BadInput(f"a dictionary of {' and '.join(pair)}, and no bitext of them")
        read_lexicon(dictionaries[pair])  # before hours of encoding


def _checked(lexicon: Path) -> str:
    check_file(lexicon)
    return digest(lexicon)


def _dictionary(lexicon: Path, out: Path, vocabulary: Vocabulary) -> dict[str, Any]:
    """Write the entries that types with an occurrence have, and return what the manifest says of them.

    Raises:
        BadInput: there are none.
    """
    counts: Counter[str] = Counter()
    pairs, left_out = id_pairs(read_lexicon(lexicon, counts), vocabulary)
    left_out += counts
    occur = (vocabulary.counts[pairs] > 0).all(axis=1)
    left_out["entries of a type that no text has"] += int((~occur).sum())
    if not occur.any():
        why = ", ".join(f"{count:,} {reason}" for reason, count in sorted((+left_out).items()))
        raise BadInput(f"no entry is left: {why}; expected words that the text has, of one sub-word each", lexicon)
    write_dictionary(out, pairs[occur], vocabulary)
    return {"entries": int(occur.sum()), "left out": dict(+left_out)}
