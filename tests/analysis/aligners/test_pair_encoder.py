import json
import random
from shutil import copytree

import pytest
import torch
from tokenizers import Tokenizer, models
from transformers import AutoModel, PreTrainedTokenizerFast, T5Config, ViTConfig

from calque.analysis import aligners
from calque.analysis.aligners import BY_NAME, OT, EncoderAligner, open_encoder
from calque.derive.errors import BadInput
from tests.analysis.conftest import LENGTH, opened
from tests.refusals import refusal

LAYER = 2


def one_by_one(folder, method, pair, joint, marks):
    """The links of one pair by their definition: the whole model, no batch, no padding."""
    tokenizer = PreTrainedTokenizerFast(tokenizer_file=str(folder / "tokenizer.json"))
    model = AutoModel.from_pretrained(folder, add_pooling_layer=False).eval()
    pieces = [[tokenizer(f" {word}", add_special_tokens=False).input_ids for word in side] for side in pair]
    places = [[place for place, ids in enumerate(side) for _ in ids] for side in pieces]
    source, target = ([i for ids in side for i in ids] for side in pieces)
    start, end = marks

    def hidden(row, first):
        second = tokenizer("a", "a", return_token_type_ids=True).token_type_ids[-1]
        kinds = [second * (model.config.type_vocab_size > 1 and place >= first) for place in range(len(row))]
        inputs = {"input_ids": torch.tensor([row]), "token_type_ids": torch.tensor([kinds])}
        with torch.no_grad():
            return model(**inputs, output_hidden_states=True).hidden_states[LAYER]

    if joint:
        row = [start, *source, end, *target, end]
        states = hidden(row, len(source) + 2)
        sides = states[:, 1 : 1 + len(source)], states[:, 2 + len(source) : -1]
    else:
        sides = tuple(hidden([start, *ids, end], LENGTH)[:, 1:-1] for ids in (source, target))
    if method.words:
        counts = ([len(ids) for ids in side] for side in pieces)
        means = (
            [part.mean(1) for part in side.split(sizes, 1)] for side, sizes in zip(sides, counts, strict=True)
        )
        sides = tuple(torch.stack(side, 1) for side in means)
        places = [list(range(len(side))) for side in pieces]
    every = [torch.ones(1, side.shape[1], dtype=torch.bool) for side in sides]
    links = method.extract(method.score(*sides, *every), *every).tolist()
    added = one_by_one(folder, method.also, pair, joint, marks) if method.also else []
    return sorted({*added, *((places[0][i], places[1][j]) for _, i, j in links)})


@pytest.mark.parametrize("joint", [False, True])
@pytest.mark.parametrize("family", ["roberta", "bert", "bert whose padding is [CLS]"])
def test_batched_links_equal_links_of_single_pairs(family, joint, sentence_pairs, request, tmp_path):
    kind, _, other_padding = family.partition(" ")
    folder, marks = request.getfixturevalue(kind), {"roberta": (0, 2), "bert": (2, 3)}[kind]
    if other_padding:
        folder = copytree(folder, tmp_path / "model")
        config = json.loads((folder / "config.json").read_text())
        (folder / "config.json").write_text(json.dumps(config | {"pad_token_id": marks[0]}))
    pairs = sentence_pairs[:12]
    for method in BY_NAME.values():
        aligner = opened(folder, method, LAYER, joint)
        expected = [one_by_one(folder, method, pair, joint, marks) for pair in pairs]
        assert list(aligner.align(pairs)) == expected and not aligner.left_out


def test_links_do_not_depend_on_other_pairs(roberta, sentence_pairs, monkeypatch):
    aligner = EncoderAligner.open(roberta, OT, LAYER)
    before = list(aligner.align(sentence_pairs))
    shuffled = list(range(len(sentence_pairs)))
    random.Random(0).shuffle(shuffled)
    after = list(aligner.align([sentence_pairs[i] for i in shuffled]))
    assert after == [before[i] for i in shuffled]
    monkeypatch.setattr(aligners, "WINDOW", 7)
    monkeypatch.setattr(aligners, "PAIR_IDS", 100)
    assert list(aligner.align(sentence_pairs)) == before


def test_pairs_without_links_are_counted(bert, roberta):
    long = tuple(["the"] * 1000)
    pairs = [((), ("the",)), (("the",), ()), (("the", "a"), ("the",)), (long, ("the", "the")), ((), ())]
    aligner = EncoderAligner.open(bert, OT, LAYER)
    found = list(aligner.align(pairs))
    assert [bool(links) for links in found] == [False, False, True, True, False]
    assert (0, 0) in found[2]
    assert all(i < LENGTH - 2 for i, _ in found[3])
    assert [*aligner.left_out.values()] == [3, 1000 - (LENGTH - 2)]
    joint = opened(roberta, OT, LAYER, True)
    assert all(list(joint.align([(long, long), (("the",), long), (long, ("the",))])))
    room = LENGTH - 3  # <s> S </s> T </s>
    beyond = [2000 - room, 1001 - room, 1001 - room]
    assert [*joint.left_out.values()] == [sum(beyond)]


def test_unusable_models_are_rejected(bert, roberta, tmp_path):
    def refused(folder):
        return refusal(EncoderAligner.open, folder, OT, LAYER)

    bare = tmp_path / "bare"
    bare.mkdir()
    for name in ("config.json", "model.safetensors"):
        (bare / name).write_bytes((bert / name).read_bytes())
    (bare / "tokenizer.json").write_text("{}")
    assert "cannot read this tokenizer" in refused(bare)
    Tokenizer(models.BPE({"the": 0}, [])).save(str(bare / "tokenizer.json"))
    assert "lacks a special type" in refused(bare)
    tokenizer = Tokenizer.from_file(str(bert / "tokenizer.json"))
    tokenizer.model.unk_token = "missing"
    tokenizer.save(str(bare / "tokenizer.json"))
    aligner = EncoderAligner.open(bare, OT, LAYER)
    assert "cannot encode some words" in refusal(list, aligner.align([(("日",), ("the",))]))
    (bare / "tokenizer.json").write_bytes((roberta / "tokenizer.json").read_bytes())
    assert "types, but the model has only" in refused(bare)
    (bare / "model.safetensors").write_bytes(b"no weights")
    assert refused(bare).startswith(str(bare / "model.safetensors"))
    broken = AutoModel.from_pretrained(bert)
    broken.encoder.layer[0].output.dense.weight.data.fill_(3e38)  # overflows
    broken.save_pretrained(tmp_path / "large")
    (tmp_path / "large" / "tokenizer.json").write_bytes((bert / "tokenizer.json").read_bytes())
    aligner = EncoderAligner.open(tmp_path / "large", OT, LAYER)
    with pytest.raises(BadInput, match="not finite"):
        list(aligner.align([(("the",), ("the",))]))


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (ViTConfig(), "type 'vit' are not supported; supported types are roberta, xlm-roberta, bert"),
        (T5Config(), "type 't5' are not supported"),
    ],
)
def test_other_kinds_of_models_are_rejected(tmp_path, config, message):
    config.save_pretrained(tmp_path)
    with pytest.raises(BadInput, match=message):
        open_encoder(tmp_path)
