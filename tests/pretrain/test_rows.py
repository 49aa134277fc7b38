"""Models with rows of some types: exact while they are trained, whole again when they are finished."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch.nn import functional as F
from transformers import AutoModel, AutoModelForMaskedLM, AutoTokenizer, BertModel, pipeline

from calque.derive.errors import BadInput
from calque.derive.files import MANIFEST
from calque.derive.languages import Languages
from calque.derive.natural.build import derive_natural
from calque.derive.types import OURS
from calque.derive.vocabulary import GivenVocabulary
from calque.pretrain.architecture import BERT, ROBERTA, XLM_R, Architecture
from calque.pretrain.batch import UNLABELLED, Rows
from calque.pretrain.distributed import one_process
from calque.pretrain.model import prediction_loss
from calque.pretrain.objectives.xlm_align import XLMAlign
from calque.pretrain.run import Pretraining, pretrain
from calque.pretrain.saved_model import TOKENIZER
from calque.pretrain.start import put_back, with_rows
from tests.derive.natural.made import EN, inputs
from tests.derive.test_spelling import given_vocabulary
from tests.pretrain.made import MODEL, SIZE, STILL, TRAIN, stop_at
from tests.pretrain.test_architecture import EACH, foreign
from tests.vocabularies import read_as_saved

LONG = replace(MODEL, length=96)
"""The toy tokenizers cut words into few letters each."""
V = 2 * SIZE
KEPT = np.union1d(np.arange(len(OURS.ids)), np.arange(7, V, 3))
"""A third of the types."""
WEIGHTS = "model.safetensors"


def masked_model(spelt: Architecture, **changes: Any) -> Any:
    torch.manual_seed(3)
    model = spelt.masked_model(foreign(spelt, **changes)).train()
    with torch.no_grad():
        model.get_output_embeddings().bias.normal_()
    return model


def rows_of(ids: torch.Tensor, asked: torch.Tensor) -> Rows:
    return Rows(ids, torch.where(asked, ids, UNLABELLED), torch.zeros_like(ids), padded=True)


def batch(among: np.ndarray) -> tuple[Rows, Rows]:
    """Padded rows of types among these, and the same with the numbers that they have there."""
    random = np.random.default_rng(0)
    places = random.integers(len(OURS.ids), len(among), (4, STILL.length))
    places[::2, 20:] = OURS.pad
    asked = torch.from_numpy((random.random(places.shape) < 0.3) & (places != OURS.pad))
    return rows_of(torch.from_numpy(among[places]), asked), rows_of(torch.from_numpy(places), asked)


@EACH
@pytest.mark.parametrize("tied", [True, False])
def test_the_loss_is_transformers_with_the_other_logits_at_minus_infinity(spelt: Architecture, tied: bool) -> None:
    model = masked_model(spelt, tie_word_embeddings=tied)
    few = with_rows(model, KEPT, OURS.pad)
    whole, own = batch(KEPT)
    ours = prediction_loss(few, own)
    ours.backward()
    logits = model(input_ids=whole.ids, attention_mask=(whole.ids != OURS.pad).long()).logits
    others = torch.ones(V, dtype=torch.bool).index_fill(0, torch.from_numpy(KEPT), False)
    theirs = F.cross_entropy(
        logits.masked_fill(others, -torch.inf).flatten(0, 1), whole.labels.flatten(), reduction="sum"
    )
    theirs.backward()
    torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=0)
    (mine, there) = (one.get_input_embeddings().weight.grad for one in (few, model))
    torch.testing.assert_close(mine, there[KEPT], rtol=1e-4, atol=1e-5)
    assert mine.shape == (len(KEPT), STILL.hidden) and not there[others].any()
    assert (few.get_output_embeddings().weight is few.get_input_embeddings().weight) == tied


@EACH
def test_with_all_rows_the_loss_is_the_same_to_the_last_bit(spelt: Architecture) -> None:
    model = masked_model(spelt)
    whole, same = batch(np.arange(V))
    assert prediction_loss(with_rows(model, np.arange(V), OURS.pad), same).equal(prediction_loss(model, whole))


@EACH
@pytest.mark.parametrize("tied", [True, False])
def test_rows_that_were_trained_are_put_back_and_the_others_stay(spelt: Architecture, tied: bool) -> None:
    model = masked_model(spelt, tie_word_embeddings=tied)
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    few = with_rows(model, KEPT, OURS.pad)
    put_back(few, KEPT, model)
    assert all(tensor.equal(before[name]) for name, tensor in model.state_dict().items())
    with torch.no_grad():
        for parameter in few.parameters():
            parameter += 1
    put_back(few, KEPT, model)
    others, of_types = np.setdiff1d(np.arange(V), KEPT), 0
    for name, tensor in model.state_dict().items():
        if len(before[name]) == V:
            of_types += 1
            assert tensor[others].equal(before[name][others])
            assert tensor[KEPT].equal(before[name][KEPT] + 1)
        elif before[name].is_floating_point():
            assert tensor.equal(before[name] + 1)
    assert of_types == 4  # the table and the bias, each by two names


def test_padding_s_row_may_move_where_positions_do_not_count_from_it() -> None:
    kept = np.delete(np.arange(V), 0)
    ids, here = torch.tensor([[9, 8, OURS.pad]]), torch.tensor([[8, 7, OURS.pad - 1]])
    bert = masked_model(BERT)
    few, asked = with_rows(bert, kept, OURS.pad - 1), torch.tensor([[True, False, False]])
    with torch.no_grad():
        whole = bert(input_ids=ids, attention_mask=(ids != OURS.pad).long()).logits[:, 0, 1:].log_softmax(1)[0, 8]
        assert float(prediction_loss(few, rows_of(here, asked))) == pytest.approx(-float(whole), rel=1e-5)
    with pytest.raises(BadInput, match="positions start after padding's id, 1, so all types before it need rows"):
        with_rows(masked_model(ROBERTA), kept, OURS.pad - 1)


KINDS = {"unigram": (XLM_R, XLM_R.masked_model), "wordpiece": (BERT, BertModel)}


@pytest.fixture(scope="module", params=KINDS)
def given(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Natural languages, `made`, and a model in float16 to begin with, `start`: XLM-R with a head, BERT without."""
    folder, (spelt, kind) = tmp_path_factory.mktemp("natural"), KINDS[request.param]
    tokenizer = given_vocabulary(request.param)
    tokenizer.add_tokens(["@@@", "%%%"])
    (folder / "start").mkdir()
    tokenizer.save(str(folder / "start" / TOKENIZER))
    read_as_saved(folder / "start")
    derive_natural(*inputs(folder), GivenVocabulary(folder / "start"), folder / "made")
    whole = Languages.open(folder / "made", ["en", "xx"]).whole
    torch.manual_seed(7)
    pad = whole.specials.pad
    length = LONG.length + (pad + 1 if spelt.counts_from_padding else 0)
    changes = {"pad_token_id": pad, "max_position_embeddings": length}
    kind(foreign(spelt, whole.size + 3, **changes)).half().save_pretrained(folder / "start")
    return folder


def config(given: Path, **changes: Any) -> Pretraining:
    languages = Languages.open(given / "made", ("en", "xx"))
    return replace(Pretraining(languages, XLMAlign(), LONG, TRAIN, 1, given / "start"), **changes)


@pytest.fixture(scope="module")
def checkpoint(given: Path) -> Path:
    """A finished run of some steps; what had to be drawn is told."""
    messages = list[str]()
    made = pretrain(given / "run", config(given), one_process(), tell=messages.append)
    head = "lm_head.bias" in load_file(given / "start" / WEIGHTS)
    assert messages == ([] if head else ["random, because the starting model lacks them: the prediction head"])
    return made


def test_a_checkpoint_is_whole_and_the_rows_that_no_text_uses_are_the_start_s(given: Path, checkpoint: Path) -> None:
    languages = Languages.open(given / "made", ["en", "xx"])
    before, after = load_file(given / "start" / WEIGHTS), load_file(checkpoint / WEIGHTS)
    kept = languages.kept
    assert kept is not None and len(kept) < languages.whole.size
    (table,) = (name for name in after if name.endswith("word_embeddings.weight"))
    others = np.setdiff1d(np.arange(len(after[table])), kept)
    start = next(tensor for name, tensor in before.items() if table.endswith(name)).float()
    assert after[table][others].equal(start[others]) and len(others) > 3
    assert (after[table][kept] != start[kept]).any(1).all()  # the softmax reaches each of them
    (bias,) = (tensor for name, tensor in after.items() if name in ("lm_head.bias", "cls.predictions.bias"))
    old = before.get("lm_head.bias", torch.zeros(len(start))).float()
    assert bias[others].equal(old[others]) and (bias[kept] != old[kept]).all()
    drawn = json.loads((given / "run" / MANIFEST).read_text(encoding="utf-8"))["drawn"]
    assert drawn == ([] if "lm_head.bias" in before else ["the prediction head"])


def test_a_checkpoint_fills_masks_as_any_model_does(given: Path, checkpoint: Path) -> None:
    tokenizer, model = AutoTokenizer.from_pretrained(checkpoint), AutoModelForMaskedLM.from_pretrained(checkpoint)
    assert model.config.vocab_size == len(model.get_input_embeddings().weight)
    assert model.config.pad_token_id == tokenizer.pad_token_id
    start, specials = (
        Tokenizer.from_file(str(given / "start" / TOKENIZER)),
        Languages.open(given / "made", ["en"]).whole.specials,
    )
    for line in EN[:5]:
        ids = start.encode(line, add_special_tokens=False).ids
        assert tokenizer(line).input_ids == [specials.start, *ids, specials.end]
    text = EN[0].replace(EN[0].split()[1], tokenizer.mask_token, 1)
    filled = pipeline("fill-mask", model=str(checkpoint))(text)
    assert len(filled) == 5 and all(0 < one["score"] <= 1 for one in filled)
    assert filled[0]["score"] >= filled[-1]["score"]


def test_a_run_goes_on_to_the_same_bits_with_states_of_the_kept_rows(given: Path, checkpoint: Path) -> None:
    stopped = given / "stopped"
    stop_at(stopped, config(given), 7)
    (state,) = (stopped / "resume").iterdir()
    kept = Languages.open(given / "made", ["en", "xx"]).rows
    moments = load_file(state / "optimizer.safetensors")
    table = ("word_embeddings.weight", "decoder.weight")  # it has two names
    assert [m.shape for name, m in moments.items() if "exp_avg." in name and name.endswith(table)] == [
        (kept, LONG.hidden)
    ]
    moved = given / "elsewhere"
    shutil.move(given / "start", moved)
    with pytest.raises(BadInput, match=r"no weights: expected model\.safetensors"):
        pretrain(stopped, config(given), one_process())
    shutil.move(moved, given / "start")
    other = pretrain(stopped, config(given), one_process())
    assert (other / WEIGHTS).read_bytes() == (checkpoint / WEIGHTS).read_bytes()


def test_a_start_that_changes_meanwhile_is_told_before_the_checkpoint(given: Path) -> None:
    weights = given / "start" / WEIGHTS
    before = weights.read_bytes()

    def change(step: int, steps: int) -> None:
        weights.write_bytes(before[:-2] + b"xx")

    try:
        with pytest.raises(BadInput, match="the weights have changed since the run started"):
            pretrain(given / "changed", config(given), one_process(), progress=change)
    finally:
        weights.write_bytes(before)
    assert not (given / "changed" / "checkpoint").exists()
    assert (given / "changed" / "resume").is_dir()  # from where it goes on


def test_a_model_that_is_drawn_keeps_rows_too(given: Path, tmp_path: Path) -> None:
    checkpoint = pretrain(tmp_path / "drawn", config(given, start=None), one_process())
    languages = Languages.open(given / "made", ["en", "xx"])
    model = AutoModelForMaskedLM.from_pretrained(checkpoint)
    assert len(model.get_input_embeddings().weight) == languages.whole.size > languages.rows


def test_all_rows_may_be_trained(given: Path, tmp_path: Path) -> None:
    """Each type is one that a prediction may be, so that each row gets a gradient."""
    derive_natural(*inputs(tmp_path), GivenVocabulary(given / "start"), tmp_path / "all", rows="all")
    checkpoint = pretrain(
        tmp_path / "run", config(given, languages=Languages.open(tmp_path / "all", ["en", "xx"])), one_process()
    )
    before = AutoModel.from_pretrained(given / "start", dtype=torch.float32).get_input_embeddings().weight
    after = AutoModel.from_pretrained(checkpoint).get_input_embeddings().weight
    changed = (after != before).any(1)
    assert changed[: Languages.open(tmp_path / "all", ["en"]).rows].all()
