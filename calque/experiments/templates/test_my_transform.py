"""Tests of MyTransform on sentences with tags, entities and trees."""

from calque.derive.pocket.language import Pocket
from calque.experiments.templates.my_transform import MyTransform, my_transform

SENTENCES = list(Pocket(types=300).sentences(100))
IMAGES = [MyTransform()(sentence, number) for number, sentence in enumerate(SENTENCES)]


def test_it_keeps_every_word_and_knows_where_it_was() -> None:
    for sentence, image in zip(SENTENCES, IMAGES, strict=True):
        assert sorted(image.origin) == list(range(len(sentence)))
        assert image.words == tuple(sentence.words[place] for place in image.origin)
        assert image.tags == tuple(sentence.tags[place] for place in image.origin)


def test_it_moves_words() -> None:
    assert any(image.words != sentence.words for sentence, image in zip(SENTENCES, IMAGES, strict=True))


def test_an_image_depends_only_on_the_sentence_and_its_number() -> None:
    backwards = [MyTransform()(sentence, number) for number, sentence in reversed([*enumerate(SENTENCES)])]
    assert backwards[::-1] == IMAGES


def test_its_study_is_valid() -> None:
    assert my_transform().mistakes() == []
