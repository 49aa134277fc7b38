"""Pairs of a premise and a hypothesis, whose labels follow from meaning, not from surface cues.

Both sentences describe the same scene: if cooks are workers, `the worker` in the hypothesis is `the cook` in
the premise. An action has one manner and one place, numbers are exact, and nouns after `every` and `no` have
referents. Cases are weighted so that single sentences and word overlap do not predict the label.
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from typing import Any

from calque.derive.pocket import tree
from calque.derive.pocket.pairs import Case, Material, WordDraws, balanced, draw_cases
from calque.derive.pocket.tree import Node, say
from calque.derive.sentence import Example, Sentence

ENTAILMENT, NEUTRAL, CONTRADICTION = LABELS = ("entailment", "neutral", "contradiction")
SPECIFIC, GENERAL, OTHER_SPECIFIC, OTHER_GENERAL = range(4)
"""A noun, its hypernym, an unrelated noun and that noun's hypernym."""
POLE, OPPOSITE, OTHER_POLE = range(3)  # a verb or adjective, its antonym, and a word unrelated to both

SAME = ((SPECIFIC, SPECIFIC), (GENERAL, GENERAL))
UP, DOWN = (SPECIFIC, GENERAL), (GENERAL, SPECIFIC)
FOREIGN = tuple(product((SPECIFIC, GENERAL), (OTHER_SPECIFIC, OTHER_GENERAL)))
CHANGED = {UP: 1.0, DOWN: 8.0, **dict.fromkeys(FOREIGN, 0.25)}
"""Pairs of different nouns (premise, hypothesis) with initial weights; balancing favours unrelated nouns."""
POLES = ({"pole": OPPOSITE}, {"pole": OTHER_POLE})
POLARITIES = ("always", "never")  # for sentences of equal length

SHARES = {"quality": 0.31, "deed": 0.31, "meeting": 0.11, "quantity": 0.07, "number": 0.12, "adjunct": 0.08}
"""The fraction of pairs from each family of cases."""
PLAIN = 0.2  # fraction of `quality` and `deed` pairs with `not` (longer) instead of `never`
FRONTED = 0.2  # fraction of adjuncts moved to the front


@dataclass(frozen=True)
class Statement:
    """A statement's form, with words as indices into the pair's words (None: absent). `polarity` is "not",
    "always", "never" or empty; `exchanged` swaps agent and patient."""

    noun: int = SPECIFIC
    pole: int = POLE
    polarity: str = ""
    determiner: str = "the"
    count: int | None = None
    exchanged: bool = False
    passive: bool = False
    manner: int | None = None
    place: int | None = None

    @property
    def negative(self) -> bool:
        """Whether the statement contains `not` or `never`; `no` counts as a quantifier instead."""
        return self.polarity in ("not", "never")


def infer(premise: Statement, hypothesis: Statement) -> str:
    """Return the label of a pair."""
    if hypothesis.noun >= OTHER_SPECIFIC or OTHER_POLE in (premise.pole, hypothesis.pole):
        return NEUTRAL
    if premise.determiner != "the":
        return _infer_quantified(premise, hypothesis)
    if hypothesis.noun < premise.noun or hypothesis.exchanged != premise.exchanged:
        return NEUTRAL
    exclusive, adds_detail = premise.pole != hypothesis.pole, False
    for detail in ("count", "manner", "place"):
        first, second = getattr(premise, detail), getattr(hypothesis, detail)
        exclusive |= first != second and None not in (first, second)
        adds_detail |= first is None and second is not None
    if adds_detail and not exclusive:
        return NEUTRAL
    return CONTRADICTION if premise.negative ^ hypothesis.negative ^ exclusive else ENTAILMENT


def _infer_quantified(premise: Statement, hypothesis: Statement) -> str:
    # Antonyms are complementary: "no cook is hot" entails "every cook is cold".
    agree = (premise.pole == hypothesis.pole) ^ (premise.determiner == "no") ^ (hypothesis.determiner == "no")
    covered = hypothesis.noun <= premise.noun
    if hypothesis.determiner == "a":
        return ENTAILMENT if agree else CONTRADICTION if covered else NEUTRAL
    if not agree:
        return CONTRADICTION
    return ENTAILMENT if covered else NEUTRAL


def _cases(
    premise: Statement,
    hypothesis: Statement,
    outside: Hashable,
    kind: str,
    changes: Sequence[Mapping[str, Any]],
    nouns: Mapping[tuple[int, int], float] = CHANGED,
    weight: float = 1.0,
    other_kind: str = "",
) -> Iterator[Case]:
    """Yield cases with different nouns, and with one of the `changes`. `outside` is their surface form."""
    pairs = [(pair, dict[str, Any](), kind, weight * share) for pair, share in nouns.items()]
    pairs += [(pair, change, other_kind or kind, weight) for pair, change in product(SAME, changes)]
    for (first, second), change, phenomenon, initial_weight in pairs:
        parts = replace(premise, noun=first), replace(hypothesis, noun=second, **change)
        seen_alone = [(part.noun % 2, part.polarity, part.determiner) for part in parts]
        yield Case(parts, infer(*parts), (*seen_alone, outside), phenomenon, initial_weight)


def _qualities(yes: str, no: str) -> Iterator[Case]:
    for first, second in product((yes, no), repeat=2):
        kind, other_kind, weight = ("hypernym", "antonym", 1.0) if first == second else ("negation", "", 0.6)
        statements = Statement(polarity=first), Statement(polarity=second)
        yield from _cases(*statements, (first, second), kind, POLES, weight=weight, other_kind=other_kind)


def _meetings() -> Iterator[Case]:
    booleans = (False, True)
    for first, second, exchanged, polarity in product(booleans, booleans, booleans, POLARITIES):
        premise = Statement(polarity="always", passive=first, manner=0)
        hypothesis = Statement(polarity=polarity, passive=second, manner=0, exchanged=exchanged)
        kind = "passive" if first != second else "exchange"
        nouns = {UP: CHANGED[UP]}
        if not exchanged:  # half of the neutral pairs, so that word order does not reveal the label
            nouns |= {pair: 4 * share for pair, share in CHANGED.items() if pair != UP}
        yield from _cases(premise, hypothesis, (first, second, polarity), kind, [{"manner": 1}], nouns)


def _quantities() -> Iterator[Case]:
    nouns = CHANGED | {UP: 8.0}  # here, a more general noun is not entailed
    for first, second in product(("every", "no"), ("every", "no", "a")):
        statements = Statement(determiner=first), Statement(determiner=second)
        yield from _cases(*statements, (first, second), "quantifier", POLES, nouns)


def _numbers() -> Iterator[Case]:
    premise = Statement(polarity="always", count=0)
    for polarity in POLARITIES:
        yield from _cases(premise, replace(premise, polarity=polarity), polarity, "number", [{"count": 1}])


def _adjuncts() -> Iterator[Case]:
    full = Statement(polarity="always", manner=0, place=0)
    for polarity, is_added, adjunct in product(POLARITIES, (False, True), ("manner", "place")):
        reduced = replace(full, place=None) if adjunct == "manner" else replace(full, manner=None)
        premise, hypothesis = (reduced, full) if is_added else (full, reduced)
        hypothesis, weight = replace(hypothesis, polarity=polarity), 0.3 if is_added else 1.0
        yield from _cases(premise, hypothesis, polarity, "adjunct", [{adjunct: 1}], weight=weight)


@cache
def families() -> dict[str, list[Case]]:
    """Return each family's balanced cases; weights sum to one for each label."""
    plain, steady = balanced(_qualities("", "not")), balanced(_qualities("always", "never"))
    qualities = [replace(case, weight=PLAIN * case.weight) for case in plain]
    qualities += [replace(case, weight=(1 - PLAIN) * case.weight) for case in steady]
    return {
        "quality": qualities,
        "deed": qualities,
        "meeting": balanced(_meetings()),
        "quantity": balanced(_quantities()),
        "number": balanced(_numbers()),
        "adjunct": balanced(_adjuncts()),
    }


def inferences(words: WordDraws) -> Iterator[Example]:
    """Yield an infinite stream of pairs in rounds of one pair per label."""

    def draw(case: Case) -> Example:
        family, *statements = case.parts
        material: Material = getattr(words, family)()
        if material.deed and "not" in [statement.polarity for statement in statements]:
            material = replace(material, tense="perfect")  # `has found` and `has not found` share a verb form
        premise, hypothesis = (_say(statement, material, words) for statement in statements)
        return Example(((premise,), (hypothesis,)), case.label, case.kind)

    cases = []
    for name, family in families().items():
        for case in family:
            cases.append(replace(case, parts=(name, *case.parts), weight=SHARES[name] * case.weight))
    return draw_cases(LABELS, cases, draw, words.rng)


def _say(statement: Statement, material: Material, words: WordDraws) -> Sentence:
    root = _deed(statement, material) if material.deed else _quality(statement, material)
    if statement.polarity in POLARITIES:
        adverb = tree.adverb(statement.polarity, "helper" if material.early else "often")
        root.dependents.insert(0, adverb)  # dependents with the same position keep their list order
    if statement.manner is not None and material.manners:
        manner = tree.adverb(material.manners[statement.manner])
        root.add(tree.fronted(manner) if statement.place is None and words.rng.random() < FRONTED else manner)
    if statement.place is not None:
        place = tree.location(*material.places[statement.place])
        root.add(tree.fronted(place) if words.rng.random() < FRONTED else place)
    if material.setting is not None:
        root.add(tree.location(*material.setting))
    return say(root.add(tree.mark(".")), words.places())


def _quality(statement: Statement, material: Material) -> Node:
    adjective = tree.adjective(material.poles[statement.pole], "root")
    root = tree.copular(adjective, material.tense, False, statement.polarity == "not")
    return root.add(tree.noun(material.nouns[statement.noun], "nsubj", determiner=statement.determiner))


def _deed(statement: Statement, material: Material) -> Node:
    negative, passive = statement.polarity == "not", statement.passive
    noun = tree.noun(material.nouns[statement.noun], "nsubj", determiner=statement.determiner)
    root = tree.verb(material.poles[statement.pole], material.tense, negative=negative, passive=passive)
    if material.other is None:
        return root.add(noun)
    if statement.count is None:
        other_noun = tree.person_or_noun(material.other)
    else:
        number = Node(material.numbers[statement.count], "NUM", "nummod")
        other_noun = tree.noun(material.other, "", plural=True).add(number)
    agent, patient = (noun, other_noun) if material.acts ^ statement.exchanged else (other_noun, noun)
    return tree.act(root, agent, patient, passive)
