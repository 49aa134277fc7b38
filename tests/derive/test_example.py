"""Examples are derived sentence by sentence and read as they were written."""

from hypothesis import given, settings
from hypothesis import strategies as st

from calque.derive.example import Example, read_examples, write_examples
from calque.derive.order import Permute
from calque.derive.transform import Account, Transform, image_of_example
from tests.derive.strategies import sentences

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
