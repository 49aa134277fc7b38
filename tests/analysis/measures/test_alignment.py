from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import save_file

from calque.analysis.measures.alignment import Types, form_alignment
from calque.analysis.records.record import MeasuredModel
from calque.derive.script import Transliterate
from calque.derive.types import OURS
from calque.pretrain.architecture import ROBERTA

FIRST = len(OURS.ids)
NUMBERS = (0, 1), 0, 0
"""Token types of two languages; every type has an image."""


def toy_types(size=30, overlap=0.0):
    image = Transliterate(overlap).image(size)
    counts = np.arange(size) % 4  # a quarter of the types never occur
    types = np.flatnonzero(counts[FIRST:]) + FIRST
    return Types(types, image, types[::3], counts, np.arange(size), *NUMBERS)


def test_language_embeddings_are_added_to_a_copy():
    types, random = toy_types(), torch.Generator().manual_seed(0)
    rows, languages = torch.randn(30, 8, generator=random), 5 * torch.randn(3, 8, generator=random)
    table = torch.cat([rows - languages[0], rows - languages[1]])
    before = table.clone()
    assert types.alignment(table, languages).forward.all()
    assert not types.alignment(table).forward.all()
    assert torch.equal(table, before)


FORMS = 40


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 99), st.sampled_from([0.0, 0.5]))
def test_types_are_grouped_by_dictionary_forms(seed, overlap):
    random, made = np.random.default_rng(seed), torch.Generator().manual_seed(seed)
    occurring = np.arange(FIRST, FORMS)
    image = Transliterate(overlap).image(FORMS)
    told = random.permutation(occurring)[:9]
    types = Types(occurring, image, told, np.ones(FORMS, np.int64), np.arange(FORMS), *NUMBERS)
    source = torch.randn(FORMS, 4, generator=made)
    table = torch.cat([source, source + torch.randn(FORMS, 4, generator=made)])
    alignment = types.alignment(table)
    words = random.integers(0, 15, FORMS)  # types of one number are forms of one word
    mates = {
        i: frozenset(j for j in occurring.tolist() if j != i and words[j] == words[i])
        for i in occurring.tolist()
    }
    found = dict(zip(occurring[types.moved].tolist(), alignment.forward.tolist(), strict=True))
    groups = {"held-out-form": [], "held-out-lemma": []}
    for i, hit in found.items():
        if i not in told and mates[i]:
            groups["held-out-form" if mates[i] & {*told.tolist()} else "held-out-lemma"].append(hit)
    with TemporaryDirectory() as folder:
        weights = {ROBERTA.word_embeddings: table, ROBERTA.language_embeddings: torch.zeros(1, 4)}
        save_file(weights, Path(folder, "model.safetensors"))
        records = form_alignment(MeasuredModel(Path(folder), "run", "trans", step=7), types, mates).records
    assert {r.metric: (r.value, r.count) for r in records} == {
        metric: (np.mean(hits), len(hits)) for metric, hits in groups.items() if hits
    }
    assert all((r.measure, r.run, r.language, r.step) == ("alignment", "run", "trans", 7) for r in records)
