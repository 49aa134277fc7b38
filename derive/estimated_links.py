"""Estimated links of a bitext: fast_align in both directions, symmetrised."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from derive.bitext import Bitext
from derive.files import fingerprint
from derive.language import Language
from derive.languages import Languages
from derive.links.aligner import Links, Pair
from derive.links.fast_align import StatisticalAligner
from derive.links.stored import FORMAT, store
from derive.links.symmetrise import Symmetrisation, grow_diag_final_and


@dataclass(frozen=True)
class Drawn:
    """The sentence pairs that an aligner learns from and links: a `fraction` of all, drawn with `seed`, or all.

    It is `Bitext.sample`'s draw, so that what serves an objective reads no other pairs than the objective does.
    """

    fraction: float = 1.0
    seed: int = 0

    @classmethod
    def of(cls, fraction: float, seed: int) -> Drawn:
        """Those of a seed; all pairs are the same with every seed."""
        return cls(fraction, seed if fraction < 1 else 0)


ALL = Drawn()


def links_fingerprint(
    languages: Languages,
    first: str,
    second: str,
    method: Symmetrisation = grow_diag_final_and,
    passes: int = 5,
    drawn: Drawn = ALL,
) -> str:
    """Twelve hexadecimal digits that change whenever the links would."""
    parts = [drawn] if drawn != ALL else []
    return fingerprint(FORMAT, languages.identity(first, second), method.__name__, passes, *parts)


def estimate_links(
    languages: Languages,
    first: str,
    second: str,
    folder: Path,
    method: Symmetrisation = grow_diag_final_and,
    passes: int = 5,
    drawn: Drawn = ALL,
) -> Path:
    """Write estimated word links of the bitext of two languages; `Languages.with_links` reads them.

    A word is known by its ids, so languages of any script can be aligned. Pairs that are not `drawn` have no links.

    Returns:
        `folder`, whole or absent.

    Raises:
        BadInput: no sentence pair is left to learn from.
    """
    bitext = languages.bitext(first, second)
    chosen = bitext.sample(drawn.fraction, drawn.seed)
    corpus = _Words(bitext, chosen)
    aligner = StatisticalAligner.train(corpus, method, passes)
    facts = {
        "pair": [first, second],
        "fingerprint": links_fingerprint(languages, first, second, method, passes, drawn),
        "languages": languages.identity(first, second),
        "method": f"fast_align, {method.__name__.replace('_', '-')}",
        "passes": passes,
        "of pairs": len(chosen),
        "unlearnt": dict(aligner.forward.unlearnt.counts),
    }
    return store(_spread(aligner.align(corpus), chosen, len(bitext)), folder, facts)


def _spread(made: Iterator[Links], chosen: np.ndarray, size: int) -> Iterator[Links]:
    """The links of all pairs, in their order: those that were not chosen have none."""
    asked = np.zeros(size, bool)
    asked[chosen] = True
    return (next(made) if is_asked else [] for is_asked in asked.tolist())


@dataclass(frozen=True)
class _Words:
    """The words of each chosen sentence pair, each written as its ids; they may be read again."""

    bitext: Bitext
    chosen: np.ndarray

    def __iter__(self) -> Iterator[Pair]:
        for a, b in map(self.bitext.lines.__getitem__, self.chosen.tolist()):
            yield _line(self.bitext.first, a), _line(self.bitext.second, b)


def _line(language: Language, line: int) -> tuple[str, ...]:
    corpus = language.corpus
    pieces = corpus.pieces[corpus.words[line] : corpus.words[line + 1]]
    return tuple(" ".join(map(str, word.tolist())) for word in np.split(corpus[line], np.cumsum(pieces)[:-1]))
