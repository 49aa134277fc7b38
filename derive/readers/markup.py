"""Handle markup in text: character references such as `&amp;`, HTML and MediaWiki tags, and placeholders."""

import re
from collections import Counter
from collections.abc import Iterable
from html import unescape

from calque.derive.readers.lines import without_marks

UNESCAPED = "lines with escaped characters, unescaped"
ESCAPED = "lines that seem to have escaped characters (&quot;), kept: see `escaped`"
TAGS = "tags inside lines, removed"

_REFERENCE = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_SPACES = re.compile(" {2,}")
_LINE_ENDS = re.compile(r"[\t-\r\x1c-\x1e\x85\u2028\u2029]")
_PLACEHOLDER = re.compile(r"(?:<|&lt;)[A-Za-z][\w-]*(?:>|&gt;)|NS|ns|#N/A|#(?:NAME|REF|VALUE)[?!]")
"""Placeholders for missing text: a lone tag, such as eBible's `<range>` for a verse merged with the previous
one; PAWS-X's NS; spreadsheet errors."""
_MOSES = re.compile(r"&(?:amp|apos|quot|lt|gt|bar|bra|ket|#124|#91|#93);")
"""The Moses tokenizer's escapes for & ' " < > | [ and ]."""

_BREAKING = """br p div li ul ol dl dd dt tr td th table tbody thead caption hr blockquote center h1 h2 h3
    h4 h5 h6 pre poem gallery section references templatestyles""".split()
_INLINE = """a abbr acronym b bdi bdo big chem cite code data del dfn em font hiero i img imagemap indicator
    ins kbd mark math nowiki noinclude includeonly onlyinclude q rb ref rp rt rtc ruby s samp score small
    span strike strong sub sup syntaxhighlight time timeline tt u var wbr""".split()


def _tags(names: list[str]) -> str:
    return rf"</?(?:{'|'.join(names)})(?:\s[^<>]*=[^<>]*)?\s*/?>"


_BREAK = re.compile(_tags(_BREAKING), re.IGNORECASE)
_TAG = re.compile(_tags(_INLINE), re.IGNORECASE)
_COMMENT = re.compile(r"<!--(?:(?!<!--).)*?-->")
_NOTE = re.compile(r"<ref\b(?:[^<>]*[^<>/])?>(?:(?!<ref\b).)*?</ref>", re.IGNORECASE)
ESCAPES = 3  # maximum depth of nested escapes, which bounds the time spent on malicious lines


def unescaped(text: str, counts: Counter[str]) -> str:
    """Replace HTML character references in a line, even if escaped repeatedly; line breaks and tabs become
    spaces."""
    before = text
    for _ in range(ESCAPES):
        text = _REFERENCE.sub(lambda found: _LINE_ENDS.sub(" ", unescape(found[0])), text)
    if text != before:
        counts[UNESCAPED] += 1
    return text


def seems_escaped(text: str) -> bool:
    """Whether a line contains escapes of the Moses tokenizer."""
    return "&" in text and _MOSES.search(text) is not None


def without_tags(text: str, counts: Counter[str]) -> str:
    """Remove HTML and MediaWiki tags, comments and footnotes; tags such as `<br>` become spaces."""
    if "<" not in text:
        return text
    text, comments = _COMMENT.subn("", text)
    text, notes = _NOTE.subn("", text)
    text, broken = _BREAK.subn(" ", text)
    text, inline = _TAG.subn("", text)
    if removed := comments + notes + broken + inline:
        counts[TAGS] += removed
        text = _SPACES.sub(" ", text)
    return text


def is_placeholder(text: str) -> bool:
    """Whether a text is a placeholder for missing text."""
    return _PLACEHOLDER.fullmatch(text.strip()) is not None


def whole_pairs(pairs: Iterable[tuple[str, str]], left_out: Counter[str]) -> tuple[list[str], list[str]]:
    """Return the first and second sides of all complete pairs; count the others in `left_out`."""
    first, second = [], []
    for pair in pairs:
        a, b = (without_marks(side, left_out).strip() for side in pair)
        if is_placeholder(a) or is_placeholder(b):
            left_out["pairs with a placeholder for a translation"] += 1
        elif a and b:
            first.append(a)
            second.append(b)
        else:
            left_out["pairs with an empty side" if a or b else "blank lines"] += 1
    return first, second
