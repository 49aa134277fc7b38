"""A person can read where each word went."""

from calque.derive.order import Invert
from calque.derive.preview import WIDTH, side_by_side
from calque.derive.script import Transliterate
from calque.derive.sentence import Sentence
from calque.derive.transform import Transform, compose

SARA = Sentence(tuple("Sara ate two apples .".split()))


def show(sentence: Sentence, transform: Transform, number: int = 0) -> str:
    return side_by_side(sentence, [transform], number)


def test_show_puts_places_and_glosses_in_columns() -> None:
    text = show(SARA, compose(Transliterate(), Invert()))
    source_places, source, blank, places, image, gloss = text.splitlines()
    assert source_places.split() == ["1", "2", "3", "4", "5"]
    assert source.split() == ["source", *SARA.words]
    assert blank == ""
    assert places.split() == ["4", "3", "2", "1", "5"]
    assert gloss.split() == ["gloss", "apples", "two", "ate", "Sara", "."]
    spell = Transliterate().spell
    assert image.split() == ["trans.inv", *map(spell, ["apples", "two", "ate", "Sara", "."])]
    for place, word in zip("4321", ["apples", "two", "ate", "Sara"], strict=True):
        assert places.index(place) == image.index(spell(word)) == gloss.index(word)


def test_long_sentences_are_folded_and_lose_nothing() -> None:
    sentence = Sentence((*(f"word{i}" for i in range(60)), "y" * 200))
    lines = show(sentence, Invert()).splitlines()
    assert all(len(line) <= WIDTH for line in lines if "yyy" not in line)
    source = [word for line in lines if line.startswith("source") for word in line.split()[1:]]
    image = [word for line in lines if line.startswith("inv") for word in line.split()[1:]]
    assert tuple(source) == sentence.words
    assert tuple(image) == sentence.words[::-1]
