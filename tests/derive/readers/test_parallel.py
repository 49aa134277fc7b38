"""Parallel text: columns and files mean the same, words are cut as in the gold sets, and damage is
refused."""

from collections import Counter
from pathlib import Path

import pytest

from calque.derive.natural.files import BitextFiles
from calque.derive.readers.parallel import words_of

SENTENCES = [("Go on.", "Continue."), ("It's late!", "Il est tard !"), ("…", "   ")]


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


def test_columns_and_files_mean_the_same(tmp_path: Path) -> None:
    for name, lines in (
        ("tab", ["\t".join(pair) for pair in SENTENCES]),
        ("turned", ["\t".join(pair[::-1]) for pair in SENTENCES]),
        ("en", [pair[0] for pair in SENTENCES]),
        ("fr", [pair[1] for pair in SENTENCES]),
    ):
        (tmp_path / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    texts = (
        BitextFiles(tmp_path / "tab"),
        BitextFiles(tmp_path / "turned", columns=(1, 0)),
        BitextFiles(tmp_path / "en", tmp_path / "fr"),
    )
    for text in texts:
        left_out = Counter[str]()
        assert list(text.words("en", "fr", left_out)) == [
            (("go", "on", "."), ("continue", ".")),
            (("it", "'s", "late", "!"), ("il", "est", "tard", "!")),
        ]
        assert left_out == {"pairs with an empty side": 1}
