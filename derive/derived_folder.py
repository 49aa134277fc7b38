"""A derived folder as it lies on the disk: the source, the languages that derive from it, and their vocabulary.

vocabulary/      the types that all share, and how often the source has each
source/          the source's corpus
<language>/      a corpus, `image.npy`, the id of each source type, `dictionary.tsv`, and `letters.json`, where the
                 language's spelling exchanges letters one by one, or none; `places.npy`, where a type has other ids
                 inside words than at their ends

Digests are checked here of all but the corpora, which are large: steps check those once, before hours of work that
needs them. Shapes: V types of the vocabulary.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from derive import strict_json
from derive.artefact import Artefact
from derive.corpus import Corpus
from derive.dictionary import read_dictionary
from derive.errors import BadInput
from derive.language import Language
from derive.vocabulary import COUNTS, SPECIAL_TYPES, TOKENIZER, Vocabulary

KIND = "languages"
"""What a folder of languages is, as its manifest says."""
SOURCE, VOCABULARY = "source", "vocabulary"
"""The language that the others derive from, and the types that all share: folders beside the languages'."""
IMAGE, DICTIONARY, LETTERS, PLACES = "image.npy", "dictionary.tsv", "letters.json", "places.npy"
"""Files of a language: the id of each source type in it, its dictionary, what its letters become, and the ids of types
inside words and at their ends, where these differ."""


@dataclass(frozen=True)
class DerivedFolder:
    """A finished folder of derived (or translated) languages."""

    artefact: Artefact

    def languages(self, names: Sequence[str]) -> tuple[Language, ...]:
        """The source and the languages `names`, each new script with rows of its own.

        Raises:
            BadInput: there is no such language, or something is damaged or of another study.
        """
        folder, files = self.artefact.folder, self.artefact.digests
        there = [name.removesuffix(f"/{IMAGE}") for name in files if name.endswith(f"/{IMAGE}")]
        if lacking := [name for name in names if name not in there]:
            raise BadInput(f"no language {', '.join(lacking)}; there are {', '.join(there) or 'none'}", folder)
        source = self._corpus(SOURCE)
        tables = [self._table(name, IMAGE) for name in names]
        if len({len(table) for table in tables}) > 1:
            raise BadInput("languages of vocabularies of different sizes", folder)
        types = len(tables[0]) if tables else Vocabulary.load(vocabulary_of(self.artefact)).size
        languages = [Language(SOURCE, 0, source, np.arange(types))]
        for name, table in zip(names, tables, strict=True):
            corpus, size = self._corpus(name), len(table)
            last = int(corpus.source_line[-1])  # they ascend
            if last >= len(source):
                raise BadInput(
                    f"line {last + 1:,} of {len(source):,} of the source language has an image", folder / name
                )
            shift = scripts(languages) * size if (table >= size).any() else 0
            places = self._table(name, PLACES) if f"{name}/{PLACES}" in files else None
            if places is not None and places.shape != (2, size):
                raise BadInput(f"ids of {places.shape}, expected (2, {size})", folder / name / PLACES)
            ours = np.where(table >= size, table + shift, table)
            inside = None if places is None else np.where(places >= size, places + shift, places)
            languages.append(Language(name, len(languages), corpus, ours, shift, places=inside))
        return tuple(languages)

    def entries(self, language: Language) -> np.ndarray:
        """The dictionary of the source and a language, as ids of a model, (n, 2) int64.

        Raises:
            BadInput: it is damaged, of another language, or names a type that the source's corpus lacks.
        """
        path, size = self.artefact.path(f"{language.name}/{DICTIONARY}"), len(language.table)
        pairs = read_dictionary(path)
        if pairs[:, 0].max(initial=0) >= size or not np.array_equal(
            language.table[pairs[:, 0]], language.ids(pairs[:, 1])
        ):
            raise BadInput("an entry is not a type and its image: the dictionary of another language", path)
        occur = np.load(self.artefact.path(f"{VOCABULARY}/{COUNTS}"), allow_pickle=False)[pairs[:, 0]] > 0
        if not occur.all():
            others = f", nor those of {n:,} more entries" if (n := int((~occur).sum()) - 1) else ""
            line = int(np.argmin(occur))
            raise BadInput(
                f"the corpus has no type {pairs[line, 0]}{others}; expected entries of types that it has",
                path,
                line + 1,
            )
        return np.stack([pairs[:, 0], language.ids(pairs[:, 1])], axis=1)

    def letters(self, name: str) -> dict[str, str] | None:
        """What letters of the source become in a language's spelling, or None where it is no exchange of letters.

        Raises:
            BadInput: they are damaged.
        """
        if f"{name}/{LETTERS}" not in self.artefact.digests:
            return None
        return dict(strict_json.loads(self.artefact.path(f"{name}/{LETTERS}").read_text(encoding="utf-8")))

    def _corpus(self, name: str) -> Corpus:
        return Corpus.open(self.artefact.path(f"{name}/corpus.json").parent)

    def _table(self, name: str, file: str) -> np.ndarray:
        path = self.artefact.path(f"{name}/{file}")
        try:
            return np.asarray(np.load(path, allow_pickle=False), np.int64)
        except (OSError, ValueError) as error:
            raise BadInput(f"expected the id table of {name!r}: {error}", path) from error


def scripts(languages: Sequence[Language]) -> int:
    """How many of the languages have a script of their own."""
    size = len(languages[0].table)
    return sum(bool((language.table >= size).any()) for language in languages)


def vocabulary_of(artefact: Artefact) -> Path:
    """The folder of the vocabulary, its files being as they were written.

    Raises:
        BadInput: they are not.
    """
    first, *_ = [artefact.path(f"{VOCABULARY}/{name}") for name in (TOKENIZER, COUNTS, SPECIAL_TYPES)]
    return first.parent
