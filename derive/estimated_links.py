"""Estimate a bitext's word links with fast_align in both directions, symmetrised."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np

from calque.derive.fingerprint import fingerprint
from calque.derive.language import Bitext, Language
from calque.derive.languages import Languages
from calque.derive.links.aligner import Pair
from calque.derive.links.fast_align import StatisticalAligner
from calque.derive.links.stored import FORMAT, store
from calque.derive.links.symmetrise import Symmetrisation, grow_diag_final_and


@dataclass(frozen=True)
class PairSample:
    """The `fraction` of sentence pairs that an aligner reads, sampled with `seed` in the same way as by
    objectives."""

    fraction: float = 1.0
    seed: int = 0

    @classmethod
    def of(cls, fraction: float, seed: int) -> Self:
        """Create a sample that ignores the seed if all pairs are read."""
        return cls(fraction, seed if fraction < 1 else 0)


ALL = PairSample()


def estimate_links(
    languages: Languages,
    first: str,
    second: str,
    folder: Path,
    method: Symmetrisation = grow_diag_final_and,
    passes: int = 5,
    drawn: PairSample = ALL,
) -> Path:
    """Write the word links in the `drawn` sentence pairs of two languages; `Languages.with_links` reads
    them."""
    bitext = languages.bitext(first, second)
    chosen = bitext.sample(drawn.fraction, drawn.seed)
    corpus = _Words(bitext, chosen)
    aligner = StatisticalAligner.train(corpus, method, passes)
    identity = languages.identity(first, second)
    facts = {
        "pair": [first, second],
        "fingerprint": fingerprint(FORMAT, identity, method.__name__, passes, drawn),
        "languages": identity,
        "method": aligner.name,
        "passes": passes,
        "of pairs": len(chosen),
        "unlearnt": dict(aligner.forward.unlearnt.counts),
    }
    links, every = aligner.align(corpus), np.isin(np.arange(len(bitext)), chosen).tolist()
    return store((next(links) if is_chosen else [] for is_chosen in every), folder, facts)


@dataclass(frozen=True)
class _Words:
    bitext: Bitext
    chosen: np.ndarray

    def __iter__(self) -> Iterator[Pair]:
        for a, b in self.bitext.lines[self.chosen].tolist():
            yield self._words(self.bitext.first, a), self._words(self.bitext.second, b)

    def _words(self, language: Language, line: int) -> tuple[str, ...]:
        ends = np.cumsum(language.corpus.line_pieces(line))[:-1]
        return tuple(" ".join(map(str, word.tolist())) for word in np.split(language.corpus[line], ends))
