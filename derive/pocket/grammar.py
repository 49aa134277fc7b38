"""The grammar: random sentence trees whose content words are still to be drawn.

Every choice made here (frame, number, tense, determiners, what hangs on what) is part of a shape; the words
that fill it are drawn from one another's preferences, subject before verb before object.
"""

from __future__ import annotations

import random

from derive.pocket import phrase
from derive.pocket.nominal import Nominals
from derive.pocket.phrase import adposition
from derive.pocket.preferences import Role
from derive.pocket.tree import THING, TOPIC, Node, Pick
from derive.pocket.words import WORDS

# Neighbouring sentences share their time: they tell what was, or what is.
PAST = {"past": 1}
PRESENT = {"present": 27, "modal": 13, "perfect": 5}
FRAMES = {
    "intr": 16, "tr": 25, "soc": 13, "ditr": 8, "go": 6, "hire": 7, "passive": 8, "quality": 8, "kind": 3, "there": 4,
    "say": 4, "want": 4,
}  # fmt: skip
QUESTIONS = {"intr": 4, "tr": 6, "soc": 3, "ditr": 1, "quality": 3, "who": 4, "what": 4, "where": 3}
INNER = {Role.INTR: 2, Role.TR: 3, Role.SOC: 1, Role.GO: 1}


class SentenceGrammar(Nominals):
    """Draws trees with `rng`, in the given tenses (PAST or PRESENT).

    A clause of depth 0 may have much under it, one of depth 1 is plain.
    """

    def __init__(self, rng: random.Random, tenses: dict[str, int]) -> None:
        super().__init__(rng, next(iter(tenses)))
        self._tenses = tenses

    def sentence(self) -> Node:
        """A whole sentence with its final mark."""
        self._named.clear()
        if self.chance(0.1):
            return self._question().add(Node("?", "PUNCT", "punct"))
        root = self._clause("root")
        if self.chance(0.08):
            root = phrase.coordinate(root, self._clause("conj", 1), self.among({"and": 3, "but": 2, "or": 1}))
        elif self.chance(0.11):
            mark = self.among({"when": 3, "because": 3, "if": 2, "after": 1, "before": 1})
            root.add(phrase.subordinate(self._clause("advcl", 1), "advcl", mark, first=self.chance(0.4)))
        return root.add(Node(".", "PUNCT", "punct"))

    def _clause(self, relation: str, depth: int = 0, question: bool = False, frame: str = "") -> Node:
        """A finite clause."""
        frame = frame or self.among(FRAMES)
        tense = self.among(self._tenses)
        negative = self.chance(0.13)
        if frame == "there":
            return self._existential(relation, tense, negative)
        if frame == "kind":
            return self._kind(relation, tense, negative)
        if frame == "quality":
            return self._quality(relation, tense, negative, question)
        if frame == "passive":
            return self._passive(relation, tense, negative, depth)
        role = Role[frame.upper()]
        if role == Role.HIRE:
            subject, source, plural = self.employer()
        else:
            subject, source, plural = self.subject(frame in ("ditr", "go", "say", "want"), depth)
        recurs = frame == "tr" and self.chance(0.2)
        verb = Pick(THING, Role.PASSIVE) if recurs else Pick(source, role)
        root = phrase.verb(verb, tense, plural, negative, question).add(subject)
        root.relation = relation
        if recurs:
            root.add(self.noun(THING, Role.THING, "obj", False, depth, "the"))
        else:
            root.add(*self.objects(verb, role, depth))
        if frame == "say":
            clause = self._clause("ccomp", 1, frame=self.among({"intr": 2, "tr": 3, "soc": 1, "quality": 2}))
            return root.add(phrase.subordinate(clause, "ccomp", "that"))
        if frame == "want":
            return root.add(self._infinitive(source))
        plain = tense in ("past", "present") and not (question or negative or depth)
        if frame == "intr" and plain and self.chance(0.15):
            phrase.coordinate(root, phrase.verb(Pick(verb, Role.INTR), tense, plural), "and")
        self._adjuncts(root, verb, depth, sparse=frame == "intr" and not depth)
        return root

    def _infinitive(self, source: Pick) -> Node:
        role = self.among(INNER)
        verb = Pick(source, role)
        node = Node(verb.form(0), "VERB", "xcomp", [Node("to", "PART", "mark")])
        node.add(*self.objects(verb, role, 1))
        if self.chance(0.9 if role == Role.INTR else 0.4):
            node.add(self.phrase(verb, "obl"))
        return node

    def _adjuncts(self, root: Node, verb: Pick, depth: int, sparse: bool = False) -> None:
        """How, how often, where, with what: a clause that says little else has more of them."""
        if self.chance(0.12):
            root.add(phrase.adverb(Pick(verb, Role.FREQ), "often"))
        manner = self.chance(0.4 if sparse else 0.2)
        if manner:
            root.add(phrase.adverb(Pick(verb, Role.MANNER)))
        if self.chance(0.9 if sparse else 0.3 if depth else 0.5):
            adjunct = self.phrase(verb, "obl")
            front = not depth and root.relation == "root" and self.chance(0.15)
            root.add(phrase.fronted(adjunct) if front else adjunct)
        elif self.chance(0.15) and not manner:
            root.add(Node(self.among(WORDS["prepositions"]["particles"]), "ADV", "advmod"))

    def _passive(self, relation: str, tense: str, negative: bool, depth: int) -> Node:
        kind = self.among({Role.THING: 3, Role.ANIMATE: 1})
        subject, pick, plural = self.topical(kind, "nsubj:pass", depth)
        tense = "present" if tense == "perfect" else tense
        verb = Pick(pick, Role.PASSIVE)
        root = phrase.verb(verb, tense, plural, negative, passive=True).add(subject)
        root.relation = relation
        if self.chance(0.2):
            root.add(phrase.adverb(Pick(verb, Role.MANNER)))
        agent = self.chance(0.5)
        if agent:
            root.add(adposition(self.someone(verb, Role.SUBJECT, "obl:agent", 1), "by"))
        if self.chance(0.3 if agent else 0.95):
            root.add(self.phrase(verb, "obl"))
        return root

    def _kind(self, relation: str, tense: str, negative: bool) -> Node:
        """A horse is an animal that the farmer feeds; this is a horse."""
        pick, plural = Pick(TOPIC, Role.HYPONYM), self.chance(0.3)
        article, points = "" if plural else "a", self.chance(0.4)
        predicate = pick if points else Pick(pick, Role.HYPERNYM)
        root = self.noun(predicate, Role.THING, relation, plural, 0, article, rich=True)
        if points:
            subject = phrase.pronoun(
                self.among({"these": 1, "those": 1} if plural else {"this": 1, "that": 1}), "nsubj"
            )
        else:
            article = article and self.among({"a": 3, "the": 1, "every": 1})
            subject = phrase.noun(pick, "nsubj", plural, article)
        return phrase.copular(root, tense, plural, negative).add(subject)

    def _quality(self, relation: str, tense: str, negative: bool, question: bool) -> Node:
        """The old horse is weak."""
        kind = self.among({Role.THING: 4, Role.PERSON: 3, Role.PLACE: 2})
        subject, pick, plural = self.topical(kind, "nsubj", 0)
        quality = Pick(pick, Role.ADJ)
        root = phrase.copular(phrase.adjective(quality, relation), tense, plural, negative, question).add(subject)
        if self.chance(0.2):
            root.add(Node(self.among({"very": 1, "too": 1}), "ADV", "advmod", place="degree"))
        elif not question and self.chance(0.4):
            phrase.coordinate(root, phrase.adjective(Pick(quality, Role.COMPANION)), self.among({"and": 2, "but": 1}))
        if self.chance(0.85):
            root.add(self.phrase(pick, "obl"))
        return root

    def _existential(self, relation: str, tense: str, negative: bool) -> Node:
        """There is a horse in the field."""
        kind, plural = self.among({Role.THING: 2, Role.ANIMATE: 1}), self.chance(0.4)
        pick = Pick(TOPIC, kind)
        determiner = "no" if negative else self.among({"some": 2, "many": 1}) if plural else "a"
        noun = self.noun(pick, kind, "nsubj", plural, 1, determiner)
        noun.place = "there"
        root = Node(phrase.be(tense, plural), "VERB", relation)
        return root.add(Node("there", "PRON", "expl"), noun, self.phrase(pick, "obl"))

    def _question(self) -> Node:
        frame = self.among(QUESTIONS)
        if frame not in ("who", "what", "where"):
            return self._clause("root", 0, question=True, frame=frame)
        tense = self.among(self._tenses)
        if frame == "who":
            role = self.among(INNER)
            verb = Pick(TOPIC, role)
            root = phrase.verb(verb, tense).add(phrase.pronoun("who", "nsubj", "wh"), *self.objects(verb, role, 1))
        else:
            subject, source, plural = self.subject(False, 1)
            role = Role.TR if frame == "what" else self.among({Role.TR: 1, Role.INTR: 1})
            verb = Pick(source, role)
            root = phrase.verb(verb, tense, plural, question=True).add(subject)
            if frame == "where":
                root.add(*self.objects(verb, role, 1), Node("where", "ADV", "advmod", place="wh"))
            else:
                root.add(phrase.pronoun("what", "obj", "wh"))
        self._adjuncts(root, verb, 1, sparse=True)
        return root
