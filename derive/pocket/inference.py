"""Premises and hypotheses whose label follows from the grammar, and from neither side alone.

Why one side tells nothing: a pair is one fact said twice, each time in one of a few forms. The tables below
say how often which pair of forms bears which label, and under every label each form is equally frequent on
either side. A neutral pair may be about two facts, drawn alike. Every pair draws both of them, so that words,
too, are equally frequent under every label.

By convention `a` is existential, antonyms exclude each other, and no event has an exchanged twin.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from derive.example import Example
from derive.pocket import phrase
from derive.pocket.preferences import SIZE, Role, Sense
from derive.pocket.shape import known_sentence
from derive.pocket.tree import Node, Places
from derive.sentence import Sentence

ENTAILMENT, NEUTRAL, CONTRADICTION = LABELS = ("entailment", "neutral", "contradiction")

# Rows are (premise, hypothesis, the hypothesis is about another fact, weight); a form is its features' letters:
# "g" more general (a hypernym, or a detail left out), "o" the opposite (an antonym), "x" exchanged arguments,
# "-" negated. A negated general statement entails the negated special one, and so on.
Row = tuple[str, str, bool, int]
GENERAL: dict[str, list[Row]] = {
    ENTAILMENT: [
        ("", "g", False, 12), ("-g", "-", False, 12), ("", "", False, 16), ("-g", "-g", False, 16),
        ("g", "g", False, 4), ("-", "-", False, 4),
    ],
    CONTRADICTION: [
        ("", "-g", False, 12), ("-g", "", False, 12), ("", "-", False, 16), ("-g", "g", False, 16),
        ("g", "-g", False, 4), ("-", "", False, 4),
    ],
    NEUTRAL: [("g", "", False, 2), ("g", "-", False, 2), ("-", "g", False, 2), ("-", "-g", False, 2)]
    + [(premise, hypothesis, True, 7) for premise in ("", "-g") for hypothesis in ("", "-", "g", "-g")],
}  # fmt: skip
OPPOSITE: dict[str, list[Row]] = {
    ENTAILMENT: [("", "", False, 3), ("", "-o", False, 4), ("-", "-", False, 1)],
    CONTRADICTION: [("", "o", False, 2), ("", "-", False, 5), ("-", "", False, 1)],
    NEUTRAL: [
        ("-", "o", False, 6), ("-", "-o", False, 10),
        ("", "", True, 21), ("", "o", True, 21), ("", "-", True, 35), ("", "-o", True, 35),
    ],
}  # fmt: skip
EXCHANGE: dict[str, list[Row]] = {
    ENTAILMENT: [("", "", False, 1)],
    CONTRADICTION: [("", "x", False, 1)],
    NEUTRAL: [("", "", True, 1), ("", "x", True, 1)],
}


FAR = 0.6
"""Share of the neutral pairs about two facts whose second is about something else altogether."""


@dataclass(frozen=True)
class Fact:
    """Who did what to whom, in senses. Without a verb, the subject has the quality `adjective`.

    `definite`: the object is known, as the subject always is; then they can be exchanged.
    """

    subject: Sense
    verb: Sense | None = None
    object: Sense | None = None
    recipient: Sense | None = None
    adjective: Sense | None = None
    manner: Sense | None = None
    place: tuple[Sense, Sense] | None = None
    tense: str = "past"
    definite: bool = False


@dataclass(frozen=True)
class Draft:
    """A fact and one like it that differs in a subject or an object, with what becomes of either in each form."""

    facts: tuple[Fact, Fact]
    change: Callable[[Fact], Fact]
    table: dict[str, list[Row]]


class Inference:
    """Draws labelled pairs about the senses of `topics`; `places` draws the word order of a sentence."""

    def __init__(self, topics: list[Sense], rng: random.Random, places: Callable[[], Places]) -> None:
        self._topics = topics
        self._rng = rng
        self._places = places

    def pairs(self) -> Iterator[Example]:
        """Pairs without end; every three in a row bear the three labels, in a random order."""
        while True:
            for label in self._rng.sample(LABELS, len(LABELS)):
                yield self.pair(label)

    def pair(self, label: str) -> Example:
        """A premise and a hypothesis with that label."""
        family = self._rng.choices((self._general, self._opposite, self._exchange), (11, 7, 2))[0]
        draft, stranger = self._draft(family), self._draft(family)
        while not _unrelated(draft.facts[0], stranger.facts[0]):
            draft, stranger = self._draft(family), self._draft(family)
        rows = draft.table[label]
        premise, hypothesis, other, _ = self._rng.choices(rows, [row[3] for row in rows])[0]
        said, heard = (draft, draft.facts[0]), (draft, draft.facts[0])
        if other:
            heard = (stranger, stranger.facts[0]) if self._rng.random() < FAR else (draft, draft.facts[1])
        return Example(((self._form(*said, premise),), (self._form(*heard, hypothesis),)), label)

    def _draft(self, family: Callable[[], Draft | None]) -> Draft:
        while (draft := family()) is None:
            pass
        return draft

    def _form(self, draft: Draft, fact: Fact, form: str) -> Sentence:
        return self._say(draft.change(fact) if form.strip("-") else fact, "-" in form)

    def _draw(self, sense: Sense, role: Role) -> Sense:
        return sense.tables[role][int(self._rng.random() * SIZE)]

    def _topic(self) -> Sense:
        return self._rng.choices(self._topics, [topic.weight for topic in self._topics])[0]

    def _subjects(self, topic: Sense, verb: Sense) -> tuple[Sense, Sense]:
        if self._rng.random() < 0.4:
            return self._draw(topic, Role.NAME), self._draw(topic, Role.NAME)
        return self._draw(verb, Role.SUBJECT), self._draw(verb, Role.SUBJECT)

    def _general(self) -> Draft | None:
        """A detail that is left out, or an object that is named by its hypernym."""
        rng, topic = self._rng, self._topic()
        role = rng.choices((Role.INTR, Role.TR, Role.SOC, Role.DITR), (2, 4, 2, 2))[0]
        verb = self._draw(topic, role)
        subjects = self._subjects(topic, verb)
        fact = Fact(subjects[0], verb, tense=rng.choice(("past", "past", "present")))
        detail = rng.choice(
            ("manner", "place", "object", "object", "adjective") if role != Role.INTR else ("manner", "place")
        )
        objects: tuple[Sense | None, Sense | None] = (None, None)
        if role != Role.INTR:
            first, second = objects = self._draw(verb, Role.OBJECT), self._draw(verb, Role.OBJECT)
            fact = replace(fact, object=first)
            if detail == "adjective" or rng.random() < 0.15:
                fact = replace(fact, adjective=self._draw(rng.choice((first, second)), Role.ADJ))
            if detail == "object" and not _name_differently(first, second):
                return None
        if role == Role.DITR:
            fact = replace(fact, recipient=self._draw(verb, Role.RECIPIENT))
        if detail == "manner":
            fact = replace(fact, manner=self._draw(verb, Role.MANNER))
        if detail == "place" or (role == Role.INTR and rng.random() < 0.5):
            preposition = self._draw(verb, Role.LOCATIVE)
            fact = replace(fact, place=(preposition, self._draw(preposition, Role.NOUN)))
        facts = self._vary(fact, subjects, objects)
        if facts is None:
            return None

        return Draft(facts, lambda fact: self._generalise(fact, detail), GENERAL)

    def _generalise(self, fact: Fact, detail: str) -> Fact:
        if detail == "object":
            return replace(fact, object=self._draw(_known(fact.object), Role.HYPERNYM))
        if detail == "adjective":
            return replace(fact, adjective=None)
        return replace(fact, manner=None) if detail == "manner" else replace(fact, place=None)

    def _opposite(self) -> Draft | None:
        """An adjective or a verb that has an antonym."""
        rng, topic = self._rng, self._topic()
        if rng.random() < 0.6:
            role = rng.choice((Role.THING, Role.ANIMATE, Role.PLACE))
            nouns = self._draw(topic, role), self._draw(topic, role)
            poles = self._poles(self._draw(rng.choice(nouns), Role.ADJ))
            facts = self._vary(
                Fact(nouns[0], adjective=poles[0], tense=rng.choice(("past", "present"))), nouns, (None, None)
            )
            return Draft(facts, lambda fact: replace(fact, adjective=poles[1]), OPPOSITE) if facts else None
        verb = self._draw(topic, rng.choice((Role.INTR, Role.TR, Role.TR, Role.SOC)))
        if not verb.tables[Role.ANTONYM]:
            return None
        poles = self._poles(verb)
        governor = rng.choice(poles)
        subjects = self._subjects(topic, governor)
        objects: tuple[Sense | None, Sense | None] = (None, None)
        if governor.tables[Role.OBJECT]:
            objects = self._draw(governor, Role.OBJECT), self._draw(governor, Role.OBJECT)
        fact = Fact(subjects[0], poles[0], objects[0], tense=rng.choice(("past", "present")))
        facts = self._vary(fact, subjects, objects)
        return Draft(facts, lambda fact: replace(fact, verb=poles[1]), OPPOSITE) if facts else None

    def _poles(self, sense: Sense) -> tuple[Sense, Sense]:
        other = self._draw(sense, Role.ANTONYM)
        return (sense, other) if self._rng.random() < 0.5 else (other, sense)

    def _exchange(self) -> Draft | None:
        """Two people or animals, one of whom does something to the other."""
        topic = self._topic()
        verb = self._draw(topic, Role.SOC)
        if self._rng.random() < 0.5:
            first, second, third = (self._draw(topic, Role.NAME) for _ in range(3))
        else:
            first, second, third = (self._draw(verb, Role.SUBJECT) for _ in range(3))
        if not (_distinct(first, second) and _distinct(first, third) and _distinct(second, third)):
            return None
        fact = Fact(first, verb, second, definite=True)
        other = replace(fact, object=third) if self._rng.random() < 0.5 else replace(fact, subject=third)
        return Draft(
            self._either(fact, other),
            lambda fact: replace(fact, subject=_known(fact.object), object=fact.subject),
            EXCHANGE,
        )

    def _vary(
        self, fact: Fact, subjects: tuple[Sense, Sense], objects: tuple[Sense | None, Sense | None]
    ) -> tuple[Fact, Fact] | None:
        """The fact and one with another subject or object (or both), in either order; None where they are alike."""
        if {sense.forms for sense in subjects} & {sense.forms for sense in objects if sense}:
            return None
        what = self._rng.choice(("subject", "object", "both", "both")) if objects[0] else "subject"
        other = fact
        if what != "object":
            if not _distinct(*subjects):
                return None
            other = replace(other, subject=subjects[1])
        if what != "subject":
            if not _distinct(_known(objects[0]), _known(objects[1])):
                return None
            other = replace(other, object=objects[1])
        return self._either(fact, other)

    def _either(self, fact: Fact, other: Fact) -> tuple[Fact, Fact]:
        return (fact, other) if self._rng.random() < 0.5 else (other, fact)

    def _say(self, fact: Fact, negative: bool) -> Sentence:
        """The fact as a sentence; voice, the place of adjuncts and the length of names vary freely."""
        rng = self._rng
        if fact.verb is None:
            root = phrase.copular(phrase.adjective(_known(fact.adjective), "root"), fact.tense, False, negative)
            root.add(self._noun(fact.subject, "nsubj", "the"))
        elif fact.object is not None and fact.recipient is None and rng.random() < 0.5:
            root = phrase.verb(fact.verb, fact.tense, negative=negative, passive=True)
            root.add(self._object(fact, "nsubj:pass"))
            root.add(phrase.adposition(self._noun(fact.subject, "obl:agent", "the"), "by"))
        else:
            root = phrase.verb(fact.verb, fact.tense, negative=negative)
            root.add(self._noun(fact.subject, "nsubj", "the"))
            if fact.object is not None:
                root.add(self._object(fact, "obj"))
            if fact.recipient is not None and rng.random() < 0.5:
                root.add(self._noun(fact.recipient, "iobj", "the"))
            elif fact.recipient is not None:
                root.add(phrase.adposition(self._noun(fact.recipient, "obl", "the"), "to"))
        if fact.manner is not None:
            manner = phrase.adverb(fact.manner)
            root.add(phrase.fronted(manner) if fact.place is None and rng.random() < 0.4 else manner)
        if fact.place is not None:
            preposition, noun = fact.place
            place = phrase.adposition(self._noun(noun, "obl", "the"), preposition.form(0))
            root.add(phrase.fronted(place) if rng.random() < 0.4 else place)
        return known_sentence(root.add(Node(".", "PUNCT", "punct")), self._places())

    def _object(self, fact: Fact, relation: str) -> Node:
        node = self._noun(_known(fact.object), relation, "the" if fact.definite else "a")
        return node.add(phrase.adjective(fact.adjective)) if fact.adjective else node

    def _noun(self, sense: Sense, relation: str, determiner: str) -> Node:
        if sense.lexeme is None:
            return phrase.person(sense, relation, self._rng.choice((1, 1, 2)))
        return phrase.noun(sense, relation, determiner=determiner)


def _known(sense: Sense | None) -> Sense:
    assert sense is not None
    return sense


def _distinct(first: Sense, second: Sense) -> bool:
    """Different, and neither is the other's hypernym."""
    if first.lexeme is None or second.lexeme is None:
        return first.forms[0] != second.forms[0]
    first_lexeme, second_lexeme = first.lexeme, second.lexeme
    return (
        first_lexeme.lemma != second_lexeme.lemma
        and first_lexeme.lemma != second_lexeme.hypernym
        and second_lexeme.lemma != first_lexeme.hypernym
    )


def _unrelated(fact: Fact, other: Fact) -> bool:
    """Whether neither says anything about the other, in whatever forms."""
    return _distinct(fact.subject, other.subject) and (fact.verb is None or fact.verb is not other.verb)


def _name_differently(first: Sense, second: Sense) -> bool:
    """Both have a hypernym, and not the same."""
    if first.lexeme is None or second.lexeme is None:
        return False
    return bool(first.lexeme.hypernym and second.lexeme.hypernym) and first.lexeme.hypernym != second.lexeme.hypernym
