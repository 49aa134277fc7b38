"""One reading of links as an aligner, and which folders it takes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer, models
from transformers import AutoModel

from analysis.aligners.methods import OT
from analysis.aligners.similarity import EncoderAligner
from derive.errors import BadInput
from derive.links.aligner import Pair

LAYER = 2


def test_scores_and_matrix_agree(roberta: Path, sentence_pairs: list[Pair]) -> None:
    aligner = EncoderAligner.open(roberta, OT, LAYER)
    for pair, scored in zip(sentence_pairs[:9], aligner.align_scored(sentence_pairs[:9]), strict=True):
        matrix = aligner.matrix(pair)
        assert matrix.shape == (len(pair[0]), len(pair[1]))
        assert np.nanmax(matrix) <= 1 + 1e-5
        assert all(0 < score <= matrix[link] + 1e-5 for link, score in scored.items())


def test_an_aligner_is_called_by_its_method_layer_and_rows(roberta: Path) -> None:
    assert EncoderAligner.open(roberta, OT, LAYER).name == "ot, layer 2"
    assert EncoderAligner.open(roberta, OT, 0, joint=True).name == "ot, layer 0, joint"


def test_models_that_cannot_be_used(bert: Path, roberta: Path, tmp_path: Path) -> None:
    def refused(folder: Path, layer: int = LAYER) -> str:
        with pytest.raises(BadInput) as error:
            EncoderAligner.open(folder, OT, layer)
        return str(error.value)

    assert "no layer 8: the model has 3" in refused(roberta, 8)
    assert "no layer -1" in refused(roberta, -1)
    with pytest.raises(BadInput, match="cannot compute on 'abacus'"):
        EncoderAligner.open(roberta, OT, LAYER, device="abacus")
    assert "no model here" in refused(tmp_path / "nothing")
    bare = tmp_path / "bare"
    bare.mkdir()
    for name in ("config.json", "model.safetensors"):
        (bare / name).write_bytes((bert / name).read_bytes())
    (bare / "tokenizer.json").write_text("{}")
    assert "no tokenizer that can be read" in refused(bare)
    (bare / "tokenizer.json").unlink()
    assert "neither tokenizer.json nor vocab.txt" in refused(bare)
    for model, message in (
        (models.BPE({"the": 0}, []), "maps a letter to nothing"),
        (models.WordLevel({"the": 0}), "cannot encode all words: WordLevel error"),
    ):
        Tokenizer(model).save(str(bare / "tokenizer.json"))
        assert message in refused(bare)
    (bare / "tokenizer.json").write_bytes((roberta / "tokenizer.json").read_bytes())
    assert "types for a model of" in refused(bare)
    (bare / "model.safetensors").write_bytes(b"no weights")
    assert refused(bare).startswith(str(bare / "model.safetensors"))
    broken = AutoModel.from_pretrained(bert)
    broken.encoder.layer[0].output.dense.weight.data[0, 0] = torch.nan
    broken.save_pretrained(tmp_path / "nan")
    (tmp_path / "nan" / "tokenizer.json").write_bytes((bert / "tokenizer.json").read_bytes())
    aligner = EncoderAligner.open(tmp_path / "nan", OT, LAYER)
    with pytest.raises(BadInput, match="not finite"):
        list(aligner.align([(("the",), ("the",))]))
