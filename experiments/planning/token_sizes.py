"""How many bytes of text make one id of XLM-R's vocabulary, by language: measured where there was text, else assumed.

Measured on XNLI's dev sets, XQuAD's paragraphs and treebanks' sentences, in UTF-8 with a byte for each line's end (0.2
to 1.8 MB a language), with the vocabulary of 250,037 types; specials are not counted. Another language has the mean of
the measured ones of its script, or, if there is none, that of the scripts whose letters take as many bytes.
"""

from __future__ import annotations

from statistics import mean
from typing import Literal, NamedTuple

MEASURED = {
    "ar": 5.94, "bg": 6.98, "de": 4.40, "el": 6.44, "en": 4.27, "es": 4.39, "fr": 4.06, "ga": 3.50, "hi": 8.82,
    "ja": 4.76, "ko": 4.30, "ro": 4.17, "ru": 7.22, "sw": 3.96, "th": 10.67, "tr": 4.53, "ur": 6.06, "vi": 5.08,
    "zh": 4.22,
}  # fmt: skip
"""Bytes an id."""
LETTERS = {
    "A": "af az ca cs cy da de en eo es et eu fi fr ga gl hr hu id is it la lt lv ms mt nl nn no pl pt ro sk sl sq sv"
    " sw tl tr uz vi",
    "Ж": "ba be bg kk ky mk mn ru sr tg tt uk",
    "ع": "ar ckb fa ps sd ug ur",
    "א": "he yi",
    "Ω": "el",
    "Ա": "hy",
    "क": "hi mr ne sa",
    "ক": "as bn",
    "ਕ": "pa",
    "ક": "gu",
    "କ": "or",
    "க": "ta",
    "క": "te",
    "ಕ": "kn",
    "ക": "ml",
    "ක": "si",
    "ก": "th",
    "ກ": "lo",
    "က": "my",
    "ក": "km",
    "ა": "ka",
    "አ": "am",
    "あ": "ja",
    "한": "ko",
    "文": "zh",
}
"""The languages of each script, by a letter of it."""
NOT_ALPHABETS = "あ한文"
"""Scripts whose signs are no single sounds: they say nothing about others."""

Basis = Literal["measured", "script", "width"]


class TokenSize(NamedTuple):
    """Bytes an id, and what they are taken from: the language itself, its script, or scripts of as wide letters."""

    bytes: float
    basis: Basis


def token_size(language: str) -> TokenSize:
    """Bytes an id of text in a language, by its code.

    Raises:
        KeyError: the script of the language is not known here.
    """
    if language in MEASURED:
        return TokenSize(MEASURED[language], "measured")
    script = _SCRIPTS[language]
    if kin := _measured(script):
        return TokenSize(mean(kin), "script")
    alike = [
        mean(sizes)
        for other in LETTERS
        if len(other.encode()) == len(script.encode()) and other not in NOT_ALPHABETS and (sizes := _measured(other))
    ]
    return TokenSize(mean(alike), "width")


def _measured(script: str) -> list[float]:
    return [MEASURED[language] for language in LETTERS[script].split() if language in MEASURED]


_SCRIPTS = {language: letter for letter, languages in LETTERS.items() for language in languages.split()}
