"""Preferences of a grammar in a linguist's terms: the probabilities of orders of small nodes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from derive.grammar.model import Grammar
from derive.grammar.nodes import head_item, item
from derive.grammar.orders import order_tuples

Dependent = tuple[str, str]
THE, SUBJECT, OBJECT = ("DET", "det"), ("NOUN", "nsubj"), ("NOUN", "obj")
TYPICAL = (
    ("determiners before nouns", "NOUN", THE, (), False),
    ("numerals before nouns", "NOUN", ("NUM", "nummod"), (), False),
    ("adjectives after nouns", "NOUN", ("ADJ", "amod"), (THE,), True),
    ("genitives after nouns", "NOUN", ("NOUN", "nmod"), (THE,), True),
    ("relative clauses after nouns", "NOUN", ("VERB", "acl"), (THE,), True),
    ("adpositions before nouns", "NOUN", ("ADP", "case"), (THE,), False),
    ("subjects before verbs", "VERB", SUBJECT, (OBJECT,), False),
    ("objects after verbs", "VERB", OBJECT, (SUBJECT,), True),
    ("obliques after verbs", "VERB", ("NOUN", "obl"), (SUBJECT,), True),
    ("auxiliaries before verbs", "VERB", ("AUX", "aux"), (SUBJECT,), False),
    ("subordinators before verbs", "VERB", ("SCONJ", "mark"), (SUBJECT,), False),
    ("adverbs after verbs", "VERB", ("ADV", "advmod"), (SUBJECT,), True),
)
"""The preference, the head, the dependent, what else depends on the head, and whether the dependent comes after it."""


@dataclass(frozen=True)
class Preference:
    """A preference, and the probability of it."""

    name: str
    probability: float


def preferences(grammar: Grammar) -> list[Preference]:
    """Each of `TYPICAL` in a node of just these words, then the orders of subject, object and verb in one of these."""
    of_dependents = []
    for name, head, dependent, others, after in TYPICAL:
        behind = sum(
            probability
            for order, probability in _orders(grammar, head, (dependent, *others))
            if order.index(dependent) > order.index(head)
        )
        of_dependents.append(Preference(name, behind if after else 1 - behind))
    letters = {SUBJECT: "S", OBJECT: "O", "VERB": "V"}
    clauses = [
        Preference("".join(letters[word] for word in order), probability)
        for order, probability in _orders(grammar, "VERB", (SUBJECT, OBJECT))
    ]
    return of_dependents + sorted(clauses, key=lambda clause: -clause.probability)


def _orders(
    grammar: Grammar, head: str, dependents: tuple[Dependent, ...]
) -> Iterator[tuple[list[Dependent | str], float]]:
    """Every order of a head and its dependents, and its probability."""
    ranked: list[Dependent | str] = [*sorted(dependents, key=lambda dependent: item(*dependent)), head]
    items = (*sorted(item(*dependent) for dependent in dependents), head_item(head))
    for order, probability in zip(order_tuples(len(items)), grammar.probabilities(items), strict=True):
        yield [ranked[slot] for slot in order], float(probability)
