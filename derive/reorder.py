"""Another language's word order on this language's words: galactic dependencies (Wang and Eisner 2016)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from derive.grammar.model import FORMAT, Grammar
from derive.grammar.nodes import CLASSES, MOST, Tree, head_item, item
from derive.grammar.sampler import Sampler
from derive.order import check_probability
from derive.sentence import Sentence
from derive.superstrate import Superstrate
from derive.transform import Transform, draw

DROP = "drop: nodes of all heads, closing marks among them"
"""Which sentences `oversize="drop"` leaves out, as fingerprints have it."""
SUPERSTRATE_WEIGHT = 0.95
"""How much of the weights is the superstrate's by default; the rest is the substrate's."""


@dataclass(frozen=True)
class Reorder(Transform):
    """Dependents of nouns and verbs stand as in the superstrate; subtrees move as blocks, closing marks stay last.

    `superstrate_weight` interpolates between the substrate's order (0) and the superstrate's (1); `p` is the fraction
    of sentences that are reordered. A node of more than 7 items or with crossing arcs keeps its order
    (`oversize="keep"`). With `"drop"` a sentence with such a node is left out by the filter of the published tools, for
    which the punctuation that closes a sentence is items too, and nodes of all heads count. Trees are needed: `ready`
    learns the grammars.
    """

    superstrate: Superstrate
    substrate: Superstrate
    superstrate_weight: float = SUPERSTRATE_WEIGHT
    p: float = 1.0
    oversize: Literal["keep", "drop"] = "keep"
    seed: int = 0
    grammar: Grammar | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        check_probability(self.p)
        if not 0 <= self.superstrate_weight <= 1:
            raise ValueError(f"the superstrate's weight is from 0 to 1, not {self.superstrate_weight}")

    @property
    def name(self) -> str:
        weight = "" if self.superstrate_weight == SUPERSTRATE_WEIGHT else f"-{self.superstrate_weight * 100:g}"
        part = "" if self.p == 1 else f"-p{self.p * 100:g}"
        return f"syn-{self.superstrate.name}{weight}{part}{'-drop' if self.oversize == 'drop' else ''}"

    @property
    def title(self) -> str:
        default = self.superstrate_weight == SUPERSTRATE_WEIGHT
        weight = [] if default else [f"{self.superstrate_weight * 100:g} %"]
        sentences = [] if self.p == 1 else [f"{self.p * 100:g} % of sentences"]
        of = ", ".join([self.superstrate.name, *weight, *sentences])
        return f"Syn ({of})" + (", large nodes dropped" if self.oversize == "drop" else "")

    @property
    def facets(self) -> tuple[dict[str, Any], ...]:
        strates = {"superstrate": self.superstrate.name, "substrate": self.substrate.name}
        parameters = {
            "superstrate_weight": self.superstrate_weight,
            "p": self.p,
            "oversize": self.oversize,
            "seed": self.seed,
        }
        return ({"kind": "Reorder", **strates, **parameters},)

    @property
    def needs_trees(self) -> bool:
        return True

    def identity(self) -> Any:
        grammars = self.superstrate.fingerprint(), self.substrate.fingerprint()
        oversize = DROP if self.oversize == "drop" else self.oversize
        return ["Reorder", FORMAT, *grammars, self.superstrate_weight, self.p, oversize, self.seed]

    def ready(self, cache: Path) -> Reorder:
        if self.grammar is not None:
            return self
        prints = self.superstrate.fingerprint(), self.substrate.fingerprint()
        return replace(self, grammar=_mixture(self.superstrate, self.substrate, self.superstrate_weight, cache, prints))

    def leaves_out(self, sentence: Sentence, number: int = 0) -> bool:
        if self.oversize == "keep" or not self._drawn(number):
            return False
        return not sentence.heads or bool(_dropped(Tree.of(sentence.heads)))

    def account(self, sentence: Sentence, number: int = 0) -> Counter[str]:
        if not self._drawn(number):
            return Counter()
        if not sentence.heads:
            return Counter({"sentences without a tree": 1})
        if self.oversize == "drop":
            return _dropped(Tree.of(sentence.heads))
        return _kept(sentence, Tree.without_closing_marks(sentence))

    def _drawn(self, number: int) -> bool:
        """Whether sentence `number` is among the fraction `p`; an inversion draws its sentences independently."""
        return self.p == 1 or draw(f"reorder:{self.seed}", number).random() < self.p

    def __call__(self, sentence: Sentence, number: int = 0) -> Sentence:
        if self.grammar is None:
            raise ValueError(f"{self.name} has no grammar yet: ask it to be ready first")
        if not sentence.heads or not self._drawn(number):
            return sentence
        random = draw(self.seed, number).random
        sampler, tree, tags = _sampler(self.grammar), Tree.without_closing_marks(sentence), sentence.tags
        labels = list(map(item, tags, sentence.relations))
        lines = [[word] for word in range(len(sentence))]  # of each subtree, its words in their new order
        for head in reversed(tree.downwards):
            words = tree.dependents[head]
            if not words:
                continue
            if tags[head] not in CLASSES or len(words) >= MOST or tree.crossed(head):
                lines[head] = _in_place([head, *words], lines)
                continue
            ranked = sorted(words, key=labels.__getitem__)
            items = (*[labels[word] for word in ranked], head_item(tags[head]))
            ranked.append(head)
            lines[head] = [word for slot in sampler(items, random()) for word in lines[ranked[slot]]]
        return sentence.reorder([*lines[tree.downwards[0]], *range(len(tree.dependents), len(sentence))])


def reachable(sentence: Sentence, head: int) -> bool:
    """Whether a grammar orders the dependents of that word: see `Reorder`."""
    tree = _tree(sentence)
    return sentence.tags[head] in CLASSES and len(tree.dependents[head]) < MOST and not tree.crossed(head)


@lru_cache(maxsize=1)  # one sentence's heads are asked about one after the other
def _tree(sentence: Sentence) -> Tree:
    return Tree.without_closing_marks(sentence)


def _in_place(blocks: list[int], lines: list[list[int]]) -> list[int]:
    """The words of a node that keeps its order: each block keeps its places, and its words fill them as they stand now.

    Only where arcs cross are the places of a block no neighbours.
    """
    owner = {word: block for block in blocks for word in lines[block]}
    words = {block: iter(lines[block]) for block in blocks}
    return [next(words[owner[place]]) for place in sorted(owner)]


def _kept(sentence: Sentence, tree: Tree) -> Counter[str]:
    """The nodes that a grammar could order but for their size or for arcs that cross."""
    return _unordered(tree, [head for head in range(len(tree.dependents)) if sentence.tags[head] in CLASSES])


def _dropped(tree: Tree) -> Counter[str]:
    """The nodes for which the published tools drop a sentence: too large or crossed, whatever their heads are."""
    return _unordered(tree, range(len(tree.dependents)))


def _unordered(tree: Tree, heads: Iterable[int]) -> Counter[str]:
    """Those of the nodes of these heads that are not ordered, by reason."""
    kept: Counter[str] = Counter()
    for head in heads:
        words = tree.dependents[head]
        if words and tree.crossed(head):
            kept["nodes with crossing arcs"] += 1
        elif len(words) >= MOST:
            kept[f"nodes of more than {MOST} items"] += 1
    return kept


@lru_cache(maxsize=8)  # workers ask once a chunk; files that changed have other fingerprints
def _mixture(
    superstrate: Superstrate, substrate: Superstrate, weight: float, cache: Path, prints: tuple[str, str]
) -> Grammar:
    return Grammar.mix(superstrate.grammar(cache), substrate.grammar(cache), 1 - weight)


@lru_cache(maxsize=8)
def _sampler(grammar: Grammar) -> Sampler:
    """One sampler a grammar and process: what it remembers is what makes it fast."""
    return Sampler(grammar)
