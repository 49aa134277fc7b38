"""The units that tags of a treebank belong to: syntactic words, or the tokens of XTREME's files.

XTREME's conversion replaces the syntactic words of a multiword token by the token (French `du` instead of `de` and
`le`). The token has the tag of the word with the fewest ancestors, in the tree and in the enhanced graph together.
Words with equally many are ranked by their tags.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from derive.readers.codes import code

Units = Literal["words", "xtreme"]
WORDS: Units = "words"
XTREME: Units = "xtreme"
JOINER = "\u200c"
"""The zero-width non-joiner, which XTREME's files lack."""

_ANY = "VERB NOUN PROPN PRON ADJ NUM ADV INTJ AUX ADP DET PART CCONJ SCONJ X PUNCT SYM".split()
_RANKED = {
    "es": "VERB AUX PRON ADP DET".split(),
    "fr": "VERB AUX PRON NOUN ADJ ADV ADP DET PART SCONJ".split(),
    "it": "VERB AUX ADV PRON ADP DET INTJ".split(),
}
"""Tags of the languages that have a ranking of their own. XTREME's conversion stops at a tag that such a ranking lacks;
here these tags follow in the common order."""


def token_tag(words: Sequence[int], tags: Sequence[str], parents: Sequence[Sequence[int]], language: str) -> str:
    """The tag of the multiword token that consists of `words`.

    `parents` has the heads of every word of the sentence, counted from 0, the root's -1.
    """
    ancestors = {word: len(_ancestors(word, parents)) for word in words}
    fewest = min(ancestors.values())
    ranking = [*_RANKED.get(code(language), ()), *_ANY]
    return min((tags[word] for word in words if ancestors[word] == fewest), key=ranking.index)


def _ancestors(word: int, parents: Sequence[Sequence[int]]) -> set[int]:
    found: set[int] = set()
    waiting = [*parents[word]]
    while waiting:
        parent = waiting.pop()
        if parent != word and parent not in found:
            found.add(parent)
            waiting += parents[parent] if parent >= 0 else ()
    return found
