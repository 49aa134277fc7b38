"""Examples are derived sentence by sentence and read as they were written."""

import tracemalloc
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from calque.derive.example import Example, read_examples, write_examples
from calque.derive.order import Permute
from calque.derive.sentence import Sentence
from calque.derive.transform import Account, Transform, image_of_example
from tests.derive.strategies import sentences, transforms

texts = st.lists(st.lists(sentences(), min_size=1, max_size=3).map(tuple), min_size=1, max_size=2).map(tuple)
examples = st.builds(Example, texts, st.sampled_from(["", "neutral", "日本"]), st.sampled_from(["", "passive"]))


@settings(max_examples=200)
@given(st.lists(examples, max_size=4))
def test_what_is_written_is_read(tmp_path_factory: object, written: list[Example]) -> None:
    path = tmp_path_factory.getbasetemp() / "examples.jsonl"  # type: ignore[attr-defined]
    derived = [image for number, example in enumerate(written) if (image := image_of(Permute(), example, number))]
    assert len(derived) == len(written)
    assert write_examples(path, [*written, *derived]) == 2 * len(written)
    assert list(read_examples(path)) == [*written, *derived]


def image_of(transform: Transform, example: Example, number: int) -> Example:
    image = image_of_example(transform, example, number, Account())
    assert image
    return image


@settings(max_examples=200)
@given(examples, transforms(), st.integers(0, 99))
def test_each_sentence_is_transformed_for_itself(example: Example, transform: Transform, number: int) -> None:
    derived = image_of(transform, example, number)
    assert (derived.label, derived.diagnostic) == (example.label, example.diagnostic)
    own = number * 65_536
    for before, after in zip(example.texts, derived.texts, strict=True):
        assert after == tuple(transform(sentence, own + i) for i, sentence in enumerate(before))
        own += len(before)


def test_numbers_of_examples_leave_room_for_65536_sentences() -> None:
    """A folder keeps its name, so it keeps its bytes."""
    words = Sentence(tuple("abcdefgh"))
    (images,) = image_of(Permute(), Example(((words, words),)), 3).texts
    assert images == (Permute()(words, 196_608), Permute()(words, 196_609))


def test_a_premise_and_its_hypothesis_have_separate_draws() -> None:
    words = Sentence(tuple("abcdefgh"))
    for number in range(20):
        premise, hypothesis = image_of(Permute(), Example(((words,), (words,))), number).texts
        assert premise != hypothesis


def test_an_empty_file_has_no_examples(tmp_path: Path) -> None:
    assert write_examples(tmp_path / "none.jsonl", []) == 0
    assert list(read_examples(tmp_path / "none.jsonl")) == []


def test_words_that_are_shared_are_the_same_words_in_a_third_of_the_memory() -> None:
    def read(line: int) -> Example:
        words = tuple(f"word{(line + i) % 50}" for i in range(30))  # new strings each time, as a reader makes them
        return Example(((Sentence(words, tuple(f"TAG{i % 5}" for i in range(30))),),), "neutral")

    sizes = []
    for share in (False, True):
        tracemalloc.start()
        examples = [read(line).interned() if share else read(line) for line in range(300)]
        sizes.append(tracemalloc.get_traced_memory()[0])
        tracemalloc.stop()
        assert examples == [read(line) for line in range(300)]
    assert sizes[1] < sizes[0] / 3
