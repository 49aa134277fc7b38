"""Word order: inversion, random permutation, the order of another language (galactic dependencies, Wang and
Eisner 2016), and the distance between two orders."""

import os
from abc import ABC, abstractmethod
from bisect import bisect
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from glob import escape
from itertools import chain
from operator import attrgetter
from pathlib import Path
from typing import Any, Self

from calque.derive.errors import BadInput, unknown
from calque.derive.files import check_name, digest, input_digest
from calque.derive.fingerprint import fingerprint, total, with_code
from calque.derive.forms import Form, percent
from calque.derive.grammar import CLASSES, FORMAT, MOST, Grammar, Tree, ranked
from calque.derive.pocket.language import Pocket
from calque.derive.pocket.tree import ORDERS
from calque.derive.readers.conllu import read_conllu
from calque.derive.sentence import Sentence
from calque.derive.transform import Transform, check_share, draw

FINAL_MARKS = (".", "!", "?")  # English sentence-final punctuation


@dataclass(frozen=True)
class Invert(Transform):
    """Reverses the words of each sentence, except for final punctuation (ALIGN-MLM, appendix F).

    If there is none, punctuation at the start stays first, so that the transform is its own inverse. Only a
    fraction `p` of the sentences changes."""

    short_name, full_name = "inv", "Inv"
    forms = (percent("p", "-", "{percent} % of the sentences", "50", " {percent} %"),)

    p: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        check_share(self.p, "sentences")

    def __call__(self, sentence: Sentence, number: int = 0) -> Sentence:
        if self.p < 1 and draw(self.seed, number).random() >= self.p:
            return sentence
        words, places = sentence.words, list(range(len(sentence)))
        if words and words[-1] in FINAL_MARKS:
            return sentence.reorder([*places[-2::-1], places[-1]])
        first = next((i for i, word in enumerate(words) if word not in FINAL_MARKS), len(words))
        return sentence.reorder(places[:first] + places[first:][::-1])


@dataclass(frozen=True)
class Permute(Transform):
    """Permutes the words of each sentence randomly, as a control."""

    short_name, full_name = "perm", "Perm"

    seed: int = 0

    def __call__(self, sentence: Sentence, number: int = 0) -> Sentence:
        order = list(range(len(sentence)))
        draw(self.seed, number).shuffle(order)
        return sentence.reorder(order)


def kendall_distance(origin: Sequence[int]) -> float:
    """Return the fraction of word pairs whose order is reversed."""
    places, inversions, n = list[int](), 0, len(origin)
    for place in origin:
        rank = bisect(places, place)
        inversions += len(places) - rank
        places.insert(rank, place)
    return inversions / (n * (n - 1) / 2) if n > 1 else 0.0


def order_distance(origins: Iterable[Sequence[int]]) -> float:
    """Return the mean `kendall_distance` of sentences of at least two words, or 0."""
    distances = [kendall_distance(origin) for origin in origins if len(origin) > 1]
    return total(distances) / len(distances) if distances else 0.0


NAME = "[A-Za-z][A-Za-z0-9_]{0,63}"  # names of word orders, without dashes, which separate parameters


class Superstrate(ABC):
    """A word order that can be learnt. Subclasses are frozen dataclasses with a `name`."""

    name: str

    @abstractmethod
    def fingerprint(self) -> str:
        """Return a fingerprint of the grammar's inputs."""

    @abstractmethod
    def learn(self) -> Grammar: ...

    def grammar(self, cache: Path) -> Grammar:
        """Return the grammar, learnt once and kept in `cache`."""
        check_name(self.name, "a word order called")
        path = cache / f"{self.name}-{with_code(self.fingerprint(), self)}.grammar.json"
        if not path.exists():
            self.learn().save(path)
        return Grammar.load(path)


@dataclass(frozen=True)
class TreebankFiles(Superstrate):
    """A word order learnt from treebanks."""

    name: str
    paths: tuple[Path, ...]

    def fingerprint(self) -> str:
        return fingerprint(FORMAT, self.name, list(map(input_digest, self.paths)))

    def learn(self) -> Grammar:
        return Grammar.train(chain.from_iterable(map(read_conllu, self.paths)), self.paths[0])


@dataclass(frozen=True)
class StoredGrammar(Superstrate):
    """A grammar written by `Grammar.save`, or the same compressed with xz."""

    name: str
    path: Path

    def fingerprint(self) -> str:
        return fingerprint(FORMAT, self.name, digest(self.path))

    def learn(self) -> Grammar:
        return Grammar.load(self.path)


@dataclass(frozen=True)
class PocketTreebank(Superstrate):
    """A treebank of Pocket English sentences, from a random stream that no corpus uses."""

    name: str
    size: int = 3_000
    stream: int = 1_000

    def fingerprint(self) -> str:
        return fingerprint(FORMAT, self)

    def learn(self) -> Grammar:
        return Grammar.train(Pocket(order=self.name).sentences(self.size, self.stream))


def superstrate(name: str) -> TreebankFiles | PocketTreebank:
    """Return a variant of Pocket English, or the order of a language's treebanks in CALQUE_DATA/ud (only the
    training files, if there are any; PUD, a test set, only if there is no other treebank)."""
    if name in ORDERS:
        return PocketTreebank(name)
    folder = Path(os.environ.get("CALQUE_DATA") or "data", "ud")
    files = sorted(folder.glob(f"*/{escape(name)}_*.conllu"))
    if not files:
        hint = "languages with a treebank in CALQUE_DATA/ud also work (`calque data fetch ud` downloads some)"
        raise BadInput(f"{unknown('word order', name, ORDERS)}; {hint}")
    files = [path for path in files if "_pud-" not in path.name] or files
    return TreebankFiles(name, tuple([path for path in files if path.stem.endswith("-train")] or files))


@dataclass(frozen=True)
class Reorder(Transform):
    """Gives nouns, verbs and their dependents the order of another language (galactic dependencies).

    `superstrate_weight` interpolates between the substrate's order (0) and the superstrate's (1). Closing
    punctuation stays last; nodes of more than 7 items or with crossing arcs keep their order."""

    short_name, full_name = "syn", "Syn"
    former_fields = (("p", 1.0),)
    forms = (
        Form("superstrate", "-", "{value.name}", None, superstrate, "fr", " ({}", NAME, attrgetter("name")),
        percent("superstrate_weight", "-", "{percent} % of the way to this order", "25", ", {percent} %"),
    )
    needs_trees = True

    superstrate: Superstrate
    substrate: Superstrate
    superstrate_weight: float = 0.95
    seed: int = 0
    grammar: Grammar | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        check_share(self.superstrate_weight, "the superstrate", may_be_zero=True)

    @classmethod
    def parse(cls, name: str) -> Self | None:
        if (values := cls.parse_fields(name)) is None:
            return None
        english = "english" if isinstance(values["superstrate"], PocketTreebank) else "en"
        return cls(substrate=superstrate(english), **values)

    @property
    def title(self) -> str:
        return f"{super().title})"

    @property
    def facets(self) -> tuple[dict[str, Any], ...]:
        return (
            {
                "kind": "Reorder",
                "superstrate": self.superstrate.name,
                "substrate": self.substrate.name,
                "superstrate_weight": self.superstrate_weight,
                "p": 1.0,  # a removed setting that records still contain, like the next one
                "oversize": "keep",
                "seed": self.seed,
            },
        )

    def identity(self) -> Any:
        prints = self.superstrate.fingerprint(), self.substrate.fingerprint()
        return ["Reorder", FORMAT, *prints, self.superstrate_weight, 1.0, self.seed]

    def ready(self, cache: Path | None = None) -> Self:
        if self.grammar is not None or cache is None:
            return self
        return replace(self, grammar=_mixture(self, cache, *self.identity()[2:4]))

    def account(self, sentence: Sentence, number: int = 0) -> Counter[str]:
        if not sentence.heads:
            return Counter({"sentences without a tree": 1})
        tree = Tree.without_closing_marks(sentence)
        heads = [head for head, words in enumerate(tree.dependents) if words]
        obstacles = [_obstacle(tree, head) for head in heads if sentence.tags[head] in CLASSES]
        return Counter(filter(None, obstacles))

    def __call__(self, sentence: Sentence, number: int = 0) -> Sentence:
        if self.grammar is None:
            raise ValueError(f"{self.name} has no grammar yet: call `ready` first")
        if not sentence.heads:
            return sentence
        random, tree = draw(self.seed, number).random, Tree.without_closing_marks(sentence)
        lines = [[word] for word in range(len(sentence))]  # each subtree's words in their new order
        for head in reversed(tree.downwards):
            words = tree.dependents[head]
            if words and (sentence.tags[head] not in CLASSES or _obstacle(tree, head)):
                lines[head] = _in_place([head, *words], lines)
            elif words:
                node, items = ranked(sentence, tree, head)
                slots = self.grammar.sample(items, random())
                lines[head] = [word for slot in slots for word in lines[node[slot]]]
        return sentence.reorder([*lines[tree.downwards[0]], *range(len(tree.dependents), len(sentence))])


def _obstacle(tree: Tree, head: int) -> str:
    words = tree.dependents[head]
    if not all(tree.whole[word] for word in (head, *words)):
        return "nodes with crossing arcs"
    return f"nodes of more than {MOST} items" if len(words) >= MOST else ""


def _in_place(blocks: list[int], lines: list[list[int]]) -> list[int]:
    """Return the words below a node whose head and subtrees (`blocks`) keep their places."""
    owner = {word: block for block in blocks for word in lines[block]}
    words = {block: iter(lines[block]) for block in blocks}
    return [next(words[owner[place]]) for place in sorted(owner)]


@lru_cache(maxsize=8)  # called for every chunk; the fingerprints change with the files
def _mixture(order: Reorder, cache: Path, *prints: str) -> Grammar:
    grammars = order.superstrate.grammar(cache), order.substrate.grammar(cache)
    return Grammar.mix(*grammars, 1 - order.superstrate_weight)
