"""User text made fit for SVG and HTML: characters that these formats forbid are shown as visible signs."""

from __future__ import annotations

SIGN = "\N{REPLACEMENT CHARACTER}"  # every font has it


def visible(text: str) -> str:
    """The text with a sign for every control character and every other character that XML excludes.

    Tabs and line ends stay. XML 1.0 (section 2.2) has no control characters, surrogates, U+FFFE and U+FFFF.
    """
    return text.translate(_SIGNS)


_CONTROL = [*(code for code in range(0x20) if chr(code) not in "\t\n\r"), *range(0x7F, 0xA0)]
_SIGNS = dict.fromkeys([*_CONTROL, *range(0xD800, 0xE000), 0xFFFE, 0xFFFF], SIGN)
