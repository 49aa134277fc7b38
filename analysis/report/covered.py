"""What an interval over seeds covers, in words: what each seed draws for itself, and what all share."""

from __future__ import annotations

from collections.abc import Sequence


def covered(redrawn: Sequence[str]) -> str:
    """A clause on what seeds share, where `redrawn` says what each draws anew beside its model."""
    if not redrawn:
        return "seeds share the corpus, the dictionary and the test items"
    *before, last = redrawn
    return f"each seed draws anew {' and '.join(filter(None, [', '.join(before), last]))}; the rest is shared"


def coverage(seeds: Sequence[int], redrawn: Sequence[str]) -> str:
    """What the intervals of a study cover."""
    if len(seeds) < 2:
        return "over test items: one seed, which says nothing of others"
    of = "of model and data" if redrawn else "of the model alone"
    return f"over {len(seeds)} seeds {of}: {covered(redrawn)}"
