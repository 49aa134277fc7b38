"""Loss on text that no model has read: against transformers' own, and its laws."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import RobertaForMaskedLM

from analysis.measures import held_out
from analysis.measures.held_out import held_out_records
from analysis.records.record import HELD_OUT
from derive.build import derive_languages
from derive.dictionary import DictionaryConfig
from derive.errors import BadInput
from derive.languages import Languages, only_last
from derive.pocket.language import Pocket
from derive.script import Transliterate
from derive.sources.pocket import PocketEnglish, Sizes
from pretrain.mask import MASK_RATE
from pretrain.objectives.mlm import Monolingual
from tests.analysis.conftest import MakeCheckpoint

FEW, CPU = Sizes(1, 1, 1), torch.device("cpu")
LENGTH, SHARE = 24, 0.25
Losses = dict[str, tuple[float, int]]


@pytest.fixture(scope="module")
def languages(tmp_path_factory: pytest.TempPathFactory) -> Languages:
    folder = tmp_path_factory.mktemp("held")
    source = PocketEnglish(Pocket(types=300), 400, FEW, FEW, FEW)
    clones = Transliterate(), Transliterate(script=2)
    derive_languages(source, clones, 400, DictionaryConfig(), folder / "data", folder / "cache")
    return Languages.open(folder / "data", ["trans", "trans2"])


def measured(checkpoint: Path, languages: Languages, seed: int = 0) -> Losses:
    made = held_out_records(checkpoint, languages, SHARE, "run", 7, CPU, seed)
    assert {(r.run, r.measure, r.metric, r.step) for r in made} == {("run", HELD_OUT, "nats", 7)}
    return {record.language: (record.value, record.count) for record in made}


@pytest.mark.parametrize("token_types", [1, 4])
def test_it_is_what_transformers_says(languages: Languages, token_types: int, make_checkpoint: MakeCheckpoint) -> None:
    checkpoint = make_checkpoint(languages.rows, languages=token_types, length=LENGTH)
    model = RobertaForMaskedLM.from_pretrained(checkpoint).eval()
    stream, first = Monolingual(only_last(languages, SHARE), LENGTH, MASK_RATE), 0
    found = measured(checkpoint, languages)
    for number, ((name,), rows) in enumerate(stream.parts.items()):
        assert rows < held_out.ROWS, "one batch a language, so that masks are drawn here as there"
        batch, counts = stream.draw(range(first, first + rows), np.random.default_rng(0))
        with torch.no_grad():
            kinds = torch.full_like(batch.ids, number if token_types > 1 else 0)
            theirs = model(input_ids=batch.ids, token_type_ids=kinds, labels=batch.labels).loss
        assert found[name] == (pytest.approx(float(theirs), rel=1e-5), counts["mlm"])
        first += rows


def test_clones_with_the_same_rows_have_the_same_loss(
    languages: Languages, make_checkpoint: MakeCheckpoint, tmp_path: Path
) -> None:
    """They are asked for the same ids, and a model that takes them for one language answers alike."""
    model = RobertaForMaskedLM.from_pretrained(make_checkpoint(languages.rows, length=LENGTH))
    with torch.no_grad():
        words = model.roberta.embeddings.word_embeddings.weight
        for language in languages.languages[1:]:
            words[torch.from_numpy(language.table)] = words[: languages.size].clone()
    model.save_pretrained(tmp_path)
    found = measured(tmp_path, languages)
    assert found["trans"] == found["trans2"]
    assert found["source"] == (pytest.approx(found["trans"][0], rel=1e-6), found["trans"][1])


def test_the_same_seed_asks_for_the_same_ids(languages: Languages, make_checkpoint: MakeCheckpoint) -> None:
    checkpoint = make_checkpoint(languages.rows, length=LENGTH)
    assert measured(checkpoint, languages) == measured(checkpoint, languages)
    assert measured(checkpoint, languages) != measured(checkpoint, languages, seed=1)


def test_too_little_text_is_refused(languages: Languages, make_checkpoint: MakeCheckpoint) -> None:
    checkpoint = make_checkpoint(languages.rows, length=200)
    with pytest.raises(BadInput, match="does not fill one row"):
        held_out_records(checkpoint, languages, 0.01, "run", 7, CPU)
