"""Another language's word order on this language's words: galactic dependencies (Wang and Eisner 2016)."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from glob import escape
from itertools import chain
from pathlib import Path
from typing import Any, Literal

from derive.artefact import digest
from derive.errors import BadInput, unknown
from derive.files import check_name, fingerprint, sha256, with_code
from derive.forms import NUMBER, fraction
from derive.grammar.features import CLASSES, MOST, Tree, head_item, item
from derive.grammar.model import FORMAT, Grammar, Sampler
from derive.pocket.language import Pocket
from derive.pocket.tree import ORDERS
from derive.readers.conllu import read_treebank, treebank_files
from derive.sentence import Sentence
from derive.transform import Need, Transform, check_probability, draw, some

NAME = "[A-Za-z][A-Za-z0-9_]{0,63}"  # the names that a word order may have: a dash would begin a parameter
DROP = "drop: nodes of all heads, closing marks among them"
"""Which sentences `oversize="drop"` leaves out, as fingerprints have it."""
SUPERSTRATE_WEIGHT = 0.95  # the superstrate's part of the weights by default; the rest is the substrate's


class Superstrate(ABC):
    """A language that lends its word order (or, as a substrate, gives way); a new kind is a frozen dataclass."""

    name: str

    @abstractmethod
    def fingerprint(self) -> str:
        """Changes whenever the grammar would."""

    @abstractmethod
    def learn(self) -> Grammar:
        """The grammar, learnt now."""

    def grammar(self, cache: Path) -> Grammar:
        """The grammar; the folder `cache` keeps what was learnt."""
        check_name(self.name, "a word order called")
        path = cache / f"{self.name}-{with_code(self.fingerprint(), self)}.grammar.json"
        if not path.exists():
            self.learn().save(path)
        return Grammar.load(path)


@dataclass(frozen=True)
class TreebankFiles(Superstrate):
    """CoNLL-U files of one language, or folders of them."""

    name: str
    paths: tuple[Path, ...]

    def fingerprint(self) -> str:
        return fingerprint(FORMAT, self.name, [digest(file) for path in self.paths for file in treebank_files(path)])

    def sentences(self) -> Iterator[Sentence]:
        return chain.from_iterable(map(read_treebank, self.paths))

    def learn(self) -> Grammar:
        return Grammar.train(self.sentences(), self.name, path=self.paths[0])


@dataclass(frozen=True)
class PocketTreebank(Superstrate):
    """The treebank of Pocket English or of a word-order variant: `size` sentences of a stream that no corpus has."""

    name: str
    size: int = 3_000
    stream: int = 1_000

    def fingerprint(self) -> str:
        return fingerprint(FORMAT, self)

    def sentences(self) -> Iterator[Sentence]:
        return Pocket(order=self.name).sentences(self.size, self.stream)

    def learn(self) -> Grammar:
        return Grammar.train(self.sentences(), self.name)


@dataclass(frozen=True)
class GrammarFile(Superstrate):
    """A grammar that `calque grammar train` wrote."""

    name: str
    path: Path

    def fingerprint(self) -> str:
        return fingerprint(FORMAT, self.name, sha256(self.path))

    def learn(self) -> Grammar:
        return Grammar.load(self.path)

    def grammar(self, cache: Path) -> Grammar:
        return self.learn()


def superstrate(name: str) -> Superstrate:
    """The word order of a name: `grammars/NAME.json` (or below CALQUE_GRAMMARS), or what `trees` finds."""
    file = Path(os.environ.get("CALQUE_GRAMMARS") or "grammars") / f"{name}.json"
    return GrammarFile(name, file) if file.is_file() else trees(name)


def trees(name: str) -> TreebankFiles | PocketTreebank:
    """The treebank of a name, also where there is a grammar of it: Pocket English's variants come first."""
    if name in ORDERS:
        return PocketTreebank(name)
    if files := treebank(name):
        return TreebankFiles(name, files)
    raise BadInput(
        f"{unknown('word order', name, ORDERS)}, and any language whose grammar is in grammars/ or whose treebank is "
        "below ud/ of the folder that CALQUE_DATA names (`calque data fetch ud` gets some)"
    )


def treebank(language: str) -> tuple[Path, ...]:
    """The treebank files below CALQUE_DATA/ud whose names begin with `LANGUAGE_`: those for training, or all there are.
    PUD treebanks, the same sentences in every language, only where there is no other."""
    treebanks = sorted(Path(os.environ.get("CALQUE_DATA") or "data", "ud").glob(f"*/{escape(language)}_*.conllu"))
    others = [path for path in treebanks if "_pud-" not in path.name] or treebanks
    return tuple(path for path in others if path.stem.endswith("-train")) or tuple(others)


def substrate(name: str) -> Superstrate:
    return PocketTreebank("english") if name in ORDERS else superstrate("en")


@dataclass(frozen=True)
class Reorder(Transform):
    """Dependents of nouns and verbs in the superstrate's order; subtrees move as blocks, closing marks stay last.

    `superstrate_weight` interpolates between the substrate's order (0) and the superstrate's (1); `p` is the fraction
    of sentences that are reordered. A node of more than 7 items or with crossing arcs keeps its order
    (`oversize="keep"`). With `"drop"` a sentence with such a node is left out by the filter of the published tools, for
    which the punctuation that closes a sentence is items too, and nodes of all heads count. Trees are needed: `ready`
    learns the grammars.
    """

    pattern = rf"syn[-:](?P<name>{NAME})(?:-(?P<weight>{NUMBER}))?(?:-p(?P<p>{NUMBER}))?(?P<drop>-drop)?"
    examples = (
        ("syn-fr", "French word order"),
        ("syn-fr-25", "a quarter of the way"),
        ("syn-fr-p50", "half of the sentences"),
    )
    term = "Syn gives each sentence the word order of another language, which is learnt from a treebank."

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

    @classmethod
    def parse(cls, name: str, weight: str | None, p: str | None, drop: str | None) -> Reorder:
        return cls(
            superstrate(name),
            substrate(name),
            superstrate_weight=fraction(weight) if weight else SUPERSTRATE_WEIGHT,
            p=some(p) if p else 1.0,
            oversize="drop" if drop else "keep",
        )

    @property
    def name(self) -> str:
        weight = "" if self.superstrate_weight == SUPERSTRATE_WEIGHT else f"-{self.superstrate_weight * 100:g}"
        part = "" if self.p == 1 else f"-p{self.p * 100:g}"
        return f"syn-{self.superstrate.name}{weight}{part}{'-drop' if self.oversize == 'drop' else ''}"

    @property
    def title(self) -> str:
        weight = "" if self.superstrate_weight == SUPERSTRATE_WEIGHT else f", {self.superstrate_weight * 100:g} %"
        part = "" if self.p == 1 else f", {self.p * 100:g} % of sentences"
        dropped = ", large nodes dropped" if self.oversize == "drop" else ""
        return f"Syn ({self.superstrate.name}{weight}{part}){dropped}"

    @property
    def facets(self) -> tuple[dict[str, Any], ...]:
        names = {"superstrate": self.superstrate.name, "substrate": self.substrate.name}
        parameters = {name: getattr(self, name) for name in ("superstrate_weight", "p", "oversize", "seed")}
        return ({"kind": "Reorder", **names, **parameters},)

    @property
    def needs(self) -> frozenset[Need]:
        return frozenset(("trees", "tags"))

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
        return not sentence.heads or bool(self.account(sentence, number))

    def account(self, sentence: Sentence, number: int = 0) -> Counter[str]:
        """The nodes that keep their order, or, with "drop", those for which the published tools drop a sentence."""
        if not self._drawn(number):
            return Counter()
        if not sentence.heads:
            return Counter({"sentences without a tree": 1})
        drop, kept = self.oversize == "drop", Counter[str]()
        tree = Tree.of(sentence.heads) if drop else Tree.without_closing_marks(sentence)
        for head, words in enumerate(tree.dependents):
            if not words or not (drop or sentence.tags[head] in CLASSES):
                continue
            if tree.crossed(head):
                kept["nodes with crossing arcs"] += 1
            elif len(words) >= MOST:
                kept[f"nodes of more than {MOST} items"] += 1
        return kept

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


_tree = lru_cache(maxsize=1)(Tree.without_closing_marks)
"""Callers ask for one sentence's heads one after the other."""


def _in_place(blocks: list[int], lines: list[list[int]]) -> list[int]:
    """The words of a node that keeps its order: each block keeps its places (not neighbours where arcs cross), and its
    reordered words fill them."""
    owner = {word: block for block in blocks for word in lines[block]}
    words = {block: iter(lines[block]) for block in blocks}
    return [next(words[owner[place]]) for place in sorted(owner)]


@lru_cache(maxsize=8)  # workers ask once per chunk; files that changed have other fingerprints
def _mixture(
    superstrate: Superstrate, substrate: Superstrate, weight: float, cache: Path, prints: tuple[str, str]
) -> Grammar:
    return Grammar.mix(superstrate.grammar(cache), substrate.grammar(cache), 1 - weight)


_sampler = lru_cache(maxsize=8)(Sampler)  # one sampler per grammar and process: its memory makes it fast
