"""Placeholders that stand in a bitext where there is no translation."""

from __future__ import annotations

import re

PLACEHOLDERS = "pairs with a placeholder for a translation"
_PLACEHOLDER = re.compile(r"(?:<|&lt;)[A-Za-z][\w-]*(?:>|&gt;)|NS|#N/A|#(?:NAME|REF|VALUE)[?!]")
"""A tag alone, as eBible's `<range>` for a verse that is part of the one before; PAWS-X's NS; spreadsheets' errors."""


def is_placeholder(text: str) -> bool:
    """Whether a side of a pair, without white space at its ends, is a placeholder."""
    return len(text) < 40 and _PLACEHOLDER.fullmatch(text) is not None
