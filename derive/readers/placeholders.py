"""Placeholders in parallel data where a translation is missing."""

from __future__ import annotations

import re

PLACEHOLDERS = "pairs with a placeholder for a translation"
_PLACEHOLDER = re.compile(r"(?:<|&lt;)[A-Za-z][\w-]*(?:>|&gt;)|NS|ns|#N/A|#(?:NAME|REF|VALUE)[?!]")
"""A tag alone, as eBible's `<range>` for a verse that is part of the one before; PAWS-X's NS; spreadsheets' errors."""


def is_placeholder(text: str) -> bool:
    """Whether a side of a pair is a placeholder."""
    return _PLACEHOLDER.fullmatch(text.strip()) is not None
