"""Split English text into sentences and words by rules.

A sentence ends at . ! or ? before white space and an upper-case letter, a digit or an opening quote. After a
title, an initial or an abbreviation, a full stop ends a sentence only before a common sentence opener.
"""

import re
from functools import cache
from pathlib import Path
from unicodedata import category

from calque.derive.files import read_toml
from calque.derive.readers.lines import FORMAT


def _class(*categories: str) -> str:
    # The other planes contain only ideographs and private-use characters.
    characters = [chr(code) for code in (*range(0x300, 0x20000), *range(0xE0000, 0xE1000))]
    characters = [re.escape(character) for character in characters if category(character) in categories]
    low = "".join(character for character in characters if character < "\U00010000")
    high = "".join(character for character in characters if character >= "\U00010000")
    return rf"(?:[{low}]|(?=[\U00010000-\U0010ffff])[{high}])"  # two character classes are faster than one


@cache  # computed only if needed, because it looks up the category of every character
def _word() -> re.Pattern[str]:
    extends = (  # marks, selectors, skin tones, tags, or a symbol after a joiner
        rf"(?:{_class('Mn', 'Mc', 'Me')}|[\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]"
        rf"|\u200d{_class('So', 'Sm')})"
    )
    letter = r"[^\W\d_]"
    mark = _class("Mn", "Mc", "Me", "Cf")  # words contain these characters, but \w does not match them
    return re.compile(
        rf"(?:{letter}\.){{2,}}"  # U.S., e.g., p.m.
        rf"|\w+(?:['’\-‑]\w+|(?<=\d)[.,]\d+|(?:{mark}|\xad)+\w*)*(?:\.(?=[\s,;:]))?"
        rf"|(?:[\U0001f1e6-\U0001f1ff]{{2}}|[^\s{FORMAT}]){extends}*"  # one symbol as displayed: 👩🏽‍🚀, 🇫🇷
    )


_CANDIDATE = re.compile(r"""[.!?]['"”’»)\]]*(?=\s+['"“‘«(\[$£€#*]*([^\W_]))""")

_WORDS = read_toml(Path(__file__).with_name("english.toml"))
TITLES, NUMBERED, ABBREVIATIONS, OPENERS = (
    frozenset(_WORDS[name].split()) for name in ("titles", "numbered", "abbreviations", "openers")
)

_SHORT = 40  # maximum length of an abbreviation or a list item's number
_NEXT = re.compile(r"[\w’']+\.?")
_TOKEN_END = re.compile(r"(?<=\s)[.!?](?: [.!?)\]”’])*( \")?(?= \S)")
_QUOTE = ' " '


def split_words(text: str) -> list[str]:
    """Split a sentence into words, which may contain apostrophes, hyphens, points and commas of numbers, and
    full stops of abbreviations. Any other non-space character is a separate word."""
    return _word().findall(text)


def split_sentences(text: str) -> list[list[str]]:
    """Split a text into sentences, each a list of words; format characters between words are left out."""
    return [words for sentence in cut(text) if (words := _word().findall(sentence))]


def cut(text: str) -> list[str]:
    """Split a text into sentences, dropping only the white space between them."""
    text = text.strip()
    sentences, start = [], 0
    for match in _CANDIDATE.finditer(text):
        space, stop = (text.rfind(mark, start, match.start()) for mark in " .")
        if _ends(text, start, max(start, space + 1), stop, match):
            sentences.append(text[start : match.end()].strip())
            start = match.end()
    return [*sentences, text[start:].strip()] if text else []


def cut_tokens(text: str) -> list[list[str]]:
    """Split tokenised text (WikiText) into sentences of words, which include closing quotation marks."""
    sentences, start = [], 0
    for match in _TOKEN_END.finditer(text):
        end = match.end()
        if match[1] and text.count(_QUOTE, start, match.start() + 1) % 2 == 0:
            end = match.start(1)
        next_start = end + 1
        if text.startswith(' "', end):
            while text.startswith((" ", '"'), next_start):
                next_start += 1
        following = text[next_start : next_start + 1]
        if following and not following.islower():
            sentences.append(text[start:end].split())
            start = end
    last_words = text[start:].split()
    return [*sentences, last_words] if last_words else sentences


def _ends(text: str, start: int, begin: int, stop: int, match: re.Match[str]) -> bool:
    """Whether a sentence ends at a mark in the token from `begin`; the last full stop is at `stop`."""
    mark, following = match.start(), match[1]
    if following.islower() or text[mark] != ".":
        return not following.islower()
    while begin < mark and text[begin] in "\"'“‘«([":
        begin += 1
    if begin == mark or stop == mark - 1:
        return True
    word = text[begin:mark] if mark - begin <= _SHORT else ""
    is_item = word.isdigit() and text[start:mark].strip() == word  # the number of a list item
    if word in TITLES or is_item or (word in NUMBERED and following.isdigit()):
        return False
    inner_stop = stop >= begin and not text[mark - 1].isdigit()
    if word in ABBREVIATIONS or inner_stop or (len(word) == 1 and word.isupper()):
        after = _NEXT.match(text, match.start(1))
        return after is not None and after[0] in OPENERS
    return True
