from __future__ import annotations

from collections import Counter, defaultdict
from functools import cache
from itertools import islice, product

import pytest

from calque.derive.pocket.inference import LABELS, SHARES, families
from calque.derive.pocket.language import Pocket
from calque.derive.pocket.lexicon import NOUNS, VERBS, Lexicon

E, N, C = "entailment", "neutral", "contradiction"


class Lore:
    def __init__(self, types):
        self.lemmas = {}
        self.hypernyms = defaultdict(set)
        self.antonyms = defaultdict(set)
        for topic in Lexicon(types).topics:
            for kind, lexemes in topic.items():
                verbal = "VERB" if kind in VERBS else "ADJ" if kind == "adj" else "ADV"
                tag = "NOUN" if kind in NOUNS else verbal
                for lexeme in lexemes:
                    for form in lexeme.forms:
                        self.lemmas[tag, form] = lexeme.lemma
                    self.hypernyms[lexeme.lemma] |= {lexeme.hypernym} - {""}
                    self.antonyms[tag, lexeme.lemma] |= {lexeme.antonym} - {""}


class Reading:
    def __init__(self, sentence, lore):
        self.lore = lore
        self.slots = {}
        self.negative = not {"not", "never"}.isdisjoint(sentence.words)
        self.determiner = "the"
        rows = list(zip(sentence.words, sentence.tags, sentence.heads, sentence.relations, strict=True))
        for i, (word, tag, head, relation) in enumerate(rows):
            below = {r: w for w, _, h, r in rows if h == i}
            lemma = lore.lemmas.get((tag, word), word)
            if relation in ("nsubj", "obl:agent"):
                self.slots["agent"] = lemma
                self.determiner = below.get("det", "the") if relation == "nsubj" else self.determiner
            elif relation in ("obj", "nsubj:pass"):
                self.slots["patient"] = lemma
                if "nummod" in below:
                    self.slots["number"] = below["nummod"]
            elif relation == "obl":
                self.slots["place"] = f"{below['case']} {lemma}"
            elif relation == "advmod" and word not in ("not", "never", "always"):
                self.slots["manner"] = lemma
            elif head == -1:
                self.slots["root"], self.tag = lemma, tag

    def says_of(self, other):
        if self.determiner != "the":
            return self._quantified(other)
        relations = {self._relation(slot, other) for slot in self.slots.keys() | other.slots.keys()}
        if "unrelated" in relations:
            return N
        excluded = "exclusive" in relations
        if "more" in relations and not excluded:
            return N
        return E if self.negative == (other.negative ^ excluded) else C

    def _relation(self, slot, other):
        mine, its = self.slots.get(slot, ""), other.slots.get(slot, "")
        if mine == its or not its:
            return "said"
        if not mine:
            return "more"
        if slot in ("number", "manner", "place"):
            return "exclusive"
        if slot == "root":
            return "exclusive" if its in self.lore.antonyms[self.tag, mine] else "unrelated"
        return "said" if its in self.lore.hypernyms[mine] else "unrelated"

    def _quantified(self, other):
        ours, theirs = self.slots["agent"], other.slots["agent"]
        if ours == theirs:
            kinds = "AB", "AB"
        elif theirs in self.lore.hypernyms[ours]:
            kinds = "A", "AB"
        elif ours in self.lore.hypernyms[theirs]:
            kinds = "AB", "A"
        else:
            kinds = "A", "B"
        quality, its = self.slots["root"], other.slots["root"]
        relation = 0 if quality == its else 1 if its in self.lore.antonyms[self.tag, quality] else 2
        return in_all_worlds((self.determiner, kinds[0]), (other.determiner, kinds[1]), relation)


@cache
def in_all_worlds(premise, hypothesis, relation):
    """Check all worlds of two things of sort A and two of sort B, each warm or cold and big or small. The
    premise says `warm`; the hypothesis says `warm` (relation 0), `cold` (1) or `big` (2)."""
    found = set()
    for warm, big in product(product((False, True), repeat=4), repeat=2):
        said = tuple(not value for value in warm) if relation == 1 else big if relation == 2 else warm
        if _true(premise, warm):
            found.add(_true(hypothesis, said))
    return N if len(found) == 2 else E if found == {True} else C


def _true(statement, values):
    determiner, sorts = statement
    of = [value for sort, value in zip("AABB", values, strict=True) if sort in sorts]
    return all(of) if determiner == "every" else any(of) if determiner in ("a", "an") else not any(of)


ITEMS = 1_500
SIZES = pytest.mark.parametrize("types", [300, 600])


@cache
def pairs(types):
    return tuple(islice(Pocket(types).examples("nli"), 2 * ITEMS))


def texts(example):
    return tuple(" ".join(sentence.words) for (sentence,) in example.texts)


@SIZES
def test_labels_are_balanced_and_pairs_unique(types):
    for found, labels in ((pairs(types), LABELS), (paraphrases(types), "01")):
        assert len({texts(pair) for pair in found}) == 2 * ITEMS
        assert Counter(pair.label for pair in found) == dict.fromkeys(labels, 2 * ITEMS // len(labels))


@SIZES
def test_inference_labels_follow_from_meaning(types):
    lore = Lore(types)
    for pair in pairs(types):
        premise, hypothesis = (Reading(sentence, lore) for (sentence,) in pair.texts)
        assert premise.says_of(hypothesis) == pair.label, texts(pair)


@pytest.mark.parametrize("order", ["romance", "verbfinal"])
def test_other_word_orders_have_the_same_pairs(order):
    languages = Pocket(300), Pocket(300, order=order)
    for pair, other in islice(zip(*(each.examples("nli") for each in languages), strict=True), 200):
        assert (other.label, other.diagnostic) == (pair.label, pair.diagnostic)
        ours, theirs = ([Counter(text.split()) for text in texts(each)] for each in (pair, other))
        assert ours == theirs


@pytest.mark.parametrize("family", SHARES)
def test_surface_features_are_equally_frequent_under_every_label(family):
    for view in range(3):
        seen = defaultdict(lambda: dict.fromkeys(LABELS, 0.0))
        for case in families()[family]:
            seen[case.views[view]][case.label] += case.weight
        for weights in seen.values():
            assert max(weights.values()) - min(weights.values()) < 1e-9


@cache
def paraphrases(types):
    return tuple(islice(Pocket(types).examples("paraphrase"), 2 * ITEMS))


def roles(sentence):
    words = dict(zip(sentence.relations, sentence.words, strict=True))
    if "obl:agent" in words:
        return words["obl:agent"], words["nsubj:pass"]
    return words["nsubj"], words["obj"]


@SIZES
def test_paraphrase_labels_follow_from_roles(types):
    for pair in paraphrases(types):
        (one,), (other,) = pair.texts
        same = roles(one) == roles(other)
        assert same or roles(one) == roles(other)[::-1]
        assert pair.label == str(int(same))
