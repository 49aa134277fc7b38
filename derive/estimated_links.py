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
from derive.links.aligner import Pair
from derive.links.statistical import StatisticalAligner
from derive.links.stored import FORMAT, store
from derive.links.symmetrise import Symmetrisation, grow_diag_final_and


def links_fingerprint(
    languages: Languages, first: str, second: str, method: Symmetrisation = grow_diag_final_and, passes: int = 5
) -> str:
    """Twelve hexadecimal digits that change whenever the links would."""
    return fingerprint(FORMAT, languages.identity(first, second), method.__name__, passes)


def estimate_links(
    languages: Languages,
    first: str,
    second: str,
    folder: Path,
    method: Symmetrisation = grow_diag_final_and,
    passes: int = 5,
) -> Path:
    """Write estimated word links of the bitext of two languages; `Languages.with_links` reads them.

    A word is known by its ids, so languages of any script can be aligned.

    Returns:
        `folder`, whole or absent.

    Raises:
        BadInput: no sentence pair is left to learn from.
    """
    bitext = languages.bitext(first, second)
    corpus = _Words(bitext)
    aligner = StatisticalAligner.train(corpus, method, passes)
    facts = {
        "pair": [first, second],
        "fingerprint": links_fingerprint(languages, first, second, method, passes),
        "languages": languages.identity(first, second),
        "method": f"fast_align, {method.__name__.replace('_', '-')}",
        "passes": passes,
        "unlearnt": dict(aligner.forward.unlearnt.counts),
    }
    return store(aligner.align(corpus), folder, facts)


@dataclass(frozen=True)
class _Words:
    """The words of each sentence pair, each written as its ids; they may be read again."""

    bitext: Bitext

    def __iter__(self) -> Iterator[Pair]:
        for a, b in self.bitext.lines:
            yield _line(self.bitext.first, a), _line(self.bitext.second, b)


def _line(language: Language, line: int) -> tuple[str, ...]:
    corpus = language.corpus
    pieces = corpus.pieces[corpus.words[line] : corpus.words[line + 1]]
    return tuple(" ".join(map(str, word.tolist())) for word in np.split(corpus[line], np.cumsum(pieces)[:-1]))
