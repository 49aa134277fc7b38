import re

from calque.derive.pocket.facts import Facts
from calque.derive.sources.pocket import PocketEnglish


def test_facts_are_chunks_of_their_own_and_change_nothing_else() -> None:
    facts = Facts(subjects=8, values=3, mentions=2)
    plain, told = PocketEnglish(size=2_500), PocketEnglish(size=2_500, facts=facts)
    numbers = [re.findall(r"\d+", source.title) for source in (plain, told)]
    assert numbers[1] == [*numbers[0], str(facts.number)]
    chunks = list(told.chunks())
    assert [chunk for chunk in chunks if chunk[0] >= 0] == list(plain.chunks())
    assert [told.has_images(chunk) for chunk in chunks] == [True, True, False, True, True]
    assert all(len(told.sentences(chunk)[0]) == chunk[1] for chunk in chunks)
    assert told.sentences(chunks[-1]) == plain.sentences(chunks[-1])
    assert len(told.questions()) == 32 and not plain.questions()
    assert told.corpus_fingerprint() != plain.corpus_fingerprint()
    assert [told.task_fingerprint(task) for task in told.tasks] == [
        plain.task_fingerprint(task) for task in told.tasks
    ]
