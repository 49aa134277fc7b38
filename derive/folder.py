"""A folder of natural or derived languages (`Languages.open`).

vocabulary/               the vocabulary shared by all languages, with counts
<language>/               a corpus; for a derived language also `image.npy`, each source type's image;
                          `letters.json`, if its spelling replaces letters; `places.npy`, if ids differ at
                          the ends of words; `single.npy`, if words were changed: each type's only image or -1
<pair>/first/, second/    parallel text that is not part of the two languages' corpora
<pair>/dictionary.tsv     the pair's dictionary, as ids
kept.npy (R,) int64       the ids of the types that a model has rows for, ascending; if absent, all types
manifest.json             written last

For a pair of languages without separate parallel text, the bitext consists of lines derived from the same
source line. V: types in the vocabulary; R: types that a model has rows for.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from calque.derive.artefact import Artefact, making
from calque.derive.files import MANIFEST, write_json
from calque.derive.language import SOURCE

KIND, FORMAT = "languages", 5
"""The manifest's kind, and its format, a number incremented when the same inputs would yield different
files."""
VOCABULARY, BITEXTS, KEPT = "vocabulary", "bitexts", "kept.npy"
IMAGE, DICTIONARY, LETTERS, PLACES = "image.npy", "dictionary.tsv", "letters.json", "places.npy"
SINGLE = "single.npy"
WRONG = "wrong dictionary pairs"  # a manifest key for the number of wrong pairs
TEXTS = "fingerprints without dictionaries"  # a manifest key
SIDES = ("first", "second")
RESERVED = (SOURCE, VOCABULARY, BITEXTS, KEPT, MANIFEST)  # names that languages cannot have
NamePair = tuple[str, str]


@dataclass(frozen=True)
class FolderWriter:
    """Writes a new folder of languages to `part`; `facts` become the entries of its manifest."""

    part: Path
    facts: dict[str, Any]

    @property
    def vocabulary(self) -> Path:
        return self.part / VOCABULARY

    def add_image(
        self, name: str, image: np.ndarray, places: np.ndarray | None, letters: Mapping[str, str] | None
    ) -> None:
        """Write each source type's image, its ids inside words and at word ends if these differ (`places`),
        and the letter replacements."""
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


def open_folder(folder: Path) -> Artefact:
    """Open a folder of languages; raise BadInput if it is another kind or format."""
    return Artefact.open(folder, KIND, FORMAT)


def fingerprints(folder: Path) -> dict[str, tuple[str, ...]]:
    """Return two fingerprints of each language in a folder: one that covers its dictionary and one that does
    not."""
    facts = open_folder(folder).facts
    without = facts.get(TEXTS, {})
    return {name: (own["fingerprint"], without.get(name, "")) for name, own in facts["languages"].items()}
