"""Which types are forms of one word."""

from collections import Counter

import numpy as np

from derive.bpe import learn_of_words
from derive.pocket.language import Pocket
from derive.sources.pocket import PocketEnglish
from derive.usage import gather_lemmas, other_forms
from derive.vocabulary import Vocabulary

PAIRS = [("walk", "walk"), ("walks", "walk"), ("Walks", "walk"), ("cook", "cook"), ("cooks", "cook"), ("saw", "see")]
PAIRS += [("saw", "saw"), ("saws", "saw"), ("see", "see"), ("alone", "alone"), ("unseen", "see")]


def vocabulary(words: list[str], size: int) -> Vocabulary:
    """One that has each of the words often enough to be a type of its own, if it is large."""
    made = learn_of_words(Counter(dict.fromkeys(words, 50)), size)
    made.counts = np.bincount(made.encode_all(words)[0], minlength=made.size)
    return made


def test_mates_are_the_other_forms_that_are_types() -> None:
    words = [word for word, _ in PAIRS if word != "unseen"]
    types = vocabulary(words, 285)
    one = {word: types.encode(word)[0] for word in words}
    assert all(len(types.encode(word)) == 1 for word in words)
    found = {
        word: {other for other in one if one[other] in other_forms(gather_lemmas(PAIRS), types)[one[word]]}
        for word in one
    }
    assert found == {
        "walk": {"walks", "Walks"},
        "walks": {"walk"},  # capitals make no other form
        "Walks": {"walk"},
        "cook": {"cooks"},
        "cooks": {"cook"},
        "saw": {"saws", "see"},
        "saws": {"saw"},
        "see": {"saw"},
        "alone": set(),
    }


def test_words_of_several_sub_words_are_no_types() -> None:
    types = vocabulary(["walk", "walks"], 261)  # letters alone
    assert other_forms(gather_lemmas(PAIRS), types) == {}


def test_pocket_english_knows_its_lemmas() -> None:
    language = Pocket(types=300)
    lemmas = PocketEnglish(language=language).lemmas()
    assert lemmas == gather_lemmas(language.lemmas())
    assert lemmas.keys() <= language.forms
    inflected = Counter(lemma for word, own in lemmas.items() for lemma in own if word != lemma)
    assert len(inflected) > 30 and max(inflected.values()) >= 3  # -s, -ed, -ing
