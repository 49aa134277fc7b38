"""Random sentence trees, whose words are drawn later, in the order subject, verb, object."""

import random
from typing import TypeVar

from calque.derive.pocket import tree
from calque.derive.pocket.lexicon import ACCUSATIVE, NOMINATIVE, POSSESSIVE, WORDS
from calque.derive.pocket.tree import FRIEND, HERO, THING, TOPIC, Node, Pick, adposition

T = TypeVar("T")

SINGULARS = {"the": 50, "a": 34, "pointer": 16}  # determiners, or roles of determiners
PLURALS = {"the": 34, "": 32, "plural_pointer": 34}
RECURRING = {"person": tree.PERSON, "animate": tree.ANIMATE, "thing": tree.THING, "place": tree.PLACE}
ORGANISATIONS = {tree.BRAND: 4, tree.FIRM: 5, tree.COLLEGE: 2}
LOCATIONS = {tree.TOWN: 13, tree.SITE: 7}
LENGTHS = {tree.BRAND: 1, tree.FIRM: 2, tree.COLLEGE: 3, tree.TOWN: 1, tree.SITE: 2}

# A paragraph uses one of these groups of tenses.
PAST = {"past": 1}
PRESENT = {"present": 27, "modal": 13, "perfect": 5}
FRAMES = {
    "intr": 16, "tr": 25, "soc": 13, "ditr": 8, "go": 6, "hire": 7, "passive": 8, "quality": 8, "kind": 3,
    "there": 4, "say": 4, "want": 4,
}  # fmt: skip
QUESTIONS = {"intr": 4, "tr": 6, "soc": 3, "ditr": 1, "quality": 3, "who": 4, "what": 4, "where": 3}
INNER = {"intr": 2, "tr": 3, "soc": 1, "go": 1}
Subject = tuple[Node, Pick, bool]  # a subject, the pick used to draw its verb, and whether it is plural


class SentenceGrammar:
    """Generates trees in the given tenses (relative clauses: the first); `nested` phrases are simple."""

    def __init__(self, rng: random.Random, tenses: dict[str, int]) -> None:
        self._rng = rng
        self._tenses = tenses
        self._named: set[Pick] = set()  # the cast members that the sentence already mentions

    def sentence(self) -> Node:
        self._named.clear()
        if self.chance(0.1):
            return self._question().add(tree.mark("?"))
        root = self._clause()
        if self.chance(0.08):
            second = self._clause(nested=True)
            root = tree.coordinate(root, second, self.among({"and": 3, "but": 2, "or": 1}))
        elif self.chance(0.11):
            conjunction = self.among({"when": 3, "because": 3, "if": 2, "after": 1, "before": 1})
            clause = self._clause(nested=True)
            root.add(tree.subordinate(clause, "advcl", conjunction, first=self.chance(0.4)))
        return root.add(tree.mark("."))

    def _clause(self, nested: bool = False, question: bool = False, frame: str = "") -> Node:
        frame = frame or self.among(FRAMES)
        tense = self.among(self._tenses)
        negative = self.chance(0.13)
        if frame == "there":
            return self._existential(tense, negative)
        if frame == "kind":
            return self._kind(tense, negative)
        if frame == "quality":
            return self._quality(tense, negative, question)
        if frame == "passive":
            return self._passive(tense, negative, nested)
        if frame == "hire":
            subject, source, plural = self.employer()
        else:
            subject, source, plural = self.subject(frame in ("ditr", "go", "say", "want"), nested)
        recurs = frame == "tr" and self.chance(0.2)
        verb = Pick(THING, "passive") if recurs else Pick(source, frame)
        root = tree.verb(verb, tense, plural, negative, question).add(subject)
        if recurs:
            root.add(self.noun(THING, "obj", nested=nested, determiner="the"))
        else:
            root.add(*self.objects(verb, nested))
        if frame == "say":
            inner = self.among({"intr": 2, "tr": 3, "soc": 1, "quality": 2})
            return root.add(tree.subordinate(self._clause(True, frame=inner), "ccomp", "that"))
        if frame == "want":
            return root.add(self._infinitive(source))
        plain = tense in ("past", "present") and not (question or negative or nested)
        if frame == "intr" and plain and self.chance(0.15):
            tree.coordinate(root, tree.verb(Pick(verb, "intr"), tense, plural), "and")
        self._adjuncts(root, verb, nested, sparse=frame == "intr" and not nested)
        return root

    def _infinitive(self, source: Pick) -> Node:
        verb = Pick(source, self.among(INNER))
        node = Node(verb, "VERB", "xcomp", [Node("to", "PART", "mark")])
        node.add(*self.objects(verb, True))
        if self.chance(0.9 if verb.role == "intr" else 0.4):
            node.add(self.phrase(verb, "obl"))
        return node

    def _adjuncts(self, root: Node, verb: Pick, nested: bool, sparse: bool) -> None:
        if self.chance(0.12):
            root.add(tree.adverb(Pick(verb, "freq"), "often"))
        manner = self.chance(0.4 if sparse else 0.2)
        if manner:
            root.add(tree.adverb(Pick(verb, "manner")))
        if self.chance(0.9 if sparse else 0.3 if nested else 0.5):
            adjunct = self.phrase(verb, "obl")
            root.add(tree.fronted(adjunct) if not nested and self.chance(0.15) else adjunct)
        elif self.chance(0.15) and not manner:
            root.add(tree.adverb(self.among(WORDS["prepositions"]["particles"])))

    def _passive(self, tense: str, negative: bool, nested: bool) -> Node:
        kind = self.among({"thing": 3, "animate": 1})
        subject, pick, plural = self.topical(kind, "nsubj:pass", nested)
        tense = "present" if tense == "perfect" else tense
        verb = Pick(pick, "passive")
        root = tree.verb(verb, tense, plural, negative, passive=True).add(subject)
        if self.chance(0.2):
            root.add(tree.adverb(Pick(verb, "manner")))
        agent = self.chance(0.5)
        if agent:
            root.add(adposition(self.someone(verb, "subject", "obl:agent", True), "by"))
        if self.chance(0.3 if agent else 0.95):
            root.add(self.phrase(verb, "obl"))
        return root

    def _kind(self, tense: str, negative: bool) -> Node:
        pick, plural = Pick(TOPIC, "hyponym"), self.chance(0.3)
        article, points = "" if plural else "a", self.chance(0.4)
        predicate = pick if points else Pick(pick, "hypernym")
        root = self.noun(predicate, "root", plural, False, article, rich=True)
        if points:
            words = {"these": 1, "those": 1} if plural else {"this": 1, "that": 1}
            subject = tree.pronoun(self.among(words), "nsubj")
        else:
            article = article and self.among({"a": 3, "the": 1, "every": 1})
            subject = tree.noun(pick, "nsubj", plural, article)
        return tree.copular(root, tense, plural, negative).add(subject)

    def _quality(self, tense: str, negative: bool, question: bool) -> Node:
        kind = self.among({"thing": 4, "person": 3, "place": 2})
        subject, pick, plural = self.topical(kind, "nsubj", False)
        quality = Pick(pick, "adj")
        root = tree.copular(tree.adjective(quality, "root"), tense, plural, negative, question).add(subject)
        if self.chance(0.2):
            root.add(tree.adverb(self.among({"very": 1, "too": 1}), "degree"))
        elif not question and self.chance(0.4):
            companion = tree.adjective(Pick(quality, "companion"))
            tree.coordinate(root, companion, self.among({"and": 2, "but": 1}))
        if self.chance(0.85):
            root.add(self.phrase(pick, "obl"))
        return root

    def _existential(self, tense: str, negative: bool) -> Node:
        kind, plural = self.among({"thing": 2, "animate": 1}), self.chance(0.4)
        pick = Pick(TOPIC, kind)
        determiner = "no" if negative else self.among({"some": 2, "many": 1}) if plural else "a"
        noun = self.noun(pick, "nsubj", plural, determiner=determiner)
        noun.place = "there"
        root = Node(tree.be(tense, plural), "VERB", "root")
        return root.add(tree.pronoun("there", "expl"), noun, self.phrase(pick, "obl"))

    def _question(self) -> Node:
        frame = self.among(QUESTIONS)
        if frame not in ("who", "what", "where"):
            return self._clause(question=True, frame=frame)
        tense = self.among(self._tenses)
        if frame == "who":
            verb = Pick(TOPIC, self.among(INNER))
            root = tree.verb(verb, tense).add(tree.pronoun("who", "nsubj", "wh"))
        else:
            subject, source, plural = self.subject(False, True)
            verb = Pick(source, "tr" if frame == "what" else self.among({"tr": 1, "intr": 1}))
            root = tree.verb(verb, tense, plural, question=True).add(subject)
        if frame == "what":
            root.add(tree.pronoun("what", "obj", "wh"))
        else:
            root.add(*self.objects(verb, True))
        if frame == "where":
            root.add(tree.adverb("where", "wh"))
        self._adjuncts(root, verb, True, sparse=True)
        return root

    def chance(self, probability: float) -> bool:
        return self._rng.random() < probability

    def among(self, weights: dict[T, int]) -> T:
        return self._rng.choices(list(weights), list(weights.values()))[0]

    def subject(self, human: bool, nested: bool) -> Subject:
        kind = self.among({"name": 29, "pronoun": 12, "noun": 49, "pair": 6, "they": 4})
        person = HERO if self.chance(0.7) else FRIEND
        if kind == "name" and self._first_mention(person):
            return self._person(person, "nsubj"), person, False
        if kind in ("name", "pronoun"):
            return tree.pronoun(person, "nsubj", form=NOMINATIVE), person, False
        if kind == "they":
            return tree.pronoun("they", "nsubj"), person, True
        if kind == "pair" and not self._named and self.chance(0.5):
            self._named.update((HERO, FRIEND))
            first, second = tree.person(HERO, "nsubj"), tree.person(FRIEND, "conj")
            return tree.coordinate(first, second, "and"), person, True
        role = "person" if human or self.chance(0.6) else "animate"
        noun, pick, plural = self.topical(role, "nsubj", nested)
        if kind == "pair":
            companion = tree.noun(Pick(pick, "companion"), "conj", plural, "the")
            return tree.coordinate(noun, companion, "and"), pick, True
        return noun, pick, plural

    def employer(self) -> Subject:
        if self.chance(0.7) and (firm := self._name(ORGANISATIONS, "nsubj")):
            return *firm, False
        pick, plural = Pick(TOPIC, "place"), self.chance(0.3)
        return self.noun(pick, "nsubj", plural), pick, plural

    def topical(self, kind: str, relation: str, nested: bool) -> Subject:
        """Return the paragraph's recurring noun of a kind, or a new one."""
        if self.chance(0.44):
            return self.noun(RECURRING[kind], relation, False, nested, "the", kind), RECURRING[kind], False
        pick, plural = Pick(TOPIC, kind), self.chance(0.3)
        return self.noun(pick, relation, plural, nested, kind=kind), pick, plural

    def thing(self, verb: Pick, nested: bool) -> Node:
        if self.chance(0.1):
            return tree.pronoun(self.among({"it": 4, "this": 2, "that": 2, "these": 1, "those": 1}), "obj")
        return self.noun(Pick(verb, "object"), "obj", self.chance(0.36), nested)

    def someone(self, verb: Pick, role: str, relation: str, nested: bool) -> Node:
        kind = self.among({"noun": 58, "name": 30, "pronoun": 9, "them": 3})
        if kind == "name" and self._first_mention(FRIEND):
            return self._person(FRIEND, relation)
        if kind == "them":
            return tree.pronoun("them", relation)
        if kind == "pronoun":
            return tree.pronoun(FRIEND, relation, form=ACCUSATIVE)
        return self.noun(Pick(verb, role), relation, self.chance(0.3), nested, kind="animate")

    def objects(self, verb: Pick, nested: bool) -> list[Node]:
        if verb.role == "tr":
            return [self.thing(verb, nested)]
        if verb.role == "go":
            if self.chance(0.5) and self._first_mention(tree.ELSEWHERE):
                return [tree.name(tree.ELSEWHERE, "obj", "LOC")]
            return [self.noun(Pick(verb, "object"), "obj", self.chance(0.2), nested, kind="place")]
        if verb.role in ("soc", "hire"):
            return [self.someone(verb, "object", "obj", nested)]
        if verb.role == "ditr":
            if self.chance(0.6):
                return [self.someone(verb, "recipient", "iobj", True), self.thing(verb, True)]
            return [self.thing(verb, True), adposition(self.someone(verb, "recipient", "obl", True), "to")]
        return []

    def noun(
        self,
        pick: Pick,
        relation: str,
        plural: bool = False,
        nested: bool = True,
        determiner: str = "",
        kind: str = "thing",
        rich: bool = False,
    ) -> Node:
        """Build a noun with its dependents, among them a phrase or a relative clause if `rich`."""
        node = tree.noun(pick, relation, plural, determiner)
        if not determiner:
            self._determine(node, pick, plural)
        if self.chance(0.5 if rich else 0.44):
            adjective = tree.adjective(Pick(pick, "attribute"))
            if self.chance(0.1):
                adjective.add(tree.adverb("very", "degree"))
            node.add(adjective)
        if not nested and self.chance(0.3 if rich else 0.14):
            node.add(self.phrase(pick, "nmod"))
        elif not nested and kind != "place" and (rich or self.chance(0.1)):
            node.add(self._relative(pick, kind, plural))
        elif not nested and relation == "obj" and kind == "thing" and self.chance(0.08):
            companion = tree.noun(Pick(pick, "companion"), "conj", self.chance(0.5), "the")
            tree.coordinate(node, companion, self.among({"and": 3, "or": 1}))
        return node

    def phrase(self, head: Pick, relation: str) -> Node:
        """Build a prepositional phrase with a noun that the head prefers, or a name."""
        if self.chance(0.22) and (location := self._name(LOCATIONS, relation)):
            return adposition(location[0], self.among({"in": 4, "near": 2, "from": 2}))
        if self.chance(0.11) and (firm := self._name(ORGANISATIONS, relation)):
            return adposition(firm[0], self.among({"for": 3, "at": 1}))
        if self.chance(0.07) and self._first_mention(FRIEND):
            return adposition(self._person(FRIEND, relation), self.among({"with": 3, "about": 1, "like": 1}))
        preposition = Pick(head, "locative" if self.chance(0.6) else "oblique")
        noun = self.noun(Pick(preposition, "noun"), relation, self.chance(0.15))
        return adposition(noun, preposition)

    def _first_mention(self, pick: Pick) -> bool:
        new = pick not in self._named
        self._named.add(pick)
        return new

    def _person(self, pick: Pick, relation: str) -> Node:
        return tree.person(pick, relation, self.among({1: 55, 2: 36, 3: 9}))

    def _name(self, picks: dict[Pick, int], relation: str) -> tuple[Node, Pick] | None:
        pick = self.among(picks)
        label = "LOC" if pick in LOCATIONS else "ORG"
        return (tree.name(pick, relation, label, LENGTHS[pick]), pick) if self._first_mention(pick) else None

    def _determine(self, node: Node, pick: Pick, plural: bool) -> None:
        if plural and self.chance(0.25):
            node.add(Node(Pick(pick, "number"), "NUM", "nummod"))
        elif self.chance(0.09):
            node.add(self._possessor())
        elif determiner := self.among(PLURALS if plural else SINGULARS):
            is_role = determiner.endswith("pointer")
            node.add(Node(Pick(pick, determiner) if is_role else determiner, "DET", "det"))

    def _possessor(self) -> Node:
        if self.chance(0.5) or not self._first_mention(HERO):
            return tree.pronoun(HERO, "nmod:poss", form=POSSESSIVE)
        owner = tree.person(HERO, "nmod:poss")
        owner.place = "owner"
        return owner.add(Node("'s", "PART", "case", place="clitic"))

    def _relative(self, pick: Pick, kind: str, plural: bool) -> Node:
        tense = next(iter(self._tenses))
        if kind == "thing" or self.chance(0.35):
            verb = Pick(pick, "passive")
            if self.chance(0.5) and self._first_mention(HERO):
                subject = tree.person(HERO, "nsubj")
            else:
                subject = tree.noun(Pick(verb, "subject"), "nsubj", False, "the")
            node = tree.verb(verb, tense).add(subject, tree.pronoun("that", "obj", "wh"))
        else:
            verb = Pick(pick, self.among({"intr": 2, "tr": 3, "soc": 1}))
            node = tree.verb(verb, tense, plural, negative=self.chance(0.1))
            who = "who" if kind == "person" and self.chance(0.7) else "that"
            node.add(tree.pronoun(who, "nsubj", "wh"), *self.objects(verb, True))
        node.relation = "acl:relcl"
        return node
