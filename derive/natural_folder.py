"""A folder of natural languages as it lies on the disk: text with a given vocabulary, and bitexts beside it.

vocabulary/                     the tokenizer, and how often each of its types occurs
<language>/                     a corpus, a line of text a line
bitexts/<a>-<b>/<a>/ and <b>/   a corpus each; line i of one translates line i of the other
bitexts/<a>-<b>/                also a dictionary, pairs of ids, where one was given
kept.npy (R,) int64             ascending, the types that have a row in a model; without it all have one

Shapes: V types of the vocabulary, R of them with a row in a model, N sentence pairs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from derive.artefact import Artefact
from derive.bitext import Bitext, PairLines
from derive.corpus import Corpus
from derive.dictionary import read_dictionary
from derive.errors import BadInput
from derive.language import Language
from derive.types import Specials

BITEXTS, KEPT, PAIR = "bitexts", "kept.npy", "languages"
"""The folder of the bitexts, and what the manifest calls them; the kept types; a bitext's two languages there."""


def is_natural(artefact: Artefact) -> bool:
    """Whether a folder of languages is one of natural languages: its manifest gives an account of their bitexts."""
    return BITEXTS in artefact.facts


@dataclass(frozen=True)
class NaturalFolder:
    """A folder of natural languages; `kept` (R,) int64 are the types with a row in a model, or None for all."""

    artefact: Artefact
    size: int
    kept: np.ndarray | None

    @classmethod
    def open(cls, artefact: Artefact) -> NaturalFolder:
        """Read which types have a row.

        Raises:
            BadInput: that is damaged.
        """
        size = int(artefact.facts["vocabulary"]["size"])
        if KEPT not in artefact.digests:
            return cls(artefact, size, None)
        path = artefact.path(KEPT)
        try:
            kept = np.asarray(np.load(path, allow_pickle=False), np.int64)
        except (OSError, ValueError) as error:
            raise BadInput(f"expected the types that have a row in a model: {error}", path) from None
        if kept.ndim != 1 or not len(kept) or kept[0] < 0 or kept[-1] >= size or (np.diff(kept) <= 0).any():
            raise BadInput(f"expected ascending ids below {size:,}", path)
        return cls(artefact, size, kept)

    def languages(self, names: Sequence[str]) -> tuple[Language, ...]:
        """The languages `names`, whose ids are rows of a model.

        Raises:
            BadInput: there is no such language, or its corpus is damaged.
        """
        there = self.artefact.facts["languages"]
        if not names:
            raise BadInput(f"no language is named; there are {', '.join(there)}", self.artefact.folder)
        if lacking := [name for name in names if name not in there]:
            raise BadInput(f"no language {', '.join(lacking)}; there are {', '.join(there)}", self.artefact.folder)
        rows, table = None, np.arange(self.size)
        if self.kept is not None:
            rows = np.full(self.size, -1)
            rows[self.kept] = table = np.arange(len(self.kept))
        return tuple(Language(name, number, self._corpus(name), table, rows=rows) for number, name in enumerate(names))

    def specials(self, specials: Specials) -> Specials:
        """The special types of the tokenizer, as rows of a model."""
        if self.kept is None:
            return specials
        start, pad, end, unknown, mask, *others = np.searchsorted(self.kept, specials.ids).tolist()
        return Specials(start, pad, end, unknown, mask, tuple(others))

    def bitexts(self, languages: Sequence[Language]) -> dict[tuple[str, str], Bitext]:
        """All bitexts between these languages, by their names."""
        known = {language.name: language for language in languages}
        made = {}
        for folder, (a, b) in bitext_folders(self.artefact).items():
            if a in known and b in known:
                sides = [replace(known[name], corpus=self._corpus(f"{BITEXTS}/{folder}/{name}")) for name in (a, b)]
                if len(sides[0].corpus) != len(sides[1].corpus):
                    raise BadInput(f"{a} and {b} have not as many lines", self.artefact.folder / BITEXTS / folder)
                made[a, b] = Bitext(sides[0], sides[1], PairLines(len(sides[0].corpus)), known=False)
        return made

    def has(self, pair: tuple[str, str], name: str) -> bool:
        """Whether there is such a file beside the bitext of two languages."""
        return f"{self._folder(pair)}/{name}" in self.artefact.digests

    def dictionary(self, first: Language, second: Language, name: str) -> np.ndarray:
        """The dictionary of two languages, the file `name` beside their bitext, as rows of a model, (n, 2) int64.

        Entries of a type without a row are left out: no text has it.

        Raises:
            BadInput: there is none, or it is damaged.
        """
        for one, other, way in ((first, second, 1), (second, first, -1)):
            if self.has(pair := (one.name, other.name), name):
                path = self.artefact.path(f"{self._folder(pair)}/{name}")
                pairs = read_dictionary(path)
                if pairs.max(initial=0) >= self.size:
                    raise BadInput(f"an id that is none of the {self.size:,} of the tokenizer", path)
                made = np.stack([one.ids(pairs[:, 0]), other.ids(pairs[:, 1])], axis=1)
                return made[(made >= 0).all(axis=1)][:, ::way]
        there = ["-".join(pair) for pair in bitext_folders(self.artefact).values() if self.has(pair, name)]
        raise BadInput(
            f"no dictionary of {first.name} and {second.name}; there are {', '.join(there) or 'none'}",
            self.artefact.folder,
        )

    def _folder(self, pair: tuple[str, str]) -> str:
        return f"{BITEXTS}/{'-'.join(pair)}"

    def _corpus(self, name: str) -> Corpus:
        return Corpus.open(self.artefact.path(f"{name}/corpus.json").parent)


def bitext_folders(artefact: Artefact) -> Mapping[str, tuple[str, str]]:
    """The bitexts of a folder of natural languages: the name of each one's folder, and its two languages."""
    return {name: tuple(facts[PAIR]) for name, facts in artefact.facts[BITEXTS].items()}
