"""A folder of natural or derived languages, as read by models.

vocabulary/               the vocabulary shared by all languages, with counts
<language>/               a corpus; for a derived language also `image.npy`, the id of each source type;
                          `letters.json`, if its spelling replaces letters; `places.npy`, if ids differ at
                          the ends of words; `single.npy`, if words were changed: a type's only image or -1
<pair>/first/, second/    parallel text that is not part of the two languages' corpora
<pair>/dictionary.tsv     the pair's dictionary, as ids
kept.npy (R,) int64       the ids of the types that a model has rows for, ascending; if absent, all types
manifest.json             written last

The bitext of a pair of languages without separate text consists of the lines that derive from the same source
line. V: types in the vocabulary; R: types that a model has rows for.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np

from calque.derive import strict_json
from calque.derive.artefact import Artefact, making
from calque.derive.corpus import Corpus
from calque.derive.dictionary import read_dictionary
from calque.derive.errors import BadInput
from calque.derive.files import MANIFEST, write_json
from calque.derive.language import SOURCE, Bitext, Language
from calque.derive.types import Specials
from calque.derive.vocabulary import COUNTS, SPECIAL_TYPES, TOKENIZER, read_specials

KIND, FORMAT = "languages", 5
"""The manifest's kind, and its format, a number incremented when the same inputs would yield other files."""
VOCABULARY, BITEXTS, KEPT = "vocabulary", "bitexts", "kept.npy"
IMAGE, DICTIONARY, LETTERS, PLACES = "image.npy", "dictionary.tsv", "letters.json", "places.npy"
SINGLE = "single.npy"
WRONG = "wrong dictionary pairs"  # a manifest key for the number of wrong pairs
TEXTS = "fingerprints without dictionaries"  # a manifest key
SIDES = ("first", "second")
RESERVED = (SOURCE, VOCABULARY, BITEXTS, KEPT, MANIFEST)  # names that languages must not have
NamePair = tuple[str, str]


class FolderWriter:
    """Writes a new folder of languages, `part`, with the manifest `facts`."""

    def __init__(self, part: Path, facts: dict[str, Any]) -> None:
        self.part, self.facts = part, facts
        self.vocabulary = part / VOCABULARY

    def add_image(
        self, name: str, image: np.ndarray, places: np.ndarray | None, letters: Mapping[str, str] | None
    ) -> None:
        """Write the image of each source type, its `places` if they differ, and the letter replacements."""
        np.save(self.part / name / IMAGE, image)
        if places is not None:
            np.save(self.part / name / PLACES, places)
        if letters is not None:
            write_json(self.part / name / LETTERS, letters)

    def add_pair(self, pair: NamePair, folder: str, **facts: Any) -> None:
        self.facts["pairs"].append({"languages": list(pair), "folder": folder, **facts})


@contextmanager
def new_folder(folder: Path, facts: dict[str, Any]) -> Iterator[FolderWriter]:
    """Create a folder of languages atomically."""
    facts = {"format": FORMAT, **facts, "languages": {}, "pairs": []}
    with making(folder, KIND, facts) as part:
        yield FolderWriter(part, facts)


@dataclass(frozen=True)
class LanguagesFolder:
    artefact: Artefact

    @classmethod
    def open(cls, folder: Path) -> Self:
        return cls(Artefact.open(folder, KIND, FORMAT))

    @property
    def vocabulary(self) -> Path:
        """The vocabulary's folder, after checking its files."""
        for name in (TOKENIZER, COUNTS, SPECIAL_TYPES):
            self.artefact.path(f"{VOCABULARY}/{name}")
        return self.artefact.folder / VOCABULARY

    @cached_property
    def size(self) -> int:
        return int(self.artefact.facts[VOCABULARY]["size"])

    def kept(self) -> np.ndarray | None:
        """Return the types that a model has rows for, (R,) int64; None if it has rows for all."""
        return self._ids(KEPT)

    def specials(self, kept: np.ndarray | None) -> Specials:
        """Return the special types, numbered among the types in `kept`, if it is given."""
        specials = read_specials(self.vocabulary)
        if kept is None:
            return specials
        start, pad, end, unknown, mask, *others = np.searchsorted(kept, specials.ids).tolist()
        return Specials(start, pad, end, unknown, mask, tuple(others))

    def names(self) -> list[str]:
        """Return the languages' names, excluding the source of derived languages."""
        return [name for name in self.artefact.facts["languages"] if name != SOURCE]

    def identity(self, names: Sequence[str]) -> dict[str, str]:
        """Return each named language's fingerprint, or the source's if no names are given."""
        languages = self.artefact.facts["languages"]
        # A derived language's fingerprint covers its source.
        names = [name for name in names if name != SOURCE] or [SOURCE]
        if missing := [name for name in names if name not in languages]:
            there = ", ".join(languages)
            raise BadInput(f"no language {missing[0]}; available: {there}", self.artefact.folder)
        return {name: str(languages[name]["fingerprint"]) for name in names}

    @property
    def prints(self) -> dict[str, tuple[str, ...]]:
        """Two fingerprints of each language: with and without its dictionary."""
        languages, without = self.artefact.facts["languages"], self.artefact.facts.get(TEXTS, {})
        return {name: (own["fingerprint"], without.get(name, "")) for name, own in languages.items()}

    def languages(self, names: Sequence[str], kept: np.ndarray | None) -> tuple[Language, ...]:
        """Return the languages `names`, preceded by their source, if any; each new script gets its own
        rows."""
        available = self.names()
        there = ", ".join(available) or "none"
        if missing := [name for name in names if name not in available]:
            raise BadInput(f"no language {', '.join(missing)}; available: {there}", self.artefact.folder)
        first = [SOURCE] if SOURCE in self.artefact.facts["languages"] else []
        if not names and not first:
            raise BadInput(f"no language was named; available: {there}", self.artefact.folder)
        rows, table = None, np.arange(self.size)
        if kept is not None:
            rows = np.full(self.size, -1)
            rows[kept] = table = np.arange(len(kept))
        languages: list[Language] = []
        for number, name in enumerate([*first, *names]):
            if f"{name}/{IMAGE}" in self.artefact.digests:
                languages.append(self._derived(name, languages))
            else:
                languages.append(Language(name, number, self._corpus(name), table, rows=rows, source=name))
        return tuple(languages)

    def _derived(self, name: str, others: Sequence[Language]) -> Language:
        image, places, single = (self._ids(f"{name}/{file}") for file in (IMAGE, PLACES, SINGLE))
        assert image is not None
        shift = scripts(others) * self.size if (image >= self.size).any() else 0
        for ids in (image, places, single):
            if ids is not None:
                ids[ids >= self.size] += shift
        corpus = self._corpus(name)
        return Language(name, len(others), corpus, image, shift, places=places, single=single)

    def pairs(self, languages: Sequence[Language]) -> dict[NamePair, str]:
        """Map pairs of these languages to their folders: first pairs with separate text, then the others,
        sorted by second language."""
        place = {language.name: number for number, language in enumerate(languages)}
        listed = {tuple(entry["languages"]): entry["folder"] for entry in self.artefact.facts["pairs"]}
        pairs = {pair: folder for pair, folder in listed.items() if place.keys() >= set(pair)}

        def rank(pair: NamePair) -> int:
            return 0 if self._has_text(pairs[pair]) else place[pair[1]]

        return {pair: pairs[pair] for pair in sorted(pairs, key=rank)}

    def texts(self, languages: Sequence[Language], pairs: Mapping[NamePair, str]) -> dict[NamePair, Bitext]:
        """Return the separate text of each pair that has any."""
        named, texts = {language.name: language for language in languages}, {}
        for pair, folder in pairs.items():
            if self._has_text(folder):
                first, second = (
                    replace(named[name], corpus=self._corpus(f"{folder}/{side}"))
                    for name, side in zip(pair, SIDES, strict=True)
                )
                lines = np.arange(len(first.corpus))
                texts[pair] = Bitext(first, second, np.stack([lines, lines], axis=1), gold=False)
        return texts

    def has_dictionary(self, folder: str) -> bool:
        return f"{folder}/{DICTIONARY}" in self.artefact.digests

    def dictionary(self, first: Language, second: Language, folder: str) -> np.ndarray:
        """Read the dictionary in a pair's folder, as indices of a model's rows, (n, 2) int64."""
        pairs = read_dictionary(self.artefact.path(f"{folder}/{DICTIONARY}"))
        return np.stack([first.ids(pairs[:, 0]), second.ids(pairs[:, 1])], axis=1)

    def letters(self, name: str) -> dict[str, str] | None:
        """Return the image of each source letter, or None if the spelling does not replace letters."""
        if f"{name}/{LETTERS}" not in self.artefact.digests:
            return None
        return dict(strict_json.loads(self.artefact.path(f"{name}/{LETTERS}").read_text(encoding="utf-8")))

    def _has_text(self, folder: str) -> bool:
        return f"{folder}/{SIDES[0]}/corpus.json" in self.artefact.digests

    def _corpus(self, name: str) -> Corpus:
        return Corpus.open(self.artefact.path(f"{name}/corpus.json").parent)

    def _ids(self, file: str) -> np.ndarray | None:
        if file not in self.artefact.digests:
            return None
        return np.asarray(np.load(self.artefact.path(file)).astype(np.int64, copy=False))


def scripts(languages: Sequence[Language]) -> int:
    """Count the languages that have a script of their own."""
    size = len(languages[0].table)
    return sum(bool((language.table >= size).any()) for language in languages)
