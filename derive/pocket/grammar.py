"""The grammar: random sentence trees whose content words are still to be drawn.

Every choice made here (frame, number, tense, determiners, what hangs on what) is part of a shape; the words
that fill it are drawn from one another's preferences, subject before verb before object.
"""

from __future__ import annotations

import random
from typing import TypeVar

from derive.pocket import phrase
from derive.pocket.names import ACCUSATIVE, NOMINATIVE, POSSESSIVE
from derive.pocket.phrase import adposition
from derive.pocket.preferences import Role
from derive.pocket.tree import Node, Pick

T = TypeVar("T")

# A paragraph's cast, drawn once for its topic: what its sentences have in common.
TOPIC, HERO, FRIEND, TOWN, SITE, BRAND, FIRM, COLLEGE, PERSON, ANIMATE, THING, PLACE = range(12)
CAST_ROLES = (
    Role.NAME, Role.NAME, Role.TOWN, Role.SITE, Role.BRAND, Role.FIRM, Role.COLLEGE,
    Role.PERSON, Role.ANIMATE, Role.THING, Role.PLACE,
)  # fmt: skip

SINGULARS = {"the": 50, "a": 34, "this": 5, "that": 4, "every": 4, "no": 3}
PLURALS = {"the": 34, "": 32, "these": 7, "those": 5, "some": 11, "many": 11}
TENSES = {"past": 54, "present": 26, "perfect": 5, "can": 6, "will": 6, "must": 3}
FRAMES = {
    "intr": 18, "tr": 25, "soc": 13, "ditr": 9, "passive": 9, "quality": 11, "kind": 4, "there": 5, "say": 4, "want": 4,
}  # fmt: skip
ASKED = {"intr": 4, "tr": 6, "soc": 3, "ditr": 1, "quality": 3, "who": 4, "what": 4, "where": 3}
VERBS = {"intr": Role.INTR, "tr": Role.TR, "soc": Role.SOC, "ditr": Role.DITR, "say": Role.SAY, "want": Role.WANT}


class Grammar:
    """Draws trees; `rng` is all its state."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._named: set[Pick] = set()

    def sentence(self) -> Node:
        """A whole sentence with its final mark."""
        self._named.clear()
        if self._chance(0.1):
            return self._question().add(Node("?", "PUNCT", "punct"))
        root = self._clause("root")
        if self._chance(0.05):
            root = phrase.coordinate(root, self._clause("conj", 1), self._among({"and": 3, "but": 2, "or": 1}))
        elif self._chance(0.07):
            mark = self._among({"when": 3, "because": 3, "if": 2, "after": 1, "before": 1})
            root.add(phrase.subordinate(self._clause("advcl", 1), "advcl", mark, first=self._chance(0.4)))
        return root.add(Node(".", "PUNCT", "punct"))

    def _chance(self, share: float) -> bool:
        return self._rng.random() < share

    def _among(self, weights: dict[T, int]) -> T:
        return self._rng.choices(list(weights), list(weights.values()))[0]

    def _clause(self, relation: str, depth: int = 0, question: bool = False, frame: str = "") -> Node:
        """A finite clause; below the top it is kept plain."""
        frame = frame or self._among(FRAMES)
        tense = self._among(TENSES)
        negative = self._chance(0.13)
        if frame == "there":
            return self._existential(relation, tense, negative)
        if frame in ("quality", "kind"):
            return self._copular(frame, relation, tense, negative, question)
        if frame == "passive":
            return self._passive(relation, tense, negative, depth)
        subject, source, plural = self._subject(frame in ("ditr", "say", "want"), depth)
        pick = Pick(source, VERBS[frame])
        root = phrase.verb(pick, tense, plural, negative, question, relation=relation)
        root.add(subject)
        self._complements(root, pick, frame, depth)
        self._adjuncts(root, pick, depth, frame in ("say", "want"))
        if frame == "intr" and not question and not negative and depth == 0 and self._chance(0.12):
            other = phrase.verb(Pick(pick, Role.INTR), tense, plural, relation="conj")
            if tense not in phrase.MODALS and tense != "perfect":
                phrase.coordinate(root, other, "and")
        return root

    def _complements(self, root: Node, verb: Pick, frame: str, depth: int) -> None:
        if frame == "tr":
            root.add(self._thing(verb, "obj", depth))
        elif frame == "soc":
            root.add(self._animate(verb, Role.OBJECT, "obj", depth))
        elif frame == "ditr":
            thing = self._thing(verb, "obj", 1)
            if self._chance(0.6):
                root.add(self._animate(verb, Role.RECIPIENT, "iobj", 1), thing)
            else:
                root.add(thing, adposition(self._animate(verb, Role.RECIPIENT, "obl", 1), "to"))
        elif frame == "say":
            clause = self._clause("ccomp", 1, frame=self._among({"intr": 2, "tr": 3, "soc": 1, "quality": 2}))
            root.add(phrase.subordinate(clause, "ccomp", "that"))
        elif frame == "want":
            inner = self._among({"intr": 2, "tr": 3, "soc": 1})
            pick = Pick(HERO_PICK, VERBS[inner])
            infinitive = Node(pick.form(0), "VERB", "xcomp", [Node("to", "PART", "mark")])
            self._complements(infinitive, pick, inner, 1)
            root.add(infinitive)

    def _subject(self, human: bool, depth: int, passive: bool = False) -> tuple[Node, Pick, bool]:
        """A subject, the pick that draws its verb, and whether it is plural."""
        relation = "nsubj:pass" if passive else "nsubj"
        what = self._among({"name": 24, "pronoun": 13, "cast": 20, "noun": 26, "firm": 7, "pair": 6, "they": 4})
        hero = HERO_PICK if self._chance(0.7) else FRIEND_PICK
        if what == "name" and self._first_mention(hero):
            return self._person(hero, relation), hero, False
        if what in ("name", "pronoun"):
            return phrase.pronoun(hero.form(NOMINATIVE), relation), hero, False
        if what == "they":
            return phrase.pronoun("they", relation), hero, True
        if what == "firm" and (firm := self._organisation(relation)):
            return *firm, False
        role = PERSON if human or self._chance(0.6) else ANIMATE
        if what == "pair" and self._chance(0.5) and not self._named:
            self._named.update((HERO_PICK, FRIEND_PICK))
            node = phrase.person(HERO_PICK, relation, 1)
            return phrase.coordinate(node, phrase.person(FRIEND_PICK, "conj", 1), "and"), hero, True
        if what == "cast":
            cast = Pick(None, role)
            return self._noun_phrase(cast, relation, False, depth, determiner="the"), cast, False
        pick = Pick(TOPIC_PICK, Role.PERSON if role == PERSON else Role.ANIMATE)
        plural = self._chance(0.3)
        node = self._noun_phrase(pick, relation, plural, depth, human=role == PERSON)
        if what == "pair":
            other = phrase.noun(Pick(pick, Role.COMPANION), "conj", plural, "the")
            return phrase.coordinate(node, other, "and"), pick, True
        return node, pick, plural

    def _first_mention(self, pick: Pick) -> bool:
        """Whether the sentence has not named this member of the cast yet; no sentence names one twice."""
        if pick in self._named:
            return False
        self._named.add(pick)
        return True

    def _person(self, pick: Pick, relation: str) -> Node:
        return phrase.person(pick, relation, self._among({1: 55, 2: 36, 3: 9}))

    def _organisation(self, relation: str) -> tuple[Node, Pick] | None:
        pick = self._among({BRAND_PICK: 4, FIRM_PICK: 5, COLLEGE_PICK: 2})
        if not self._first_mention(pick):
            return None
        if pick is BRAND_PICK:
            return phrase.simple_name(pick, relation, "ORG"), pick
        return (
            phrase.compound_name(pick, relation, "ORG") if pick is FIRM_PICK else phrase.college(pick, relation)
        ), pick

    def _location(self, relation: str) -> Node | None:
        pick = self._among({TOWN_PICK: 13, SITE_PICK: 7})
        if not self._first_mention(pick):
            return None
        return (phrase.simple_name if pick is TOWN_PICK else phrase.compound_name)(pick, relation, "LOC")

    def _thing(self, verb: Pick, relation: str, depth: int) -> Node:
        if self._chance(0.2):
            return self._noun_phrase(Pick(None, THING), relation, False, depth, determiner="the", what="thing")
        if self._chance(0.06):
            return phrase.pronoun("it", relation)
        return self._noun_phrase(Pick(verb, Role.OBJECT), relation, self._chance(0.36), depth, what="thing")

    def _animate(self, verb: Pick, role: Role, relation: str, depth: int) -> Node:
        what = self._among({"noun": 54, "name": 24, "pronoun": 8, "them": 3, "firm": 11})
        if what == "name" and self._first_mention(FRIEND_PICK):
            return self._person(FRIEND_PICK, relation)
        if what == "pronoun":
            return phrase.pronoun(FRIEND_PICK.form(ACCUSATIVE), relation)
        if what == "them":
            return phrase.pronoun("them", relation)
        if what == "firm" and (firm := self._organisation(relation)):
            return firm[0]
        return self._noun_phrase(Pick(verb, role), relation, self._chance(0.3), depth)

    def _noun_phrase(
        self, pick: Pick, relation: str, plural: bool, depth: int,
        determiner: str = "", human: bool = False, what: str = "animate",
    ) -> Node:  # fmt: skip
        """A common noun with what hangs on it; `what` is animate, thing or place."""
        node = phrase.noun(pick, relation, plural)
        if determiner:
            node.add(Node(determiner, "DET", "det"))
        elif plural and self._chance(0.25):
            node.add(Node(Pick(pick, Role.NUMBER).form(0), "NUM", "nummod"))
        elif self._chance(0.09):
            node.add(self._possessor())
        elif chosen := self._among(PLURALS if plural else SINGULARS):
            node.add(Node(chosen, "DET", "det"))
        if self._chance(0.36):
            adjective = phrase.adjective(Pick(pick, Role.ADJ))
            if self._chance(0.1):
                adjective.add(Node("very", "ADV", "advmod", place="degree"))
            node.add(adjective)
        if depth == 0 and self._chance(0.1):
            node.add(self._phrase(pick, "nmod", 1))
        elif depth == 0 and what != "place" and self._chance(0.1):
            node.add(self._relative(pick, plural, human, what))
        elif depth == 0 and what == "thing" and self._chance(0.06):
            other = phrase.noun(Pick(pick, Role.COMPANION), "conj", self._chance(0.5), "the")
            phrase.coordinate(node, other, self._among({"and": 3, "or": 1}))
        return node

    def _possessor(self) -> Node:
        if self._chance(0.5) or not self._first_mention(HERO_PICK):
            return phrase.pronoun(HERO_PICK.form(POSSESSIVE), "nmod:poss")
        return phrase.person(HERO_PICK, "nmod:poss", 1).add(Node("'s", "PART", "case", place="clitic"))

    def _relative(self, pick: Pick, plural: bool, human: bool, what: str) -> Node:
        tense = self._among({"past": 3, "present": 2})
        if what == "thing" or self._chance(0.35):
            verb = Pick(pick, Role.PASSIVE)
            if self._chance(0.5) and self._first_mention(HERO_PICK):
                subject = phrase.person(HERO_PICK, "nsubj", 1)
            else:
                subject = phrase.noun(Pick(verb, Role.SUBJECT), "nsubj", False, "the")
            node = phrase.verb(verb, tense, relation="acl:relcl")
            return node.add(subject, phrase.pronoun("that", "obj", "wh"))
        frame = self._among({"intr": 2, "tr": 3, "soc": 1})
        verb = Pick(pick, VERBS[frame])
        node = phrase.verb(verb, tense, plural, negative=self._chance(0.1), relation="acl:relcl")
        node.add(phrase.pronoun("who" if human and self._chance(0.7) else "that", "nsubj"))
        self._complements(node, verb, frame, 1)
        return node

    def _phrase(self, head: Pick, relation: str, depth: int) -> Node:
        """A prepositional phrase that its head favours, or a named place or firm."""
        if self._chance(0.22) and (location := self._location(relation)):
            return adposition(location, self._among({"in": 4, "near": 2, "from": 2}))
        if self._chance(0.08) and (firm := self._organisation(relation)):
            return adposition(firm[0], self._among({"for": 2, "at": 2, "from": 1}))
        role, what = (Role.LOCATIVE, "place") if self._chance(0.6) else (Role.OBLIQUE, "thing")
        preposition = Pick(head, role)
        pick = Pick(preposition, Role.NOUN)
        return adposition(self._noun_phrase(pick, relation, self._chance(0.15), depth, what=what), preposition.form(0))

    def _adjuncts(self, root: Node, verb: Pick, depth: int, heavy: bool = False) -> None:
        if self._chance(0.09):
            root.add(phrase.adverb(Pick(verb, Role.FREQ), "often"))
        if heavy:
            return
        if self._chance(0.17):
            root.add(phrase.adverb(Pick(verb, Role.MANNER)))
        if self._chance(0.4 if depth == 0 else 0.2):
            root.add(self._phrase(verb, "obl", 1))
        elif self._chance(0.1):
            root.add(Node("there", "ADV", "advmod"))

    def _passive(self, relation: str, tense: str, negative: bool, depth: int) -> Node:
        role, what = self._among({(THING, "thing"): 3, (ANIMATE, "animate"): 1})
        if self._chance(0.4):
            pick, plural, determiner = Pick(None, role), False, "the"
        else:
            pick, plural, determiner = (
                Pick(TOPIC_PICK, Role.THING if what == "thing" else Role.ANIMATE),
                self._chance(0.3),
                "",
            )
        tense = "past" if tense == "perfect" else tense
        verb = Pick(pick, Role.PASSIVE)
        root = phrase.verb(verb, tense, plural, negative, passive=True, relation=relation)
        root.add(self._noun_phrase(pick, "nsubj:pass", plural, depth, determiner, what=what))
        if self._chance(0.45):
            root.add(adposition(self._animate(verb, Role.SUBJECT, "obl:agent", 1), "by"))
        elif self._chance(0.4):
            root.add(self._phrase(verb, "obl", 1))
        return root

    def _copular(self, frame: str, relation: str, tense: str, negative: bool, question: bool) -> Node:
        tense = "past" if tense == "past" else "present"
        if frame == "kind":
            pick = Pick(TOPIC_PICK, Role.HYPONYM)
            plural = self._chance(0.3)
            node = phrase.noun(Pick(pick, Role.HYPERNYM), relation, plural, "" if plural else "a")
            subject = phrase.noun(pick, "nsubj", plural, "" if plural else self._among({"a": 3, "the": 1, "every": 1}))
            return phrase.copular(node, tense, plural, negative, question).add(subject)
        what = self._among({"thing": 4, "animate": 3, "place": 2})
        cast, role = {"thing": (THING, Role.THING), "animate": (PERSON, Role.PERSON), "place": (PLACE, Role.PLACE)}[
            what
        ]
        pick, plural = (Pick(None, cast), False) if self._chance(0.5) else (Pick(TOPIC_PICK, role), self._chance(0.3))
        root = phrase.copular(phrase.adjective(Pick(pick, Role.ADJ), relation), tense, plural, negative, question)
        root.add(self._noun_phrase(pick, "nsubj", plural, 0, "the" if pick.governor is None else "", what=what))
        if self._chance(0.12):
            root.add(Node(self._among({"very": 1, "too": 1}), "ADV", "advmod", place="degree"))
        elif not question and self._chance(0.25):
            other = phrase.adjective(Pick(Pick(pick, Role.ADJ), Role.COMPANION), "conj")
            phrase.coordinate(root, other, "and")
        return root

    def _existential(self, relation: str, tense: str, negative: bool) -> Node:
        plural = self._chance(0.4)
        role, what = self._among({(Role.THING, "thing"): 2, (Role.ANIMATE, "animate"): 1})
        pick = Pick(TOPIC_PICK, role)
        determiner = "no" if negative else self._among({"some": 2, "many": 1}) if plural else "a"
        noun = self._noun_phrase(pick, "nsubj", plural, 1, determiner, what=what)
        noun.place = "there"
        root = Node(phrase.be("past" if tense == "past" else "present", plural), "VERB", relation)
        return root.add(Node("there", "PRON", "expl"), noun, self._phrase(pick, "obl", 1))

    def _question(self) -> Node:
        frame = self._among(ASKED)
        if frame not in ("who", "what", "where"):
            return self._clause("root", 1, question=True, frame=frame)
        tense = self._among(TENSES)
        if frame == "who":
            inner = self._among({"tr": 2, "soc": 1, "intr": 1})
            pick = Pick(TOPIC_PICK, VERBS[inner])
            root = phrase.verb(pick, tense).add(phrase.pronoun("who", "nsubj"))
            self._complements(root, pick, inner, 1)
            self._adjuncts(root, pick, 1)
            return root
        subject, source, plural = self._subject(False, 1)
        pick = Pick(source, Role.TR if frame == "what" or self._chance(0.5) else Role.INTR)
        root = phrase.verb(pick, tense, plural, question=True).add(subject)
        if frame == "what":
            root.add(phrase.pronoun("what", "obj", "wh"))
            self._adjuncts(root, pick, 1)
            return root
        if pick.role == Role.TR:
            root.add(self._thing(pick, "obj", 1))
        return root.add(Node("where", "ADV", "advmod", place="wh"))


TOPIC_PICK, HERO_PICK, FRIEND_PICK, TOWN_PICK, SITE_PICK, BRAND_PICK, FIRM_PICK, COLLEGE_PICK = (
    Pick(None, member) for member in (TOPIC, HERO, FRIEND, TOWN, SITE, BRAND, FIRM, COLLEGE)
)
