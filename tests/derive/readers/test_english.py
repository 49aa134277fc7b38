import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from calque.derive.readers.english import cut, cut_tokens, split_sentences, split_words
from calque.derive.readers.lines import FORMAT
from calque.derive.readers.parallel import words_of


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Sara ate two apples .", "Sara ate two apples ."),
        ("It's a well-known $1,000.50 bill, isn't it?", "It's a well-known $ 1,000.50 bill , isn't it ?"),
        ("The U.S. pays 3.14% (e.g. in Rome).", "The U.S. pays 3.14 % ( e.g. in Rome ) ."),
        ("Mr. Smith met J. Doe", "Mr. Smith met J. Doe"),
        ("the dogs' \u201cend\u201d\u2014now!", "the dogs ' \u201c end \u201d \u2014 now !"),
        ("rock'n'roll -- 1939–45", "rock'n'roll - - 1939 – 45"),
        ("हिन्दी भाषा cafe\u0301", "हिन्दी भाषा cafe\u0301"),
        ("voila\u0300 a\u0300 la", "voila\u0300 a\u0300 la"),  # the first of the combining marks
        ("a <s> b", "a < s > b"),
    ],
)
def test_words(text, words):
    assert split_words(text) == words.split()


@pytest.mark.parametrize(
    "sentences",
    [
        ["Dr. Smith lives in St. Louis.", "He is 40."],
        ["J. R. R. Tolkien wrote it.", "When?", "In 1937!", "2 years later it sold."],
        ['"Stop!" he said.', '"Why?" she asked.', "(Nobody knew.)", "[They left.]"],
        ["The U.S. Army left the U.S.", "The war ended at 5 p.m.", "It rained."],
        ["See No. 5 and pp. 3 to 4.", "It costs 3.50 or $4.", "$5 is too much."],
        ["Cats, dogs, etc. were there.", "Really...", "Yes."],
        ["World War I.", "The next."],
        ["It costs 3.50.", "It takes 2.5.", "Bill pays."],  # a number's point is not an abbreviation's
        ["1. First we go.", "Then we stay."],
        ["He knows .NET. Bill does not."],
        ["Is it .NET.", "The rest is not."],
    ],
)
def test_sentences(sentences):
    assert cut("  ".join(sentences)) == sentences


@given(st.text())
@example("\u200fa\u200f (\u200eb)\u200e \xad")
def test_only_white_space_and_format_characters_are_lost(text):
    letters = "".join(text.split())
    split = "".join(word for words in split_sentences(text) for word in words)
    assert "".join(split_words(text)) == split
    marks = re.compile(f"[{FORMAT}]+")
    assert marks.sub("", split) == marks.sub("", letters)
    assert "".join(word for words in cut_tokens(text) for word in words) == letters


@pytest.mark.parametrize(
    ("text", "language", "words"),
    [
        ("Don't you know? It’s John's.", "en", "do not you know ? it 's john 's ."),
        ("Can't, won't: dogs' e-mail U.S. 3,000", "en", "can not , will not : dogs ' e-mail u.s. 3,000"),
        ("L’ami d'hier n'a-t-il qu'à l'aider ?", "fr", "le ami de hier ne a - t - il que à le aider ?"),
        ("Du pain aux Anglais, aujourd'hui.", "fr", "de le pain à les anglais , aujourd' hui ."),
        ("Mr. Smith is late. Go home... now", "en", "mr. smith is late . go home . . . now"),
        ("Wie geht's, daß E-Mail?", "de", "wie geht 's , daß e-mail ?"),
        ("  ", "en", ""),
    ],
)
def test_words_in_three_languages(text, language, words):
    assert words_of(text, language) == tuple(words.split())
