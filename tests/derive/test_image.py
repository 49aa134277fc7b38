"""A sentence's image: what is counted of it, and that it holds the sentence's words and no others."""

from dataclasses import dataclass, replace

import pytest

from derive.errors import BadInput
from derive.example import Example
from derive.grammar.model import Grammar
from derive.order import Invert, Permute
from derive.reorder import PocketTreebank, Reorder
from derive.script import Transliterate
from derive.sentence import Sentence, Span
from derive.transform import Account, Transform, compose, image_of, image_of_example

LARGE = Sentence(tuple("abcdefgh"), ("VERB",) * 8, (-1, *[0] * 7), ("root", *["obj"] * 7))
SMALL = Sentence(("a", "b"), ("VERB", "NOUN"), (-1, 0), ("root", "obj"))
DROPPING = replace(
    Reorder(PocketTreebank("verbfinal"), PocketTreebank("english"), oversize="drop"), grammar=Grammar("none", {}, {})
)


@dataclass(frozen=True)
class Becomes(Transform):
    """A transform whose images are all the same."""

    image_sentence: Sentence
    name = "becomes"

    def __call__(self, sentence: Sentence, number: int = 0) -> Sentence:
        return self.image_sentence


@pytest.mark.parametrize(
    "image",
    [
        Sentence(("b",)),
        Sentence(("a", "b", "c")),
        Sentence(("a", "c")),
        Sentence(("b", "a")),
        Sentence(("a", "a"), origin=(0, 0)),
        Sentence(("b", "a"), origin=(1, 5)),
        Sentence(()),
    ],
    ids=["loses a word", "adds a word", "changes a word", "moves unsaid", "repeats a word", "from nowhere", "empties"],
)
def test_an_image_of_other_words_is_refused(image: Sentence) -> None:
    with pytest.raises(BadInput, match="the transform becomes changes the words of a sentence; expected the same ones"):
        image_of(Becomes(image), Sentence(("a", "b")), 0, Account())


def test_images_of_one_word_and_of_none_are_fine() -> None:
    for words in ((), ("a",)):
        assert image_of(Becomes(Sentence(words)), Sentence(words), 0, Account()) == Sentence(words)


@pytest.mark.parametrize("origin", [(1, 0), (2, 0, 1)])
def test_words_may_stand_in_any_order(origin: tuple[int, ...]) -> None:
    sentence = Sentence(tuple("abc"[: len(origin)]))
    image = sentence.reorder(origin)
    assert image_of(Becomes(image), sentence, 0, Account()) == image


def test_torn_spans_are_counted() -> None:
    account = Account()
    torn = Sentence(("New", "York", "."), spans=(Span(1, 3, "LOC"),))
    assert image_of(Invert(), torn, 0, account) is not None
    assert account.split_spans == 1
    account.add(account)
    assert account == Account(split_spans=2)


def test_what_is_left_out_is_counted_with_its_words_and_reasons() -> None:
    account = Account()
    for _ in range(2):
        assert image_of(DROPPING, LARGE, 0, account) is None
    assert image_of(DROPPING, SMALL, 0, account) is not None
    assert account.left_out == {
        "sentences without an image": 2,
        "words of sentences without an image": 16,
        "nodes of more than 7 items in sentences without an image": 2,
    }
    assert not account.kept and image_of(replace(DROPPING, oversize="keep"), LARGE, 0, account) is not None
    assert account.kept == {"nodes of more than 7 items": 1}
    total = Account()
    total.add(account)
    total.add(account)
    assert (total.left_out["sentences without an image"], total.kept.total()) == (4, 2)


def test_drop_leaves_whole_examples_out() -> None:
    for transform in (DROPPING, compose(Transliterate(), DROPPING), compose(DROPPING, Transliterate())):
        account = Account()
        assert image_of_example(transform, Example(((SMALL,), (SMALL, LARGE))), 0, account) is None
        assert account == Account()  # of what is left out nothing else is told
        assert image_of_example(transform, Example(((SMALL,), (SMALL,))), 0, account) is not None


def test_an_example_of_more_sentences_than_are_told_apart_is_refused() -> None:
    many = Example(((SMALL,) * 65_537,))
    with pytest.raises(BadInput, match="an example of 65,537 sentences; expected 65,536 at most"):
        image_of_example(Permute(), many, 0, Account())
