"""Codes of languages, as far as files of a data set are told apart by them."""

_SAME = {"nb": "no", "nn": "no"}
"""Codes of one Wikipedia, and so of one file."""


def code(language: str) -> str:
    """The code of two letters that a language's name begins with, as `zh` of `zh-tw`; empty where it has none."""
    first = language.lower().replace("_", "-").partition("-")[0]
    return _SAME.get(first, first) if len(first) == 2 else ""


def differ(one: str, other: str) -> bool:
    """Whether two names are of two languages; one without a code, such as `german`, may be any language's."""
    return bool(code(one) and code(other)) and code(one) != code(other)
