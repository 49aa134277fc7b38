"""Pocket English as a source: sizes, and no example twice."""

import re
from collections import Counter
from collections.abc import Callable
from itertools import product

import pytest

from calque.derive.errors import BadInput
from calque.derive.example import Example
from calque.derive.pocket.facts import Facts
from calque.derive.pocket.language import Pocket
from calque.derive.source import SPLITS, TaskData
from calque.derive.sources.pocket import PocketEnglish, Sizes


def all_tasks(source: PocketEnglish) -> dict[str, TaskData]:
    return {task: source.task_data(task) for task in source.tasks}


def test_pocket_english_has_the_sizes_asked_for() -> None:
    source = PocketEnglish(size=1_500, pos=Sizes(3, 2, 1), ner=Sizes(3, 2, 1), nli=Sizes(6, 3, 3))
    assert [len(source.sentences(chunk)[0]) for chunk in source.chunks()] == [1_000, 500]
    sizes = {task: [len(examples) for examples in data.examples.values()] for task, data in all_tasks(source).items()}
    assert sizes == {"pos": [3, 2, 1], "ner": [3, 2, 1], "nli": [6, 3, 3]}


def test_pocket_english_repeats_no_example_and_says_how_many_it_left_out() -> None:
    source = PocketEnglish(size=1_000, pos=Sizes(800, 100, 300), ner=Sizes(9, 9, 9), nli=Sizes(300, 90, 90))
    tasks = all_tasks(source)
    for data in tasks.values():
        texts = [
            tuple(tuple(s.words for s in text) for text in example.texts)
            for examples in data.examples.values()
            for example in examples
        ]
        assert len(set(texts)) == len(texts)
    drawn = source.language.sentences(800 + tasks["pos"].left_out["train"]["repetitions"], stream=1)
    assert len({sentence.words for sentence in drawn}) == 800


def test_inference_pairs_that_repeat_are_left_out_with_their_like_of_other_labels() -> None:
    source = PocketEnglish(
        language=Pocket(300), size=1, pos=Sizes(1, 1, 1), ner=Sizes(1, 1, 1), nli=Sizes(3_000, 3, 900)
    )
    data = source.task_data("nli")
    repeated = data.left_out["test"]["repetitions"]
    assert repeated > 0 and repeated % 3 == 0
    for examples in data.examples.values():
        assert len(set(Counter(example.label for example in examples).values())) == 1


def test_questions_and_paraphrases_are_there_where_their_sizes_are_given() -> None:
    few = Sizes(6, 4, 2)
    source = PocketEnglish(language=Pocket(300), size=1, pos=few, ner=few, nli=few, qa=few, paraphrase=few)
    assert PocketEnglish().tasks == ("pos", "ner", "nli")
    assert source.tasks == ("pos", "ner", "nli", "qa", "paraphrase")
    for task, streams in (("qa", (10, 11, 12)), ("paraphrase", (13, 14, 15))):
        draw = source.language.questions if task == "qa" else source.language.paraphrases
        made = source.task_data(task).examples
        assert [made[split] for split in SPLITS] == [list(draw(n, k)) for n, k in zip(few, streams, strict=True)]
    assert Counter(e.label for e in source.task_data("paraphrase").examples["train"]) == {"0": 3, "1": 3}


def test_impossible_sizes_are_refused() -> None:
    with pytest.raises(BadInput, match="not 2000, 0, 1000"):
        Sizes(dev=0)
    with pytest.raises(BadInput, match="sentences, not 0"):
        PocketEnglish(size=0)


def test_the_corpus_and_every_split_have_streams_of_their_own() -> None:
    sizes = Sizes(2, 2, 2)
    source = PocketEnglish(size=1, pos=sizes, ner=sizes, nli=sizes)
    language, tasks = source.language, all_tasks(source)
    assert source.sentences((0, 1))[0] == list(language.sentences(1, stream=0))
    for stream, (task, split) in enumerate(product(("pos", "ner", "nli"), ("train", "dev", "test")), start=1):
        if task == "nli":
            drawn = list(language.pairs(2, stream))
        else:
            drawn = [Example(((one,),)) for one in language.sentences(2, stream, withhold=split == "train")]
        assert tasks[task].examples[split] == drawn


def test_defaults_are_those_that_records_were_made_with() -> None:
    """Sizes are in no name: others would change numbers and tell nobody."""
    sizes = Sizes(train=2_000, dev=500, test=1_000)
    assert PocketEnglish() == PocketEnglish(size=50_000, pos=sizes, ner=sizes, nli=sizes)


def test_a_redrawn_source_has_other_words_texts_and_items_and_as_many() -> None:
    source = PocketEnglish(Pocket(2_000), size=200, pos=Sizes(9, 5, 7), ner=Sizes(1, 1, 1), nli=Sizes(3, 3, 3))
    other = source.redrawn(3)
    assert source.redrawn(0) == source and source.redrawn(1).redrawn(2) == other
    assert source.language.forms != other.language.forms
    (chunk,) = source.chunks()
    ours, theirs = source.sentences(chunk)[0], other.sentences(chunk)[0]
    assert len(ours) == len(theirs) == 200 and ours != theirs
    assert source.task_data("pos").examples["test"] != other.task_data("pos").examples["test"]
    assert source.corpus_fingerprint() != other.corpus_fingerprint()
    assert source.task_fingerprint("pos") != other.task_fingerprint("pos")
    assert "the task items" in source.drawn


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
    assert [told.task_fingerprint(task) for task in told.tasks] == [plain.task_fingerprint(task) for task in told.tasks]


@pytest.mark.parametrize(
    ("make", "most"),
    [(lambda n: PocketEnglish(size=n), 10**9), (lambda n: Sizes(1, n, 1), 10**6)],
    ids=["text", "task"],
)
def test_sizes_are_from_1_to_the_most(make: Callable[[int], object], most: int) -> None:
    for size in (1, most):
        make(size)
    for size in (0, most + 1):
        with pytest.raises(BadInput, match=f"1 to {most:,} "):
            make(size)
