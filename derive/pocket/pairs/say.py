"""A statement as a sentence: where adjuncts stand varies freely."""

from __future__ import annotations

import random

from derive.pocket import phrase
from derive.pocket.pairs.material import Material
from derive.pocket.pairs.statement import Statement
from derive.pocket.preferences import Sense
from derive.pocket.shape import known_sentence
from derive.pocket.tree import Node, Places
from derive.sentence import Sentence

FRONTED = 0.2
"""Share of the adjuncts that stand first."""


def say(statement: Statement, material: Material, places: Places, rng: random.Random) -> Sentence:
    """The sentence, its words in the order that `places` gives."""
    root = _deed(statement, material) if material.deed else _quality(statement, material)
    if statement.polarity in ("always", "never"):
        adverb = Node(statement.polarity, "ADV", "advmod", place="helper" if material.early else "often")
        root.dependents.insert(0, adverb)  # of two in one place, the first that was added stands first
    if statement.manner is not None and material.manners:
        manner = phrase.adverb(material.manners[statement.manner])
        root.add(phrase.fronted(manner) if statement.place is None and rng.random() < FRONTED else manner)
    if statement.place is not None:
        place = _place(*material.places[statement.place])
        root.add(phrase.fronted(place) if rng.random() < FRONTED else place)
    if material.setting is not None:
        root.add(_place(*material.setting))
    return known_sentence(root.add(Node(".", "PUNCT", "punct")), places)


def _place(preposition: Sense, noun: Sense) -> Node:
    return phrase.adposition(phrase.noun(noun, "obl", determiner="the"), preposition.form(0))


def _quality(statement: Statement, material: Material) -> Node:
    adjective = phrase.adjective(material.poles[statement.pole], "root")
    root = phrase.copular(adjective, material.tense, False, statement.polarity == "not")
    return root.add(phrase.noun(material.nouns[statement.noun], "nsubj", determiner=statement.determiner))


def _deed(statement: Statement, material: Material) -> Node:
    verb = material.poles[statement.pole]
    noun = phrase.noun(material.nouns[statement.noun], "", determiner=statement.determiner)
    if material.other is None:
        root = phrase.verb(verb, material.tense, negative=statement.polarity == "not")
        noun.relation = "nsubj"
        return root.add(noun)
    other = thing(material.other, statement, material)
    agent, patient = (noun, other) if material.acts ^ statement.exchanged else (other, noun)
    passive = statement.passive
    root = phrase.verb(verb, material.tense, negative=statement.polarity == "not", passive=passive)
    agent.relation, patient.relation = ("obl:agent", "nsubj:pass") if passive else ("nsubj", "obj")
    return root.add(phrase.adposition(agent, "by") if passive else agent, patient)


def thing(sense: Sense, statement: Statement, material: Material) -> Node:
    """The other noun of a deed: a name, so many things, or the one that is known."""
    if sense.lexeme is None:
        return phrase.person(sense, "", 1)
    if statement.count is None:
        return phrase.noun(sense, "", determiner="the")
    number = Node(material.numbers[statement.count], "NUM", "nummod")
    return phrase.noun(sense, "", plural=True).add(number)
