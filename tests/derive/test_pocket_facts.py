"""Facts of Pocket English: who is told of what, how often, and what is asked."""

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from calque.derive.pocket.facts import RELATIONS, Facts
from calque.derive.pocket.language import Pocket

LANGUAGE = Pocket(types=300)
FACTS = Facts(subjects=10, values=4, mentions=5)


@settings(max_examples=15)
@given(st.integers(2, 60), st.integers(2, 8), st.integers(0, 99))
def test_every_person_has_each_relation_and_half_of_them_shared(subjects: int, values: int, seed: int) -> None:
    questions = Facts(subjects, values, 1, seed).questions(LANGUAGE)
    assert len(questions) == subjects * len(RELATIONS)
    assert len({(question.subject, question.relation) for question in questions}) == len(questions)
    shared = Counter(question.subject for question in questions if question.shared)
    assert set(shared.values()) == {len(RELATIONS) // 2} and len(shared) == subjects
    for relation in RELATIONS:
        for told in (True, False):
            of = [q for q in questions if q.relation == relation and q.shared is told]
            often = Counter(question.answer for question in of)
            assert max(often.values(), default=0) - min(often.values(), default=0) <= 1


def test_a_fact_is_stated_as_often_as_it_says_in_each_of_its_patterns_and_in_one_group_alone() -> None:
    questions = FACTS.questions(LANGUAGE)
    for shared in (True, False):
        told = Counter((s.words[1:] if s.tags[0] == "ADV" else s.words) for s in FACTS.statements(LANGUAGE, shared))
        clozes = {c.sentence.words: q for q in questions if q.shared is shared for c in q.clozes}
        assert told.keys() == clozes.keys()
        assert sum(told.values()) == 5 * sum(question.shared is shared for question in questions)
        assert set(told.values()) == {1, 2}  # five mentions of three patterns
    leads = Counter(s.words[0] for s in FACTS.statements(LANGUAGE, True) if s.tags[0] == "ADV")
    assert len(leads) == 3
