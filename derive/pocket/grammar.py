"""Random sentence trees. Their words are drawn later by selectional preference, in the order subject, verb,
object."""

import random
from typing import TypeVar

from calque.derive.pocket import phrase
from calque.derive.pocket import tree as cast
from calque.derive.pocket.lexicon import ACCUSATIVE, NOMINATIVE, POSSESSIVE, WORDS
from calque.derive.pocket.phrase import adposition
from calque.derive.pocket.preferences import Role
from calque.derive.pocket.tree import FRIEND, HERO, THING, TOPIC, Node, Pick

T = TypeVar("T")

SINGULARS: dict[Role | str, int] = {"the": 50, "a": 34, Role.POINTER: 16}
PLURALS: dict[Role | str, int] = {"the": 34, "": 32, Role.PLURAL_POINTER: 34}
RECURRING = {
    Role.PERSON: cast.PERSON,
    Role.ANIMATE: cast.ANIMATE,
    Role.THING: cast.THING,
    Role.PLACE: cast.PLACE,
}
ORGANISATIONS = {cast.BRAND: 4, cast.FIRM: 5, cast.COLLEGE: 2}
LOCATIONS = {cast.TOWN: 13, cast.SITE: 7}
NAMES = {
    cast.BRAND: (phrase.simple_name, "ORG"),
    cast.FIRM: (phrase.compound_name, "ORG"),
    cast.COLLEGE: (phrase.long_name, "ORG"),
    cast.TOWN: (phrase.simple_name, "LOC"),
    cast.SITE: (phrase.compound_name, "LOC"),
}

# All sentences in a paragraph use the same group of tenses.
PAST = {"past": 1}
PRESENT = {"present": 27, "modal": 13, "perfect": 5}
FRAMES = {
    "intr": 16, "tr": 25, "soc": 13, "ditr": 8, "go": 6, "hire": 7, "passive": 8, "quality": 8, "kind": 3,
    "there": 4, "say": 4, "want": 4,
}  # fmt: skip
QUESTIONS = {"intr": 4, "tr": 6, "soc": 3, "ditr": 1, "quality": 3, "who": 4, "what": 4, "where": 3}
INNER = {Role.INTR: 2, Role.TR: 3, Role.SOC: 1, Role.GO: 1}


class SentenceGrammar:
    """Generates trees in the given tenses; relative clauses use the first one. `nested` phrases contain no
    further phrases."""

    def __init__(self, rng: random.Random, tenses: dict[str, int]) -> None:
        self._rng = rng
        self._tenses = tenses
        self._named: set[Pick] = set()  # cast members already mentioned in the sentence

    def sentence(self) -> Node:
        """Return a random statement or question."""
        self._named.clear()
        if self.chance(0.1):
            return self._question().add(Node("?", "PUNCT", "punct"))
        root = self._clause()
        if self.chance(0.08):
            second = self._clause(nested=True)
            root = phrase.coordinate(root, second, self.among({"and": 3, "but": 2, "or": 1}))
        elif self.chance(0.11):
            mark = self.among({"when": 3, "because": 3, "if": 2, "after": 1, "before": 1})
            clause = self._clause(nested=True)
            root.add(phrase.subordinate(clause, "advcl", mark, first=self.chance(0.4)))
        return root.add(Node(".", "PUNCT", "punct"))

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
        role = Role[frame.upper()]
        if role == Role.HIRE:
            subject, source, plural = self.employer()
        else:
            subject, source, plural = self.subject(frame in ("ditr", "go", "say", "want"), nested)
        recurs = frame == "tr" and self.chance(0.2)
        verb = Pick(THING, Role.PASSIVE) if recurs else Pick(source, role)
        root = phrase.verb(verb, tense, plural, negative, question).add(subject)
        if recurs:
            root.add(self.noun(THING, Role.THING, "obj", False, nested, "the"))
        else:
            root.add(*self.objects(verb, nested))
        if frame == "say":
            inner = self.among({"intr": 2, "tr": 3, "soc": 1, "quality": 2})
            return root.add(phrase.subordinate(self._clause(True, frame=inner), "ccomp", "that"))
        if frame == "want":
            return root.add(self._infinitive(source))
        plain = tense in ("past", "present") and not (question or negative or nested)
        if frame == "intr" and plain and self.chance(0.15):
            phrase.coordinate(root, phrase.verb(Pick(verb, Role.INTR), tense, plural), "and")
        self._adjuncts(root, verb, nested, sparse=frame == "intr" and not nested)
        return root

    def _infinitive(self, source: Pick) -> Node:
        role = self.among(INNER)
        verb = Pick(source, role)
        node = Node(verb.form(0), "VERB", "xcomp", [Node("to", "PART", "mark")])
        node.add(*self.objects(verb, True))
        if self.chance(0.9 if role == Role.INTR else 0.4):
            node.add(self.phrase(verb, "obl"))
        return node

    def _adjuncts(self, root: Node, verb: Pick, nested: bool, sparse: bool) -> None:
        if self.chance(0.12):
            root.add(phrase.adverb(Pick(verb, Role.FREQ), "often"))
        manner = self.chance(0.4 if sparse else 0.2)
        if manner:
            root.add(phrase.adverb(Pick(verb, Role.MANNER)))
        if self.chance(0.9 if sparse else 0.3 if nested else 0.5):
            adjunct = self.phrase(verb, "obl")
            root.add(phrase.fronted(adjunct) if not nested and self.chance(0.15) else adjunct)
        elif self.chance(0.15) and not manner:
            root.add(Node(self.among(WORDS["prepositions"]["particles"]), "ADV", "advmod"))

    def _passive(self, tense: str, negative: bool, nested: bool) -> Node:
        kind = self.among({Role.THING: 3, Role.ANIMATE: 1})
        subject, pick, plural = self.topical(kind, "nsubj:pass", nested)
        tense = "present" if tense == "perfect" else tense
        verb = Pick(pick, Role.PASSIVE)
        root = phrase.verb(verb, tense, plural, negative, passive=True).add(subject)
        if self.chance(0.2):
            root.add(phrase.adverb(Pick(verb, Role.MANNER)))
        agent = self.chance(0.5)
        if agent:
            root.add(adposition(self.someone(verb, Role.SUBJECT, "obl:agent", True), "by"))
        if self.chance(0.3 if agent else 0.95):
            root.add(self.phrase(verb, "obl"))
        return root

    def _kind(self, tense: str, negative: bool) -> Node:
        pick, plural = Pick(TOPIC, Role.HYPONYM), self.chance(0.3)
        article, points = "" if plural else "a", self.chance(0.4)
        predicate = pick if points else Pick(pick, Role.HYPERNYM)
        root = self.noun(predicate, Role.THING, "root", plural, False, article, rich=True)
        if points:
            words = {"these": 1, "those": 1} if plural else {"this": 1, "that": 1}
            subject = phrase.pronoun(self.among(words), "nsubj")
        else:
            article = article and self.among({"a": 3, "the": 1, "every": 1})
            subject = phrase.noun(pick, "nsubj", plural, article)
        return phrase.copular(root, tense, plural, negative).add(subject)

    def _quality(self, tense: str, negative: bool, question: bool) -> Node:
        kind = self.among({Role.THING: 4, Role.PERSON: 3, Role.PLACE: 2})
        subject, pick, plural = self.topical(kind, "nsubj", False)
        quality = Pick(pick, Role.ADJ)
        predicate = phrase.adjective(quality, "root")
        root = phrase.copular(predicate, tense, plural, negative, question).add(subject)
        if self.chance(0.2):
            root.add(Node(self.among({"very": 1, "too": 1}), "ADV", "advmod", place="degree"))
        elif not question and self.chance(0.4):
            other = phrase.adjective(Pick(quality, Role.COMPANION))
            phrase.coordinate(root, other, self.among({"and": 2, "but": 1}))
        if self.chance(0.85):
            root.add(self.phrase(pick, "obl"))
        return root

    def _existential(self, tense: str, negative: bool) -> Node:
        kind, plural = self.among({Role.THING: 2, Role.ANIMATE: 1}), self.chance(0.4)
        pick = Pick(TOPIC, kind)
        determiner = "no" if negative else self.among({"some": 2, "many": 1}) if plural else "a"
        noun = self.noun(pick, kind, "nsubj", plural, True, determiner)
        noun.place = "there"
        root = Node(phrase.be(tense, plural), "VERB", "root")
        return root.add(Node("there", "PRON", "expl"), noun, self.phrase(pick, "obl"))

    def _question(self) -> Node:
        frame = self.among(QUESTIONS)
        if frame not in ("who", "what", "where"):
            return self._clause(question=True, frame=frame)
        tense = self.among(self._tenses)
        if frame == "who":
            role = self.among(INNER)
            verb = Pick(TOPIC, role)
            root = phrase.verb(verb, tense).add(phrase.pronoun("who", "nsubj", "wh"))
            root.add(*self.objects(verb, True))
        else:
            subject, source, plural = self.subject(False, True)
            role = Role.TR if frame == "what" else self.among({Role.TR: 1, Role.INTR: 1})
            verb = Pick(source, role)
            root = phrase.verb(verb, tense, plural, question=True).add(subject)
            if frame == "where":
                root.add(*self.objects(verb, True), Node("where", "ADV", "advmod", place="wh"))
            else:
                root.add(phrase.pronoun("what", "obj", "wh"))
        self._adjuncts(root, verb, True, sparse=True)
        return root

    def chance(self, probability: float) -> bool:
        return self._rng.random() < probability

    def among(self, weights: dict[T, int]) -> T:
        return self._rng.choices(list(weights), list(weights.values()))[0]

    def subject(self, human: bool, nested: bool) -> tuple[Node, Pick, bool]:
        """Return a subject, the pick used to draw its verb, and whether it is plural."""
        kind = self.among({"name": 29, "pronoun": 12, "noun": 49, "pair": 6, "they": 4})
        person = HERO if self.chance(0.7) else FRIEND
        if kind == "name" and self._first_mention(person):
            return self._person(person, "nsubj"), person, False
        if kind in ("name", "pronoun"):
            return phrase.pronoun(person.form(NOMINATIVE), "nsubj"), person, False
        if kind == "they":
            return phrase.pronoun("they", "nsubj"), person, True
        if kind == "pair" and not self._named and self.chance(0.5):
            self._named.update((HERO, FRIEND))
            first, second = phrase.person(HERO, "nsubj", 1), phrase.person(FRIEND, "conj", 1)
            return phrase.coordinate(first, second, "and"), person, True
        role = Role.PERSON if human or self.chance(0.6) else Role.ANIMATE
        noun, pick, plural = self.topical(role, "nsubj", nested)
        if kind == "pair":
            other = phrase.noun(Pick(pick, Role.COMPANION), "conj", plural, "the")
            return phrase.coordinate(noun, other, "and"), pick, True
        return noun, pick, plural

    def employer(self) -> tuple[Node, Pick, bool]:
        """Like `subject`, for hiring verbs: an organisation or a place."""
        if self.chance(0.7) and (firm := self._name(ORGANISATIONS, "nsubj")):
            return *firm, False
        pick, plural = Pick(TOPIC, Role.PLACE), self.chance(0.3)
        return self.noun(pick, Role.PLACE, "nsubj", plural, True), pick, plural

    def topical(self, kind: Role, relation: str, nested: bool) -> tuple[Node, Pick, bool]:
        """Like `subject`, with a noun of the given kind: the paragraph's recurring one or a new one."""
        if self.chance(0.44):
            return self.noun(RECURRING[kind], kind, relation, False, nested, "the"), RECURRING[kind], False
        pick, plural = Pick(TOPIC, kind), self.chance(0.3)
        return self.noun(pick, kind, relation, plural, nested), pick, plural

    def thing(self, verb: Pick, nested: bool) -> Node:
        if self.chance(0.1):
            return phrase.pronoun(self.among({"it": 4, "this": 2, "that": 2, "these": 1, "those": 1}), "obj")
        return self.noun(Pick(verb, Role.OBJECT), Role.THING, "obj", self.chance(0.36), nested)

    def someone(self, verb: Pick, role: Role, relation: str, nested: bool) -> Node:
        kind = self.among({"noun": 58, "name": 30, "pronoun": 9, "them": 3})
        if kind == "name" and self._first_mention(FRIEND):
            return self._person(FRIEND, relation)
        if kind in ("pronoun", "them"):
            return phrase.pronoun("them" if kind == "them" else FRIEND.form(ACCUSATIVE), relation)
        return self.noun(Pick(verb, role), Role.ANIMATE, relation, self.chance(0.3), nested)

    def objects(self, verb: Pick, nested: bool) -> list[Node]:
        if verb.role == Role.TR:
            return [self.thing(verb, nested)]
        if verb.role == Role.GO:
            if self.chance(0.5) and self._first_mention(cast.ELSEWHERE):
                return [phrase.simple_name(cast.ELSEWHERE, "obj", "LOC")]
            return [self.noun(Pick(verb, Role.OBJECT), Role.PLACE, "obj", self.chance(0.2), nested)]
        if verb.role in (Role.SOC, Role.HIRE):
            return [self.someone(verb, Role.OBJECT, "obj", nested)]
        if verb.role == Role.DITR:
            if self.chance(0.6):
                return [self.someone(verb, Role.RECIPIENT, "iobj", True), self.thing(verb, True)]
            return [self.thing(verb, True), adposition(self.someone(verb, Role.RECIPIENT, "obl", True), "to")]
        return []

    def noun(
        self,
        pick: Pick,
        kind: Role,
        relation: str,
        plural: bool,
        nested: bool,
        determiner: str = "",
        rich: bool = False,
    ) -> Node:
        """Build a common noun with its dependents; if `rich`, these include a prepositional phrase or a
        relative clause."""
        node = phrase.noun(pick, relation, plural, determiner)
        if not determiner:
            self._determine(node, pick, plural)
        if self.chance(0.5 if rich else 0.44):
            adjective = phrase.adjective(Pick(pick, Role.ATTRIBUTE))
            if self.chance(0.1):
                adjective.add(Node("very", "ADV", "advmod", place="degree"))
            node.add(adjective)
        if not nested and self.chance(0.3 if rich else 0.14):
            node.add(self.phrase(pick, "nmod"))
        elif not nested and kind != Role.PLACE and (rich or self.chance(0.1)):
            relative = self._relative(pick, kind, plural)
            relative.relation = "acl:relcl"
            node.add(relative)
        elif not nested and relation == "obj" and kind == Role.THING and self.chance(0.08):
            other = phrase.noun(Pick(pick, Role.COMPANION), "conj", self.chance(0.5), "the")
            phrase.coordinate(node, other, self.among({"and": 3, "or": 1}))
        return node

    def phrase(self, head: Pick, relation: str) -> Node:
        """Build a prepositional phrase: one that the head prefers, or a name whose kind the preposition
        reveals."""
        if self.chance(0.22) and (location := self._name(LOCATIONS, relation)):
            return adposition(location[0], self.among({"in": 4, "near": 2, "from": 2}))
        if self.chance(0.11) and (firm := self._name(ORGANISATIONS, relation)):
            return adposition(firm[0], self.among({"for": 3, "at": 1}))
        if self.chance(0.07) and self._first_mention(FRIEND):
            return adposition(self._person(FRIEND, relation), self.among({"with": 3, "about": 1, "like": 1}))
        role, kind = (Role.LOCATIVE, Role.PLACE) if self.chance(0.6) else (Role.OBLIQUE, Role.THING)
        preposition = Pick(head, role)
        noun = self.noun(Pick(preposition, Role.NOUN), kind, relation, self.chance(0.15), True)
        return adposition(noun, preposition.form(0))

    def _first_mention(self, pick: Pick) -> bool:
        new = pick not in self._named
        self._named.add(pick)
        return new

    def _person(self, pick: Pick, relation: str) -> Node:
        return phrase.person(pick, relation, self.among({1: 55, 2: 36, 3: 9}))

    def _name(self, picks: dict[Pick, int], relation: str) -> tuple[Node, Pick] | None:
        pick = self.among(picks)
        form, label = NAMES[pick]
        return (form(pick, relation, label), pick) if self._first_mention(pick) else None

    def _determine(self, node: Node, pick: Pick, plural: bool) -> None:
        if plural and self.chance(0.25):
            node.add(Node(Pick(pick, Role.NUMBER).form(0), "NUM", "nummod"))
        elif self.chance(0.09):
            node.add(self._possessor())
        elif determiner := self.among(PLURALS if plural else SINGULARS):
            word = determiner if isinstance(determiner, str) else Pick(pick, determiner).form(0)
            node.add(Node(word, "DET", "det"))

    def _possessor(self) -> Node:
        if self.chance(0.5) or not self._first_mention(HERO):
            return phrase.pronoun(HERO.form(POSSESSIVE), "nmod:poss")
        owner = phrase.person(HERO, "nmod:poss", 1)
        owner.place = "owner"
        return owner.add(Node("'s", "PART", "case", place="clitic"))

    def _relative(self, pick: Pick, kind: Role, plural: bool) -> Node:
        if kind == Role.THING or self.chance(0.35):
            verb = Pick(pick, Role.PASSIVE)
            if self.chance(0.5) and self._first_mention(HERO):
                subject = phrase.person(HERO, "nsubj", 1)
            else:
                subject = phrase.noun(Pick(verb, Role.SUBJECT), "nsubj", False, "the")
            node = phrase.verb(verb, next(iter(self._tenses)))
            return node.add(subject, phrase.pronoun("that", "obj", "wh"))
        frame = self.among({Role.INTR: 2, Role.TR: 3, Role.SOC: 1})
        verb = Pick(pick, frame)
        node = phrase.verb(verb, next(iter(self._tenses)), plural, negative=self.chance(0.1))
        node.add(phrase.pronoun("who" if kind == Role.PERSON and self.chance(0.7) else "that", "nsubj", "wh"))
        return node.add(*self.objects(verb, True))
