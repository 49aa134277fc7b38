"""Build phrases as trees, with agreement, from words that are given or drawn later."""

from calque.derive.pocket.lexicon import BASE, FIRST, LAST, MIDDLE, PARTICIPLE, PAST, PLURAL, SINGULAR, THIRD
from calque.derive.pocket.preferences import Role, Sense
from calque.derive.pocket.tree import Node, Pick, Token, Word


def noun(word: Word, relation: str, plural: bool = False, determiner: str = "") -> Node:
    """Build a common noun with an optional determiner."""
    node = Node(word.form(PLURAL if plural else SINGULAR), "NOUN", relation)
    return node.add(Node(determiner, "DET", "det")) if determiner else node


def pronoun(word: Token, relation: str, place: str = "") -> Node:
    """Build a pronoun."""
    return Node(word, "PRON", relation, place=place)


def adjective(word: Word, relation: str = "amod") -> Node:
    """Build an adjective."""
    return Node(word.form(0), "ADJ", relation)


def adverb(word: Word, place: str = "") -> Node:
    """Build an adverb."""
    return Node(word.form(0), "ADV", "advmod", place=place)


def adposition(node: Node, preposition: Token) -> Node:
    """Add a preposition to a noun."""
    return node.add(Node(preposition, "ADP", "case"))


def location(preposition: Word, word: Word) -> Node:
    """Build a prepositional phrase that describes where something happens."""
    return adposition(noun(word, "obl", determiner="the"), preposition.form(0))


def person(word: Word, relation: str, length: int) -> Node:
    """Build a person's first, first and last, or full name, depending on `length`; the first word is the head
    (UD: flat)."""
    forms = {1: [FIRST], 2: [FIRST, LAST], 3: [FIRST, MIDDLE, LAST]}[length]
    head, *rest = (Node(word.form(form), "PROPN", "flat", entity="PER") for form in forms)
    head.relation = relation
    return head.add(*rest)


def simple_name(word: Word, relation: str, label: str) -> Node:
    """Build a one-word name of an entity with the given label."""
    return Node(word.form(0), "PROPN", relation, entity=label)


def compound_name(word: Word, relation: str, label: str) -> Node:
    """Build a two-word name headed by its second word, such as Northfield Bank or Lake Orrin."""
    first = Node(word.form(0), "PROPN", "compound", entity=label)
    return Node(word.form(1), "PROPN", relation, [first], entity=label)


def long_name(word: Word, relation: str, label: str) -> Node:
    """Build a three-word name headed by its first word, such as University of Dalmar."""
    second = Node(word.form(1), "PROPN", "nmod", [Node("of", "ADP", "case", entity=label)], entity=label)
    return Node(word.form(0), "PROPN", relation, [second], entity=label)


def person_or_noun(sense: Sense) -> Node:
    """Build a person's first name, or a common noun with an article."""
    return person(sense, "", 1) if sense.lexeme is None else noun(sense, "", determiner="the")


def verb(
    word: Word,
    tense: str,
    plural: bool = False,
    negative: bool = False,
    question: bool = False,
    passive: bool = False,
) -> Node:
    """Build a finite verb group; `tense` is past, present, perfect or, if `word` is a Pick, modal."""
    helpers: list[tuple[Token, str]] = []
    form = PARTICIPLE
    if tense == "modal":
        assert isinstance(word, Pick)
        helpers = [(Pick(word, Role.MODAL).form(0), "aux"), *([("be", "aux:pass")] if passive else [])]
        form = PARTICIPLE if passive else BASE
    elif passive:
        helpers = [(be(tense, plural), "aux:pass")]
    elif tense == "perfect":
        helpers = [("have" if plural else "has", "aux")]
    elif negative or question:
        helpers = [("did" if tense == "past" else "do" if plural else "does", "aux")]
        form = BASE
    else:
        form = PAST if tense == "past" else BASE if plural else THIRD
    node = Node(word.form(form), "VERB", "root")
    for i, (helper, kind) in enumerate(helpers):
        node.add(Node(helper, "AUX", kind, place="" if i else "front" if question else "helper"))
    return node.add(Node("not", "PART", "advmod", place="not")) if negative else node


def be(tense: str, plural: bool) -> str:
    """Return a form of the verb *be*."""
    if tense == "past":
        return "were" if plural else "was"
    return "are" if plural else "is"


def copular(predicate: Node, tense: str, plural: bool, negative: bool, question: bool = False) -> Node:
    """Add a form of *be* to a predicate."""
    predicate.add(Node(be(tense, plural), "AUX", "cop", place="front" if question else ""))
    return predicate.add(Node("not", "PART", "advmod", place="not")) if negative else predicate


def act(verb_group: Node, agent: Node, patient: Node, passive: bool) -> Node:
    """Add agent and patient to a verb in active or passive voice."""
    agent.relation, patient.relation = ("obl:agent", "nsubj:pass") if passive else ("nsubj", "obj")
    return verb_group.add(adposition(agent, "by") if passive else agent, patient)


def coordinate(first: Node, second: Node, conjunction: str) -> Node:
    """Add `second` to `first` as its conjunct (UD: the conjunction depends on `second`)."""
    second.relation = "conj"
    return first.add(second.add(Node(conjunction, "CCONJ", "cc")))


def fronted(node: Node) -> Node:
    """Move a phrase to the front and add a comma."""
    node.place = "first"
    return node.add(Node(",", "PUNCT", "punct", place="comma"))


def subordinate(clause: Node, relation: str, mark: str, first: bool = False) -> Node:
    """Make a clause subordinate with the conjunction `mark`, and front it if `first`."""
    clause.relation = relation
    clause.add(Node(mark, "SCONJ", "mark"))
    return fronted(clause) if first else clause
