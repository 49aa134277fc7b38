import pytest

from calque.derive.readers.parallel import words_of


@pytest.mark.parametrize(
    ("text", "language", "words"),
    [
        ("Don't you know? It’s John's.", "en", "do not you know ? it 's john 's ."),
        (
            "We can't, won't: the dogs' cross-border U.S. 3,000",
            "en",
            "we can not , will not : the dogs ' cross-border u.s. 3,000",
        ),
        ("L’ami d'hier n'a-t-il qu'à l'aider ?", "fr", "le ami de hier ne a - t - il que à le aider ?"),
        ("Du pain aux Anglais, aujourd'hui.", "fr", "de le pain à les anglais , aujourd' hui ."),
        ("Mr. Smith is late. Go home... now", "en", "mr. smith is late . go home . . . now"),
        ("Wie geht's, daß E-Mail?", "de", "wie geht 's , daß e-mail ?"),
        ("  ", "en", ""),
    ],
)
def test_words(text: str, language: str, words: str) -> None:
    assert words_of(text, language) == tuple(words.split())
