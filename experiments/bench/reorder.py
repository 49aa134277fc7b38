"""Learning a word order and giving it to sentences, against writing out every order of every node.

`python -m experiments.bench.reorder`: trees are those of English EWT and French Sequoia below CALQUE_DATA, else of
Pocket English and its Romance variant.
"""

from __future__ import annotations

import math
import os
import random
import resource
import time
from collections.abc import Callable
from itertools import permutations
from pathlib import Path

from derive.grammar.features import ADJACENT, AFTER, AROUND, BEFORE, ORDERED, pair, sequences
from derive.grammar.model import Grammar
from derive.grammar.nodes import CLASSES, MOST, Tree, nodes
from derive.reorder import Learned, PocketTreebank, Reorder, TreebankFiles
from derive.sentence import Sentence
from experiments.bench.timing import Comparison, arguments, interleaved, report

LEARNT = 15_000
"""Sentences to learn from, and to reorder."""
NAIVE = 60
"""Sentences for the straightforward way."""


def treebanks() -> tuple[Learned, Learned]:
    """The superstrate and the substrate."""
    if data := os.environ.get("CALQUE_DATA"):
        ud = Path(data, "ud")
        return TreebankFiles("fr", (ud / "UD_French-Sequoia",)), TreebankFiles("en", (ud / "UD_English-EWT",))
    return PocketTreebank("romance", size=15_000), PocketTreebank("english", size=15_000)


def draw_by_the_letter(grammar: Grammar, items: tuple[str, ...], u: float) -> tuple[int, ...]:
    """An order drawn by writing out the features of every order: what a reader of the paper would program first."""
    weights, n = grammar.weights[CLASSES[items[-1][1:-2]]], len(items)
    orders = list(permutations(range(n)))
    shares = []
    for order in orders:
        line, head = [items[slot] for slot in order], order.index(n - 1)
        pairs = [(ADJACENT, *two) for two in zip(["<", *line], [*line, ">"], strict=True)]
        for i in range(n):
            for j in range(i + 1, n):
                pairs.append((ORDERED, line[i], line[j]))
                if head not in (i, j):
                    kind = BEFORE if j < head else AFTER if i > head else AROUND
                    pairs.append((kind, line[i], line[j]))
        features = [feature for two in pairs for feature in pair(*two)] + list(sequences(items, order))
        shares.append(math.exp(sum(weights.get(feature, 0.0) for feature in features)))
    return random.Random(u).choices(orders, shares)[0]


def words_per_second(work: Callable[[int, Sentence], object], sentences: list[Sentence]) -> float:
    """How many words one core works on in a second of its own."""
    start = time.process_time()
    for number, sentence in enumerate(sentences):
        work(number, sentence)
    return sum(map(len, sentences)) / (time.process_time() - start)


def main() -> None:
    """Measure and report."""
    options = arguments("giving sentences another word order against writing out every order", rounds=3, threads=1)
    superstrate, substrate = treebanks()
    sentences = list(substrate.sentences())[:LEARNT]
    start = time.process_time()
    english = Grammar.train(sentences, substrate.name)
    learnt, peak = time.process_time() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
    print(f"learning from {len(sentences):,} sentences: {learnt:.1f} s of one core, {peak:,.0f} MiB in all")
    grammar = Grammar.mix(Grammar.train(superstrate.sentences(), superstrate.name), english)
    few = sentences[:: len(sentences) // NAIVE][:NAIVE]

    def naive(number: int, sentence: Sentence) -> None:
        for _, items, _ in nodes(sentence, Tree.of(sentence.heads)):
            if len(items) <= MOST:
                draw_by_the_letter(grammar, items, number)

    def cold() -> float:
        # A mixture is a grammar of its own, so nothing is remembered of the others.
        reorder = Reorder(superstrate, substrate, grammar=Grammar.mix(grammar, grammar))
        return words_per_second(lambda number, sentence: reorder(sentence, number), sentences)

    known = Reorder(superstrate, substrate, grammar=grammar)
    first, warm, theirs = interleaved(
        [
            cold,
            lambda: words_per_second(lambda number, sentence: known(sentence, number), sentences),
            lambda: words_per_second(naive, few),
        ],
        options.rounds,
    )
    rows = [("nodes met for the first time", first), ("nodes known", warm)]
    report(
        [Comparison("reorder", what, ours, theirs, "words/s", ours / theirs) for what, ours in rows],
        ["numpy", "scipy"],
        options.out,
    )


if __name__ == "__main__":
    main()
