"""alignment@1 of held-out forms of words, against a count by hand."""

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.measures.alignment import Types
from analysis.measures.alignment import form_alignment
from derive.script import Transliterate
from derive.types import OURS

FIRST, SIZE = len(OURS.ids), 40


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 99), st.sampled_from([0.0, 0.5]))
def test_types_are_counted_by_what_the_dictionary_has_of_their_word(seed: int, overlap: float) -> None:
    random, made = np.random.default_rng(seed), torch.Generator().manual_seed(seed)
    types = np.arange(FIRST, SIZE)
    image = Transliterate(overlap).image(SIZE)
    told = random.permutation(types)[:9]
    asked = Types(types, image, np.stack([told, image[told]], axis=1), np.ones(SIZE, np.int64))
    source = torch.randn(SIZE, 4, generator=made)
    alignment = asked.alignment(torch.cat([source, source + torch.randn(SIZE, 4, generator=made)]))
    words = random.integers(0, 15, SIZE)  # types of one number are forms of one word
    mates = {i: frozenset(j for j in types.tolist() if j != i and words[j] == words[i]) for i in types.tolist()}
    found = dict(zip(types[asked.moved].tolist(), alignment.forward.tolist(), strict=True))
    groups: dict[str, list[bool]] = {"held-out-form": [], "held-out-lemma": []}
    for i, hit in found.items():
        if i not in told and mates[i]:
            groups["held-out-form" if mates[i] & {*told.tolist()} else "held-out-lemma"].append(hit)
    records = form_alignment(asked, alignment, mates, "run", "trans", 7)
    assert {r.metric: (r.value, r.count) for r in records} == {
        metric: (np.mean(hits), len(hits)) for metric, hits in groups.items() if hits
    }
    assert all((r.measure, r.run, r.language, r.step) == ("alignment", "run", "trans", 7) for r in records)
