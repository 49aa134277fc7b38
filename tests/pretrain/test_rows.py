import shutil
from dataclasses import replace

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from torch.nn import functional as F
from transformers import BertModel, XLMRobertaForMaskedLM

from calque.derive.errors import BadInput
from calque.derive.languages import Languages
from calque.derive.natural import derive_natural
from calque.derive.vocabulary import OURS, TOKENIZER
from calque.pretrain.batch import UNLABELLED, Rows
from calque.pretrain.model import prediction_loss
from calque.pretrain.objectives.xlm import XLMAlign
from calque.pretrain.run import Pretraining
from calque.pretrain.saved_model import put_back, with_rows
from tests.derive.natural.made import inputs
from tests.derive.test_spelling import given_vocabulary
from tests.pretrain.made import MODEL, SIZE, STILL, TRAIN, pretrain, stop_at
from tests.pretrain.test_start import EACH, foreign, longest
from tests.vocabularies import read_as_saved

LONG = replace(MODEL, length=96)
V = 2 * SIZE
KEPT = np.union1d(np.arange(len(OURS.ids)), np.arange(7, V, 3))
WEIGHTS = "model.safetensors"


def masked_model(kind, **changes):
    torch.manual_seed(3)
    model = kind(foreign(kind, **changes)).train()
    with torch.no_grad():
        model.get_output_embeddings().bias.normal_()
    return model


def rows_of(ids, asked):
    return Rows(ids, torch.where(asked, ids, UNLABELLED), torch.zeros_like(ids), padded=True)


def batch(among):
    random = np.random.default_rng(0)
    places = random.integers(len(OURS.ids), len(among), (4, STILL.length))
    places[::2, 20:] = OURS.pad
    asked = torch.from_numpy((random.random(places.shape) < 0.3) & (places != OURS.pad))
    return rows_of(torch.from_numpy(among[places]), asked), rows_of(torch.from_numpy(places), asked)


@EACH
@pytest.mark.parametrize("tied", [True, False])
def test_loss_masks_the_logits_of_other_rows(kind, tied):
    model = masked_model(kind, tie_word_embeddings=tied)
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
@pytest.mark.parametrize("tied", [True, False])
def test_trained_rows_are_put_back(kind, tied):
    model = masked_model(kind, tie_word_embeddings=tied)
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
    assert of_types == 4  # the table and the bias, each under two names


KINDS = {"unigram": XLMRobertaForMaskedLM, "wordpiece": BertModel}


@pytest.fixture(scope="module", params=KINDS)
def given(request, tmp_path_factory):
    """Natural languages in `made`, and in `start` a float16 model: XLM-R with a head, BERT without."""
    folder, kind = tmp_path_factory.mktemp("natural"), KINDS[request.param]
    tokenizer = given_vocabulary(request.param)
    tokenizer.add_tokens(["@@@", "%%%"])
    (folder / "start").mkdir()
    tokenizer.save(str(folder / "start" / TOKENIZER))
    read_as_saved(folder / "start")
    derive_natural(*inputs(folder), folder / "start", folder / "made")
    whole = Languages.open(folder / "made", ["en", "xx"]).whole
    torch.manual_seed(7)
    pad = whole.specials.pad
    changes = {"pad_token_id": pad, "max_position_embeddings": longest(kind, LONG.length, pad)}
    kind(foreign(kind, whole.size + 3, **changes)).half().save_pretrained(folder / "start")
    return folder


def config(given, **changes):
    languages = Languages.open(given / "made", ("en", "xx"))
    return replace(Pretraining(languages, XLMAlign(), LONG, TRAIN, 1, given / "start"), **changes)


@pytest.fixture(scope="module")
def checkpoint(given):
    return pretrain(given / "run", config(given))


def test_checkpoint_keeps_unused_rows_of_its_start(given, checkpoint):
    languages = Languages.open(given / "made", ["en", "xx"])
    before, after = load_file(given / "start" / WEIGHTS), load_file(checkpoint / WEIGHTS)
    kept = languages.kept
    assert len(kept) < languages.whole.size
    (table,) = (name for name in after if name.endswith("word_embeddings.weight"))
    others = np.setdiff1d(np.arange(len(after[table])), kept)
    start = next(tensor for name, tensor in before.items() if table.endswith(name)).float()
    assert after[table][others].equal(start[others]) and len(others) > 3
    assert (after[table][kept] != start[kept]).any(1).all()
    (bias,) = (tensor for name, tensor in after.items() if name in ("lm_head.bias", "cls.predictions.bias"))
    old = before.get("lm_head.bias", torch.zeros(len(start))).float()
    assert bias[others].equal(old[others]) and (bias[kept] != old[kept]).all()


def test_resumed_run_keeps_only_used_rows(given, checkpoint):
    stopped = given / "stopped"
    stop_at(stopped, config(given), 7)
    (state,) = (stopped / "resume").iterdir()
    kept = Languages.open(given / "made", ["en", "xx"]).rows
    moments = load_file(state / "optimizer.safetensors")
    table = ("word_embeddings.weight", "decoder.weight")
    shapes = [m.shape for name, m in moments.items() if "exp_avg." in name and name.endswith(table)]
    assert shapes == [(kept, LONG.hidden)]
    moved = given / "elsewhere"
    shutil.move(given / "start", moved)
    with pytest.raises(BadInput, match=r"no weights: expected model\.safetensors"):
        pretrain(stopped, config(given))
    shutil.move(moved, given / "start")
    other = pretrain(stopped, config(given))
    assert (other / WEIGHTS).read_bytes() == (checkpoint / WEIGHTS).read_bytes()
