"""Text that people wrote, made fit for SVG and HTML: what no such file may hold is shown as a sign."""

from __future__ import annotations

PICTURES = 0x2400
"""Where Unicode's pictures of the control characters begin."""
DELETE, PICTURE_OF_DELETE = 0x7F, 0x2421
REPLACEMENT = 0xFFFD


def visible(text: str) -> str:
    """The text with control characters as their pictures, and other characters that XML excludes as U+FFFD.

    Tabs and line ends stay. XML 1.0 (section 2.2) has no control characters, surrogates, U+FFFE and U+FFFF.
    """
    return text.translate(_SIGNS)


_SIGNS = (
    {code: PICTURES + code for code in range(0x20) if chr(code) not in "\t\n\r"}
    | {DELETE: PICTURE_OF_DELETE}
    | dict.fromkeys([*range(0x80, 0xA0), *range(0xD800, 0xE000), 0xFFFE, 0xFFFF], REPLACEMENT)
)
