"""English text to sentences and words, by rule.

A sentence ends at . ! ? when white space and then an upper-case letter, a digit or an opening quote or
bracket follow; closing quotes and brackets after the mark stay with it. A full stop ends nothing after a
title or an initial, nor after an abbreviation unless a word follows that commonly opens a sentence.
Nothing is learnt; precision and recall on a treebank are in the tests.
"""

from __future__ import annotations

import re
from unicodedata import category

# Combining marks and format characters (matras, accents, zero-width joiners) are no \w, and yet inside words.
_MARKS = "".join(re.escape(chr(i)) for i in range(0x300, 0xFFFF) if category(chr(i)) in ("Mn", "Mc", "Me", "Cf"))
_LETTER = r"[^\W\d_]"
# An inner full stop belongs to its word (Mr. Smith, J. Smith): had it ended the sentence, the sentence would end here.
WORD = re.compile(
    rf"(?:{_LETTER}\.){{2,}}"  # U.S., e.g., p.m.
    rf"|\w+(?:['’\-‑]\w+|(?<=\d)[.,]\d+|[{_MARKS}\xad]+\w*)*(?:\.(?=[\s,;:]))?"
    r"|\S"
)
_CANDIDATE = re.compile(r"""[.!?]['"”’»)\]]*(?=\s+['"“‘«(\[$£€#*]*([^\W_]))""")

_TITLES = """Mr Mrs Ms Messrs Mme Mlle Dr Prof Rev Fr Sr St Ste Hon Gen Col Lt Capt Cpt Cmdr Adm Maj Sgt Cpl Pvt Brig
    Gov Sen Rep Drs Pres Supt Insp Amb Sec Mt Ft Pt Msgr vs v cf viz Op op ca c approx e.g i.e eg ie al ed eds trans
    Univ Dept esp incl pop ext Sc""".split()
# These end nothing before a digit: No. 5, pp. 3, Jan. 1.
_NUMBERED = """No no Nos nos Nr nr p pp vol vols Vol Vols fig figs Fig Figs ch chap Ch sec art Art para
    Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec""".split()
# These may end a sentence or not: the next word tells.
_ABBREVIATIONS = """Jr Sr Inc Ltd Co Corp Bros Ave Blvd Rd etc Esq Ph.D M.D B.A M.A dept est max min
    Mon Tue Tues Wed Thu Thur Thurs Fri Sat Sun Ala Ariz Ark Calif Colo Conn Del Fla Ga Ill Ind Kan Ky La Md Mass Mich
    Minn Miss Mo Mont Neb Nev Okla Ore Pa Tenn Tex Va Vt Wash Wis Wyo Jan Feb Mar Apr Jun Jul Aug Sept Sep Oct Nov Dec
    """.split()
_OPENERS = """The A An This That These Those It Its He She They We You I In On At By For From With As After Before
    During While When Where Since Although Though However But And Or So If There Then Thus His Her Their Our My Your
    Some Many Most Several Other Both All Each One Two What Who Why How To Of Not No Also Because Until Despite
    Among According Such Another Under Over Between Through Today Later Here""".split()
TITLES, NUMBERED = frozenset(_TITLES), frozenset(_NUMBERED)
ABBREVIATIONS, OPENERS = frozenset(_ABBREVIATIONS), frozenset(_OPENERS)

_NEXT = re.compile(r"[\w’']+\.?")
_TOKEN_END = re.compile(r"(?<=\s)[.!?](?: [.!?)\]”’])*( \")?(?= \S)")


def split_words(text: str) -> list[str]:
    """One sentence's words; joined they are the text without its white space.

    Letters and digits with inner apostrophes, hyphens, and points or commas inside numbers; abbreviations
    with their full stops; every other character that is not white space alone.
    """
    return WORD.findall(text)


def split_sentences(text: str) -> list[list[str]]:
    """The words of each sentence of untokenised text (tokenised text does no harm); white space alone gives none."""
    return [WORD.findall(sentence) for sentence in cut(text)]


def cut(text: str) -> list[str]:
    """The sentences of a text as they stand, without the white space between them."""
    text = text.strip()
    sentences, start = [], 0
    for match in _CANDIDATE.finditer(text):
        if _ends(text, start, match):
            sentences.append(text[start : match.end()].strip())
            start = match.end()
    return [*sentences, text[start:].strip()] if text else []


def cut_tokens(text: str) -> list[list[str]]:
    """The words of each sentence of text whose tokens stand between spaces, its marks alone (WikiText).

    A straight quote after the mark stays with the sentence when it closes one that the sentence opened.
    """
    sentences, start = [], 0
    for match in _TOKEN_END.finditer(text):
        end = match.end()
        if match[1] and text.count(' " ', start, match.start() + 1) % 2 == 0:
            end = match.start(1)
        following = text[end:].lstrip(' "')[:1] if text[end : end + 2] == ' "' else text[end + 1 : end + 2]
        if following and not following.islower():
            sentences.append(text[start:end].split())
            start = end
    rest = text[start:].split()
    return [*sentences, rest] if rest else sentences


def _ends(text: str, start: int, match: re.Match[str]) -> bool:
    """Whether a sentence that began at `start` ends at this mark."""
    mark, following = match.start(), match[1]
    if following.islower():
        return False
    if text[mark] != ".":
        return True
    word = text[max(start, text.rfind(" ", start, mark) + 1) : mark].lstrip("\"'“‘«([")
    if not word or word.endswith("."):
        return True
    if word in TITLES:
        return False
    if word in NUMBERED and following.isdigit():
        return False
    if word.isdigit() and text[start:mark].strip() == word:
        return False  # the number of a list's item
    if word in ABBREVIATIONS or ("." in word and not word[-1].isdigit()) or (len(word) == 1 and word.isupper()):
        after = _NEXT.match(text, match.start(1))
        return after is not None and after[0] in OPENERS
    return True
