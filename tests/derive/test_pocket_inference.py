"""Inference pairs: labels follow from the sentences, and from neither alone."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import ClassVar

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.sparse import csr_matrix

from derive.example import Example
from derive.pocket.inference import EXCHANGE, GENERAL, LABELS, OPPOSITE, Row
from derive.pocket.inflection import NOUNS, VERBS
from derive.pocket.language import Pocket
from derive.pocket.lexicon import Lexicon
from derive.sentence import Sentence

POCKET = Pocket(600)
PAIRS = tuple(POCKET.pairs(4_500))


@pytest.mark.parametrize("table", [GENERAL, OPPOSITE, EXCHANGE])
def test_each_form_is_equally_frequent_under_every_label_on_either_side(table: dict[str, list[Row]]) -> None:
    for side in (0, 1):
        shares = []
        for label in LABELS:
            total = sum(row[3] for row in table[label])
            forms: Counter[str] = Counter()
            for row in table[label]:
                # The exchanged form of two who are drawn alike is the same form.
                forms[str(row[side]).replace("x", "").replace("o", "")] += row[3]
            shares.append({form: count / total for form, count in forms.items()})
        assert shares[0] == shares[1] == shares[2]


def test_labels_are_balanced() -> None:
    assert Counter(pair.label for pair in PAIRS[:999]) == dict.fromkeys(LABELS, 333)


def premise(pair: Example) -> Sentence:
    return pair.texts[0][0]


def hypothesis(pair: Example) -> Sentence:
    return pair.texts[1][0]


def features(sentence: Sentence) -> set[str]:
    words = ("<s>", *sentence.words)
    return {*words, *(f"{a} {b}" for a, b in pairwise(words)), f"length {len(words)}"}


def accuracy(texts: Sequence[set[str]], labels: np.ndarray, train: int) -> float:
    """Test accuracy of a logistic regression (L2, fitted by L-BFGS) on sets of features."""
    counts = Counter(feature for text in texts[:train] for feature in text)
    columns = {feature: i for i, feature in enumerate(sorted(f for f, n in counts.items() if n > 2))}
    cells = [(i, columns[feature]) for i, text in enumerate(texts) for feature in text if feature in columns]
    rows, places = zip(*cells, strict=True)
    x = csr_matrix((np.ones(len(cells)), (rows, places)), shape=(len(texts), len(columns)))
    seen, gold = x[:train], np.eye(3)[labels[:train]]

    def loss(flat: np.ndarray) -> tuple[float, np.ndarray]:
        weights = flat.reshape(len(columns), 3)
        scores = seen @ weights
        scores -= scores.max(axis=1, keepdims=True)
        logs = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
        gradient = seen.T @ (np.exp(logs) - gold) + weights
        return float(-(logs * gold).sum() + (weights**2).sum() / 2), gradient.ravel()

    fit = minimize(loss, np.zeros(len(columns) * 3), jac=True, method="L-BFGS-B", options={"maxiter": 100})
    predicted = (x[train:] @ fit.x.reshape(-1, 3)).argmax(axis=1)
    return float((predicted == labels[train:]).mean())


@pytest.mark.parametrize("side", [premise, hypothesis])
def test_one_side_alone_tells_nothing(side: Callable[[Example], Sentence]) -> None:
    labels = np.array([LABELS.index(pair.label) for pair in PAIRS])
    assert abs(accuracy([features(side(pair)) for pair in PAIRS], labels, 3_000) - 1 / 3) < 0.05


def test_the_same_classifier_reads_both_sides_together() -> None:
    """It is no blind instrument: told what the sides share, it is far above chance."""
    labels = np.array([LABELS.index(pair.label) for pair in PAIRS])
    texts = []
    for pair in PAIRS:
        one, two = set(premise(pair).words), set(hypothesis(pair).words)
        texts.append({f"new {word}" for word in two - one} | {f"gone {word}" for word in one - two} | {"bias"})
    assert accuracy(texts, labels, 3_000) > 0.5


class Meaning:
    """What a sentence says, read off its tree: a reference that shares no code with the generator."""

    lemmas: ClassVar[dict[tuple[str, str], str]] = {}
    hypernyms: ClassVar[dict[str, set[str]]] = defaultdict(set)
    antonyms: ClassVar[dict[tuple[str, str], set[str]]] = defaultdict(set)

    @classmethod
    def learn(cls, lexicon: Lexicon) -> None:
        for topic in lexicon.topics:
            for kind, lexemes in topic.items():
                tag = "NOUN" if kind in NOUNS else "VERB" if kind in VERBS else "ADJ" if kind == "adj" else "ADV"
                for lexeme in lexemes:
                    for form in lexeme.forms:
                        cls.lemmas[tag, form] = lexeme.lemma
                    cls.hypernyms[lexeme.lemma] |= {lexeme.hypernym} - {""}
                    cls.antonyms[tag, lexeme.lemma] |= {lexeme.antonym} - {""}

    def __init__(self, sentence: Sentence) -> None:
        self.slots: dict[str, str] = {}
        root = sentence.heads.index(-1)
        passive = "nsubj:pass" in sentence.relations
        self.negative = "not" in sentence.words
        for i, (word, tag, relation) in enumerate(zip(sentence.words, sentence.tags, sentence.relations, strict=True)):
            case = [w for w, h, r in zip(sentence.words, sentence.heads, sentence.relations, strict=True)
                    if h == i and r == "case"]  # fmt: skip
            role = {"nsubj": "agent", "obl:agent": "agent", "nsubj:pass": "patient", "obj": "patient"}.get(relation)
            if relation == "iobj" or case == ["to"]:
                role = "recipient"
            elif relation == "obl":
                role = "place"
                self.slots["preposition"] = case[0]
            elif relation == "amod":
                role = "quality"
            elif relation == "advmod" and tag == "ADV":
                role = "manner"
            elif i == root:
                role = "root"
            if role:
                self.slots[role] = self.lemmas.get((tag, word), word)
                if role == "root":
                    self.tag = tag
        assert not passive or {"agent", "patient"} <= self.slots.keys()

    def label(self, other: Meaning) -> str:
        """What this, as a premise, says of `other`."""
        relations = set()
        for slot in self.slots.keys() | other.slots.keys():
            mine, its = self.slots.get(slot, ""), other.slots.get(slot, "")
            if mine == its:
                continue
            if slot == "root" and its in self.antonyms[self.tag, mine]:
                relations.add("opposite")
            elif not its or (slot == "patient" and its in self.hypernyms[mine]):
                relations.add("wider")
            elif not mine or (slot == "patient" and mine in self.hypernyms[its]):
                relations.add("narrower")
            else:
                relations.add("other")
        if "other" in relations:
            exchanged = self.slots.get("agent") == other.slots.get("patient") is not None
            exchanged = exchanged and self.slots.get("patient") == other.slots.get("agent")
            return "contradiction" if exchanged else "neutral"
        assert len(relations) <= 1
        if relations == {"opposite"}:
            return "neutral" if self.negative else "entailment" if other.negative else "contradiction"
        if relations == ({"wider"} if self.negative else {"narrower"}):
            return "neutral"
        return "entailment" if self.negative == other.negative else "contradiction"


def test_labels_follow_from_what_the_sentences_say() -> None:
    Meaning.learn(Lexicon(600, 0))
    for pair in PAIRS:
        found = Meaning(premise(pair)).label(Meaning(hypothesis(pair)))
        assert found == pair.label, (premise(pair).words, hypothesis(pair).words)


def test_sentences_of_pairs_are_trees_of_the_language() -> None:
    for pair in PAIRS[:1_000]:
        for sentence in (premise(pair), hypothesis(pair)):
            assert set(sentence.words) <= POCKET.forms
            assert sentence.heads.count(-1) == 1
            assert len(sentence.tags) == len(sentence.relations) == len(sentence)
