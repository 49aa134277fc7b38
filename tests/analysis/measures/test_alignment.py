"""alignment@1: against brute force, its laws, and the checkpoints that it reads."""

import dataclasses
import json
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import save_file
from transformers import RobertaConfig, RobertaForMaskedLM

from calque.analysis.measures.alignment import (
    Types,
    alignment_of_checkpoint,
    form_alignment,
    type_alignment,
)
from calque.analysis.records.record import MeasuredModel, Measurement
from calque.derive.build import derive_languages
from calque.derive.dictionary import DictionaryConfig
from calque.derive.errors import BadInput
from calque.derive.languages import Languages
from calque.derive.pocket.language import Pocket
from calque.derive.script import Transliterate
from calque.derive.sources.pocket import PocketEnglish, Sizes
from calque.derive.types import OURS
from calque.pretrain.architecture import ROBERTA

FEW = Sizes(1, 1, 1)
FIRST = len(OURS.ids)
"""The first id that is not special."""
NUMBERS = (0, 1), 0, 0
"""The token types of two languages, any number of rows, and no type without an image."""


def test_a_row_that_is_not_finite_is_refused() -> None:
    table = torch.ones(60, 2)
    table[FIRST + 1, 0] = torch.nan
    with pytest.raises(ValueError, match="not finite"):
        toy_types().alignment(table)


def toy_types(size: int = 30, overlap: float = 0.0) -> Types:
    image = Transliterate(overlap).image(size)
    counts = np.arange(size) % 4  # a quarter of the types never occur
    types = np.flatnonzero(counts[FIRST:]) + FIRST
    return Types(types, image, types[::3], counts, np.arange(size), *NUMBERS)


def test_language_embeddings_are_added_and_the_table_is_left_as_it_is() -> None:
    types, random = toy_types(), torch.Generator().manual_seed(0)
    rows, languages = torch.randn(30, 8, generator=random), 5 * torch.randn(3, 8, generator=random)
    table = torch.cat([rows - languages[0], rows - languages[1]])
    before = table.clone()
    assert types.alignment(table, languages).forward.all()
    assert not types.alignment(table).forward.all()
    assert torch.equal(table, before)


def small_model(size: int, languages: int) -> RobertaForMaskedLM:
    torch.manual_seed(0)
    config = RobertaConfig(vocab_size=2 * size, hidden_size=8, num_hidden_layers=1, num_attention_heads=2,
                           intermediate_size=8, type_vocab_size=languages, initializer_range=0.5)  # fmt: skip
    return RobertaForMaskedLM(config)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pocket English in a new script."""
    source, out = PocketEnglish(Pocket(types=300), 50, FEW, FEW, FEW), tmp_path_factory.mktemp("data")
    return derive_languages(source, [Transliterate()], 270, DictionaryConfig(), out / "data", out / "cache")


def size_of(data: Path) -> int:
    return Languages.open(data, ["trans"]).size


def test_weights_that_do_not_fit_are_refused(data: Path, tmp_path: Path) -> None:
    size = size_of(data)
    types = Types.open(data, "trans")
    with pytest.raises(BadInput, match="expected the weights"):
        alignment_of_checkpoint(tmp_path / "nowhere", types)
    small_model(size + 1, 1).save_pretrained(tmp_path / "other")
    with pytest.raises(BadInput, match=f"{2 * size + 2} word embeddings; expected the languages' {2 * size}"):
        alignment_of_checkpoint(tmp_path / "other", types)
    weights = tmp_path / "other" / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:100])
    with pytest.raises(BadInput, match="expected the weights"):
        alignment_of_checkpoint(tmp_path / "other", types)


def test_alignment_over_training_ends_with_the_checkpoints(data: Path, tmp_path: Path) -> None:
    small_model(size_of(data), 1).save_pretrained(tmp_path)
    (tmp_path / "metrics.jsonl").write_text(json.dumps({"step": 100, "probe": {"all": 0.1}}) + "\n")
    types, model = Types.open(data, "trans"), MeasuredModel(tmp_path, "run", "trans", step=1300)
    first, *final = type_alignment(model, types, tmp_path / "metrics.jsonl", before=1000).records
    assert (first.metric, first.value, first.step, first.language) == ("all", 0.1, 1100, "trans")
    alignment = alignment_of_checkpoint(tmp_path, types)
    assert {record.metric: (record.value, record.count) for record in final} == alignment.shares
    still = dataclasses.replace(types, image=types.own)
    assert type_alignment(model, still, tmp_path / "metrics.jsonl") == Measurement()


FORMS = 40
"""Types of a vocabulary whose words have forms."""


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 99), st.sampled_from([0.0, 0.5]))
def test_types_are_counted_by_what_the_dictionary_has_of_their_word(seed: int, overlap: float) -> None:
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
    groups: dict[str, list[bool]] = {"held-out-form": [], "held-out-lemma": []}
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
