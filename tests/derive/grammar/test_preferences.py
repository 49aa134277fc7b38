"""What a grammar prefers, in words."""

import pytest

from derive.grammar.model import Grammar
from derive.pocket.language import Pocket
from derive.typology import preferences


def test_a_verb_final_treebank_teaches_a_verb_final_grammar() -> None:
    learnt = Grammar.train(Pocket(order="verbfinal").sentences(800), "verbfinal")
    told = preferences(learnt)
    clauses = list(told.values())[-6:]
    assert clauses == sorted(clauses, reverse=True)
    assert told["SOV"] + told["OSV"] > 0.95
    assert told["adpositions before nouns"] < 0.05
    before = {name for name, share in told.items() if " before " in name and share > 0.5}
    assert before == {"determiners before nouns", "numerals before nouns", "subjects before verbs"}
    assert not [name for name, share in told.items() if " after " in name and share > 0.5]
    assert sum(told[order] for order in ("SVO", "SOV", "VSO", "VOS", "OSV", "OVS")) == pytest.approx(1)
