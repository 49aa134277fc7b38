"""Word links estimated with fast_align in both directions, then symmetrised and stored as an artefact.

links.npy (L, 2) uint16   the positions of linked words in the two sentences, sorted within each pair
ends.npy  (N + 1,) int64  the index at which each pair's links begin
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np

from calque.derive.artefact import Artefact, making
from calque.derive.errors import BadInput
from calque.derive.fingerprint import fingerprint
from calque.derive.language import Bitext, EstimatedLinks, Language
from calque.derive.languages import Languages
from calque.derive.links.aligner import Symmetrisation, grow_diag_final_and
from calque.derive.links.fast_align import PASSES, StatisticalAligner
from calque.derive.ragged import Ragged
from calque.derive.readers.parallel import Links, Pair

KIND, FORMAT = "links", 1
LINKS, ENDS = "links.npy", "ends.npy"


@dataclass(frozen=True)
class PairSample:
    """The `fraction` of sentence pairs that an aligner reads, sampled with `seed` as for objectives."""

    fraction: float = 1.0
    seed: int = 0

    @classmethod
    def of(cls, fraction: float, seed: int) -> Self:
        # The seed is ignored if all pairs are read.
        return cls(fraction, seed if fraction < 1 else 0)


ALL = PairSample()


def estimate_links(
    languages: Languages,
    first: str,
    second: str,
    folder: Path,
    method: Symmetrisation = grow_diag_final_and,
    drawn: PairSample = ALL,
) -> Path:
    """Estimate and write the word links in the `drawn` sentence pairs of two languages (see `with_links`)."""
    bitext = languages.bitext(first, second)
    sample = bitext.sample(drawn.fraction, drawn.seed)
    corpus = _Words(bitext, sample)
    aligner = StatisticalAligner.train(corpus, method)
    identity = languages.identity(first, second)
    facts = {
        "pair": [first, second],
        "fingerprint": fingerprint(FORMAT, identity, method.__name__, PASSES, drawn),
        "languages": identity,
        "method": aligner.name,
        "passes": PASSES,
        "of pairs": len(sample),
        "unlearnt": dict(aligner.forward.unlearnt.counts),
    }
    links, sampled_pairs = aligner.align(corpus), set(sample.tolist())
    return store((next(links) if pair in sampled_pairs else [] for pair in range(len(bitext))), folder, facts)


@dataclass(frozen=True)
class _Words:
    """The words of the chosen pairs, as strings of sub-word ids."""

    bitext: Bitext
    chosen: np.ndarray

    def __iter__(self) -> Iterator[Pair]:
        for a, b in self.bitext.lines[self.chosen].tolist():
            yield _words(self.bitext.first, a), _words(self.bitext.second, b)


def _words(language: Language, line: int) -> tuple[str, ...]:
    words = Ragged.of(language.corpus[line], language.corpus.pieces[line])
    return tuple(" ".join(map(str, word.tolist())) for word in words)


def store(pairs: Iterable[Links], folder: Path, facts: dict[str, Any]) -> Path:
    """Write the links of sentence pairs atomically, with the `facts` known after the last pair."""
    with making(folder, KIND, facts) as part:
        by_pair = [np.array(links, np.uint16).reshape(-1, 2) for links in pairs]
        values = np.concatenate([np.empty((0, 2), np.uint16), *by_pair])
        links = Ragged.of(values, list(map(len, by_pair)))
        np.save(part / LINKS, values)
        np.save(part / ENDS, links.ends)
        facts |= {"format": FORMAT, "pairs": len(links), "links": len(values)}
    return folder


def with_links(languages: Languages, folder: Path) -> Languages:
    """Add a folder's word links to `languages`; raise BadInput if they belong to different languages."""
    artefact = Artefact.open(folder, KIND)
    links = Ragged(*(np.load(artefact.path(name), allow_pickle=False) for name in (LINKS, ENDS)))
    pair = tuple(artefact.facts["pair"])
    pairs = len(languages.bitext(*pair))
    if len(links) != pairs or artefact.facts.get("languages") != languages.identity(*pair):
        fault = f"these links are for {len(links):,} other sentence pairs, not for these languages' {pairs:,}"
        raise BadInput(fault, folder)
    estimates = EstimatedLinks(links, artefact.facts["fingerprint"])
    return replace(languages, estimates={**languages.estimates, pair: estimates})
