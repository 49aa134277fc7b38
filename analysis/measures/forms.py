"""Held-out forms: whether alignment reaches the forms of a word of which the dictionary has another.

Shapes: m types that are asked for.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from analysis.measures.alignment import Alignment, Types
from analysis.records.record import ALIGNMENT, FORM, LEMMA, Record


def form_records(
    types: Types, alignment: Alignment, mates: Mapping[int, frozenset[int]], run: str, language: str, step: int
) -> list[Record]:
    """alignment@1 of held-out types, by whether the dictionary has another form of the same word.

    Asked for are words of which the corpus has another form as one type, and that are not in the dictionary: those
    with a form in it (`held-out-form`), and those with none (`held-out-lemma`). A metric over no types is left out.

    Args:
        types, alignment: of one model and language.
        mates: the other forms of each type that is a word, `derive.usage.other_forms`.
    """
    told = frozenset(types.dictionary[:, 0].tolist())
    forms = [mates.get(own, frozenset()) for own in types.types[types.moved].tolist()]
    inflected = np.array([bool(others) for others in forms], bool) & ~alignment.in_dictionary
    seen = np.array([not told.isdisjoint(others) for others in forms], bool)
    kinds = {FORM: alignment.forward[inflected & seen], LEMMA: alignment.forward[inflected & ~seen]}
    return [
        Record(run, ALIGNMENT, metric, float(found.mean()), len(found), language=language, step=step)
        for metric, found in kinds.items()
        if len(found)
    ]
