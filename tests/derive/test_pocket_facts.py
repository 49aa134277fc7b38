from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from calque.derive.pocket.facts import RELATIONS, Facts
from calque.derive.pocket.language import Pocket

LANGUAGE = Pocket(types=300)


@settings(max_examples=15)
@given(st.integers(2, 60), st.integers(2, 8), st.integers(0, 99))
def test_every_person_has_each_relation_and_half_of_them_shared(
    subjects: int, values: int, seed: int
) -> None:
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
