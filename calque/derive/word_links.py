"""Word links by fast_align in both directions, symmetrised, and the folders that store them.

fast_align is IBM model 2 with a single position parameter, the tension (Dyer, Chahuneau and Smith 2013).
t(f | e) has a Dirichlet prior and is learnt by variational Bayes. As in the published tool, the last of the
PASSES only aligns, and the first does not update the tension.

A cell pairs a target word with a source word or the null word. Shapes: P sentence pairs, R target words, C
cells. A prior is proportional to exp(tension * h), with h = -|i / n - j / m| for target position j of m and
source position i of n, so its sum over i consists of two geometric series.

links.npy (L, 2) uint16   the positions of linked words in the two sentences, sorted within each pair
ends.npy  (N + 1,) int64  the index at which each pair's links begin
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import count, pairwise, tee
from pathlib import Path
from sys import intern
from typing import Any, NamedTuple, Self

import numpy as np

from calque.derive.corpus import Ragged, ends_of, ranges
from calque.derive.errors import BadInput, listed
from calque.derive.files import Artefact, making
from calque.derive.fingerprint import fingerprint
from calque.derive.languages import EstimatedLinks, Language, Languages
from calque.derive.readers.parallel import Link, Links, Pair

KIND, FORMAT = "links", 1
LINKS, ENDS = "links.npy", "ends.npy"
PASSES = 5
LONGEST = 1024  # maximum number of words in a sentence; memory grows with the product of a pair's lengths
_ALPHA = 0.01  # the concentration of the Dirichlet prior over t(. | e)
_UNSEEN = 1e-9  # t for words that never co-occur, and the initial t for all words
NULL = 0  # the id of the null word, to which target words without a link are aligned
NULL_SHARE = 0.08  # the prior probability of the null word
TENSION = 4.0  # the initial tension
_LOWEST, _HIGHEST = 0.1, 14.0
_STEPS, _RATE = 8, 20.0
_CELLS = 2**16  # approximate number of cells per chunk, which should fit into the processor's cache


Symmetrisation = Callable[[Links, Links], Links]


def intersect(forward: Links, reverse: Links) -> Links:
    """Return the links found in both directions."""
    return sorted({*forward} & {*reverse})


def grow_diag_final_and(forward: Links, reverse: Links) -> Links:
    """Extend the intersection (Och and Ney 2003; Koehn, Och and Marcu 2003): first, repeatedly, with links
    that contain an unlinked word and are adjacent to a link; then with links between two unlinked words."""
    links, size = {*forward} & {*reverse}, -1
    while len(links) != size:
        size = len(links)
        _extend(links, sorted({*forward, *reverse}), any, adjacent=True)
    _extend(links, [*sorted(forward), *sorted(reverse)], all)
    return sorted(links)


SYMMETRISATIONS: dict[str, Symmetrisation] = {
    "intersect": intersect,
    "grow-diag-final-and": grow_diag_final_and,
}
"""The symmetrisation methods, keyed by their names in `atools`."""


def _extend(
    links: set[Link], candidates: Links, enough: Callable[[Iterable[bool]], bool], adjacent: bool = False
) -> None:
    # Each added link can make later candidates eligible.
    sources, targets = {i for i, _ in links}, {j for _, j in links}
    for i, j in candidates:
        neighbours = ((i + di, j + dj) for di in (-1, 0, 1) for dj in (-1, 0, 1))
        if enough((i not in sources, j not in targets)) and not (adjacent and links.isdisjoint(neighbours)):
            links.add((i, j))
            sources.add(i)
            targets.add(j)


class PairChunk(NamedTuple):
    """Pairs as ids: `sources`, each after a null word; `targets` (R,); numbers of words `n`, `m` (P,)."""

    sources: np.ndarray
    targets: np.ndarray
    n: np.ndarray
    m: np.ndarray


def chunks(
    pairs: Iterable[Pair], source_id: Callable[[str], int], target_id: Callable[[str], int]
) -> Iterator[PairChunk]:
    """Divide sentence pairs, which have words on both sides or on neither, into chunks."""
    pairs = iter(pairs)
    while True:
        columns: tuple[list[int], ...] = ([], [], [], [])
        cells = 0
        for source, target in pairs:
            columns[0].extend((NULL, *map(source_id, source)))
            columns[1].extend(map(target_id, target))
            columns[2].append(len(source))
            columns[3].append(len(target))
            cells += (len(source) + 1) * len(target)
            if cells >= _CELLS:
                break
        if not columns[2]:
            return
        yield PairChunk(*(np.array(column, np.int64) for column in columns))


class Cells:
    """A chunk's cells, by target word, null word first. i (C,): the source word's 1-based position (null: 0).
    row (C,): the index of the target word. start (R,): each target word's first cell."""

    def __init__(self, chunk: PairChunk) -> None:
        self._chunk = chunk
        self._pair = np.repeat(np.arange(len(chunk.m)), chunk.m)
        self._m, self._n, self._j = chunk.m[self._pair], chunk.n[self._pair], ranges(1, chunk.m)
        self.start = ends_of(self._n + 1)[:-1]
        self.row = np.repeat(np.arange(len(self._n)), self._n + 1)
        self.i = ranges(0, self._n + 1)
        self._source = self.i / self._n[self.row]

    def keys(self, stride: int) -> np.ndarray:
        """Return each cell's word pair, (C,), as source id * stride + target id."""
        first = ends_of(self._chunk.n + 1)[self._pair]
        return self._chunk.sources[first[self.row] + self.i] * stride + self._chunk.targets[self.row]

    def nearness(self, j: np.ndarray) -> np.ndarray:
        """Return h for target positions j (R,), (C,)."""
        return -np.abs(self._source - (j / self._m)[self.row])

    def prior(self, tension: float) -> np.ndarray:
        """Return each cell's probability before the word pair is known, (C,)."""
        scale = _sums(self._j, self._m, self._n, tension)[0] / (1.0 - NULL_SHARE)
        prior = np.exp(tension * self.nearness(self._j)) / scale[self.row]
        prior[self.start] = NULL_SHARE
        return prior

    def feature(self, posterior: np.ndarray) -> float:
        """Return the expectation of h, summed over 0-based target positions, as in the published tool."""
        h = self.nearness(self._j - 1)
        h[self.start] = 0.0
        return float(np.sum(h * posterior))

    def links(self, joint: np.ndarray, reverse: bool) -> Iterator[Links]:
        """Link target words to their most probable source word (ties: null, first); `reverse` swaps sides."""
        hits = np.flatnonzero(joint == np.maximum.reduceat(joint, self.start)[self.row])
        first = hits[np.diff(self.row[hits], prepend=-1) > 0]
        linked = self.i[first] > 0
        sides = self.i[first][linked] - 1, self._j[linked] - 1
        i, j = sides[::-1] if reverse else sides
        links = list(zip(i.tolist(), j.tolist(), strict=True))
        ends = ends_of(np.bincount(self._pair[linked], minlength=len(self._chunk.m)))
        return (sorted(links[start:end]) for start, end in pairwise(ends.tolist()))


def optimise(tension: float, mean: float, m: np.ndarray, n: np.ndarray, pairs: np.ndarray) -> float:
    """Update the tension by gradient ascent, given the mean of h; `pairs` (S,) have lengths `m`, `n` (S,)."""
    shape = np.repeat(np.arange(len(m)), m)
    j, weight = ranges(1, m), pairs[shape] / np.sum(m * pairs)
    m, n = m[shape], n[shape]
    for _ in range(_STEPS):
        # The derivative of log Z; as in the published tool, the denominator exchanges the lengths.
        slope = _sums(j, m, n, tension)[1] / _sums(j, n, m, tension)[0]
        expected = float(np.sum(weight * slope))
        tension = min(max(tension + _RATE * (mean - expected), _LOWEST), _HIGHEST)
    return tension


def _sums(j: np.ndarray, m: np.ndarray, n: np.ndarray, tension: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the normaliser, the sum over i of exp(tension * h), and the sum of h * exp(tension * h)."""
    below = np.floor(j * n / m)  # the last position at or before the diagonal
    step, ratio = 1.0 / n, np.exp(-tension / n)
    z, hz = np.zeros(below.shape), np.zeros(below.shape)
    for first, terms in ((below, below), (below + 1, n - below)):
        # If lengths are exchanged, this may be negative; the published tool's unsigned integer makes the
        # series practically infinite.
        terms = np.where(terms < 0, terms + 2.0**32, terms)
        h = -np.abs(first / n - j / m)
        height, decay, gap = np.exp(tension * h), ratio**terms, 1.0 - ratio
        series = height * (1.0 - decay) / gap
        z += series
        hz += h * series - step * (series * ratio - height * terms * decay) / gap
    return z, hz


@dataclass(frozen=True)
class FastAlign:
    """A trained model for one direction, with at most one link per target word; `reverse` exchanges the
    sides. `keys` are the sorted pairs of co-occurring words, and `probabilities` their t. `unlearnt` and
    `left_out` count the pairs not used in training and those not aligned."""

    reverse: bool
    source_ids: dict[str, int]
    target_ids: dict[str, int]
    keys: np.ndarray
    probabilities: np.ndarray
    tension: float
    unlearnt: Counter[str]
    left_out: Counter[str] = field(default_factory=Counter, init=False)

    @classmethod
    def train(cls, pairs: Iterable[Pair], *, reverse: bool = False) -> Self:
        """Learn from sentence pairs, which are read once and stored with up to four bytes per cell."""
        source_ids: defaultdict[str, int] = defaultdict(count(NULL + 1).__next__)
        target_ids: defaultdict[str, int] = defaultdict(count().__next__)
        unlearnt = Counter[str]()
        usable = (pair for pair in _usable(pairs, reverse, unlearnt) if pair[0])
        corpus = list(chunks(usable, source_ids.__getitem__, target_ids.__getitem__))
        if not corpus:
            raise BadInput(f"no usable sentence pairs: {listed(unlearnt) or 'the text is empty'}")
        stride = len(target_ids) + 1
        keys = _distinct_keys(corpus, stride)
        probabilities, tension = _learn(corpus, keys, stride)
        return cls(reverse, dict(source_ids), dict(target_ids), keys, probabilities, tension, unlearnt)

    def align(self, pairs: Iterable[Pair]) -> Iterator[Links]:
        """Yield the links of each pair, in order, with only a few pairs in memory at a time."""
        no_source, no_target = len(self.source_ids) + 1, len(self.target_ids)
        for chunk in chunks(
            _usable(pairs, self.reverse, self.left_out),
            lambda word: self.source_ids.get(word, no_source),
            lambda word: self.target_ids.get(word, no_target),
        ):
            cells = Cells(chunk)
            keys = cells.keys(no_target + 1)
            place = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
            t = np.where(self.keys[place] == keys, self.probabilities[place], _UNSEEN)
            yield from cells.links(t * cells.prior(self.tension), self.reverse)


@dataclass(frozen=True)
class StatisticalAligner:
    forward: FastAlign
    reverse: FastAlign
    symmetrisation: Symmetrisation = grow_diag_final_and

    @classmethod
    def train(cls, pairs: Iterable[Pair], symmetrisation: Symmetrisation = grow_diag_final_and) -> Self:
        """Train both directions on sentence pairs, which are read twice."""
        return cls(FastAlign.train(pairs), FastAlign.train(pairs, reverse=True), symmetrisation)

    @property
    def left_out(self) -> Counter[str]:
        return self.forward.left_out

    def align(self, pairs: Iterable[Pair]) -> Iterator[Links]:
        """Yield the links of each pair, as `FastAlign.align` does."""
        forward_pairs, reverse_pairs = tee(pairs)
        return map(self.symmetrisation, self.forward.align(forward_pairs), self.reverse.align(reverse_pairs))


def _distinct_keys(corpus: list[PairChunk], stride: int) -> np.ndarray:
    """Collect the sorted keys of all cells, merged whenever as many are new, to save memory."""
    keys, new = np.empty(0, np.int64), list[np.ndarray]()
    for chunk in corpus:
        new.append(np.unique(Cells(chunk).keys(stride)))
        if sum(map(len, new)) > len(keys) or chunk is corpus[-1]:
            keys, new = np.unique(np.concatenate([keys, *new])), []
    return keys


def _learn(corpus: list[PairChunk], keys: np.ndarray, stride: int) -> tuple[np.ndarray, float]:
    from scipy.special import digamma

    small = np.min_scalar_type(len(keys))
    ids = [np.searchsorted(keys, Cells(chunk).keys(stride)).astype(small) for chunk in corpus]
    lengths = np.concatenate([np.stack([chunk.m, chunk.n]) for chunk in corpus], axis=1)
    (m, n), pairs = np.unique(lengths, axis=1, return_counts=True)
    source, words = keys // stride, int(lengths[0].sum())
    probabilities, tension = np.full(len(keys), _UNSEEN), TENSION
    for number in range(PASSES - 1):
        expected, feature = np.zeros(len(keys)), 0.0
        for chunk, key in zip(corpus, ids, strict=True):
            cells = Cells(chunk)
            joint = probabilities[key] * cells.prior(tension)
            # Both sums are sequential: their last bits decide between equally likely words.
            posterior = joint / np.bincount(cells.row, joint)[cells.row]
            np.add.at(expected, key.astype(np.intp), posterior)
            feature += cells.feature(posterior)
        if number:
            tension = optimise(tension, feature / words, m, n, pairs)
        expected += _ALPHA
        probabilities = np.exp(digamma(expected) - digamma(np.bincount(source, expected))[source])
    return probabilities, tension


def _usable(pairs: Iterable[Pair], reverse: bool, left_out: Counter[str]) -> Iterator[Pair]:
    """Yield all pairs, with the sides exchanged if `reverse`; pairs that are left out become empty."""
    for pair in pairs:
        if all(pair) and max(map(len, pair)) <= LONGEST:
            yield pair[::-1] if reverse else pair
        else:
            reason = f"with more than {LONGEST:,} words on a side" if all(pair) else "with an empty side"
            left_out[f"sentence pairs {reason}"] += 1
            yield (), ()


@dataclass(frozen=True)
class PairSample:
    """The `fraction` of sentence pairs that an aligner reads, sampled with `seed` as for objectives."""

    fraction: float = 1.0
    seed: int = 0

    @classmethod
    def of(cls, fraction: float, seed: int) -> Self:
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
    corpus = [(_words(bitext.first, a), _words(bitext.second, b)) for a, b in bitext.lines[sample].tolist()]
    aligner = StatisticalAligner.train(corpus, method)
    identity = languages.identity(first, second)
    facts = {
        "pair": [first, second],
        "fingerprint": fingerprint(FORMAT, identity, method.__name__, PASSES, drawn),
        "languages": identity,
        "method": f"fast_align, {method.__name__.replace('_', '-')}",
        "passes": PASSES,
        "of pairs": len(sample),
        "unlearnt": dict(aligner.forward.unlearnt),
    }
    links, sampled_pairs = aligner.align(corpus), set(sample.tolist())
    return store((next(links) if pair in sampled_pairs else [] for pair in range(len(bitext))), folder, facts)


def _words(language: Language, line: int) -> tuple[str, ...]:
    words = Ragged.of(language.corpus[line], language.corpus.pieces[line])
    return tuple(intern(" ".join(map(str, word.tolist()))) for word in words)  # to save memory


def store(pairs: Iterable[Links], folder: Path, facts: dict[str, Any]) -> Path:
    """Write the links of sentence pairs atomically, with the `facts` known after the last pair."""
    with making(folder, KIND, facts) as part:
        by_pair = [np.array(links, np.uint16).reshape(-1, 2) for links in pairs]  # smaller than lists
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
