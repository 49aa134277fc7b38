import json
import math
import shutil

import pytest
import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer
from transformers import (
    AutoModelForMaskedLM,
    AutoTokenizer,
    BertConfig,
    BertForMaskedLM,
    BertTokenizer,
    RobertaConfig,
    RobertaForMaskedLM,
    RobertaTokenizer,
    XLMRobertaConfig,
    XLMRobertaForMaskedLM,
    XLMRobertaTokenizer,
)
from transformers.utils.logging import disable_progress_bar

from calque.analysis.aligners import open_encoder, states
from calque.derive.vocabulary import open_vocabulary
from calque.pretrain.config import ModelConfig
from calque.pretrain.saved_model import check_start, load_model
from tests.refusals import refusal

MODEL = ModelConfig(layers=2, heads=2, hidden=16, ffn=32, length=30)
SIZES = {
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 32,
    "max_position_embeddings": 32,
    "initializer_range": 0.3,
}
WORDS = ["the", "House", "is", "RED", "hâus", "haus", "zebra", "中the"]
PIECES = (
    "[PAD] [UNK] [CLS] [SEP] [MASK] the house is red haus ##s zebra a <s> </s> <pad> <mask> <unk>".split()
)
TABLES = ("roberta.embeddings.word_embeddings.weight", "lm_head.decoder.weight")
LAYER = "encoder.layer.1.output.dense.weight"


@pytest.fixture(scope="module")
def originals(tmp_path_factory):
    disable_progress_bar()
    folder = tmp_path_factory.mktemp("originals")
    torch.manual_seed(0)
    BertTokenizer({piece: i for i, piece in enumerate(PIECES)}).save_pretrained(folder / "bert")
    BertForMaskedLM(BertConfig(vocab_size=len(PIECES), **SIZES)).save_pretrained(folder / "bert")
    letters = sorted({letter for word in WORDS for letter in word if letter.isascii()})
    types = ["<s>", "<pad>", "</s>", "<unk>", *letters, "Ġ", "Ġt", "Ġth", "<mask>"]
    merges = [("Ġ", "t"), ("Ġt", "h")]
    tokenizer = RobertaTokenizer({name: i for i, name in enumerate(types)}, merges)
    tokenizer.save_pretrained(folder / "roberta")
    config = RobertaConfig(vocab_size=len(types), type_vocab_size=1, pad_token_id=1, **SIZES)
    RobertaForMaskedLM(config).save_pretrained(folder / "roberta")
    types = ["<s>", "<pad>", "</s>", "<unk>", "▁", *letters, "▁the", "▁is", "<mask>"]
    XLMRobertaTokenizer([(name, -float(i)) for i, name in enumerate(types)]).save_pretrained(
        folder / "xlm-roberta"
    )
    config = XLMRobertaConfig(vocab_size=len(types), type_vocab_size=1, pad_token_id=1, **SIZES)
    XLMRobertaForMaskedLM(config).save_pretrained(folder / "xlm-roberta")
    return folder


def setting(file, removed=(), **values):
    def change(folder):
        path = folder / file
        settings = json.loads(path.read_text()) if path.exists() else {}
        kept = {name: value for name, value in (settings | values).items() if name not in removed}
        path.write_text(json.dumps(kept))

    return change


def weights(change):

    def save(folder):
        path = folder / "model.safetensors"
        save_file(dict(change(load_file(path))), path, metadata={"format": "pt"})

    return save


def file(name, content="{}"):
    def write(folder):
        (folder / name).write_text(content)

    return write


def gone(name):
    return lambda folder: (folder / name).unlink()


def both(*changes):
    def change(folder):
        for each in changes:
            each(folder)

    return change


def cut_and_padded(folder):
    path = str(folder / "tokenizer.json")
    tokenizer = Tokenizer.from_file(path)
    tokenizer.enable_truncation(3)
    tokenizer.enable_padding(length=9)
    tokenizer.save(path)


def random_ids(folder):
    path = folder / "tokenizer.json"
    state = json.loads(path.read_text())
    state["model"]["dropout"] = 0.5
    path.write_text(json.dumps(state))


def second_table(tensors):
    return tensors | {TABLES[1]: tensors[TABLES[0]] + 1}


def as_type(dtype, ending=""):
    return weights(
        lambda all_: {name: w.to(dtype) if name.endswith(ending) else w for name, w in all_.items()}
    )


CONFIG, TOKENIZER, OTHER = "config.json", "tokenizer.json", "tokenizer_config.json"
CLASS = setting(OTHER, tokenizer_class="PreTrainedTokenizerFast")
TABLE = {}


def row(name, kind, change, align=(), start=None):
    """Add a row: what the errors of `calque align` and of a study must name; nothing where the folder is
    read."""
    TABLE[name] = kind, change, align, align if start is None else start


for kind in ("bert", "roberta", "xlm-roberta"):
    row(f"{kind} as it is saved", kind, lambda folder: None)
    row(f"{kind} that is read as it is", kind, CLASS)
    row(f"{kind} without settings of the tokenizer", kind, gone(OTHER))
    row(f"{kind} cuts and pads", kind, cut_and_padded)
    row(f"{kind} other activation", kind, setting(CONFIG, hidden_act="relu", layer_norm_eps=0.01))
    row(f"{kind} in half precision", kind, both(as_type(torch.float16), setting(CONFIG, dtype="float16")))
    row(f"{kind} other rows", kind, setting(CONFIG, vocab_size=40), (CONFIG, "40"))
    few = setting(CONFIG, max_position_embeddings=40)
    row(f"{kind} other positions", kind, few, ("position_embeddings", CONFIG))
    types = setting(CONFIG, type_vocab_size=3)
    row(f"{kind} other token types", kind, types, ("token_type_embeddings", CONFIG))
row("pickle next to safetensors", "bert", file("pytorch_model.bin", "not read"))
row("int8", "bert", as_type(torch.int8, LAYER), ("model.safetensors", LAYER, "I8"))
row("other types", "roberta", both(file("vocab.json", '{"a": 0}'), file("merges.txt", "a a")))
row("a space before words", "roberta", setting(OTHER, add_prefix_space=True))
row("BERT without padding", "bert", setting(CONFIG, pad_token_id=None), (CONFIG, "pad_token_id"))
row("other padding", "roberta", setting(CONFIG, pad_token_id=2), (), (TOKENIZER, "1", "2"))
row(
    "not a number",
    "bert",
    weights(lambda all_: {**all_, f"bert.{LAYER}": all_[f"bert.{LAYER}"] * math.nan}),
    ("model.safetensors", "finite"),
)
row("adapter", "bert", file("adapter_config.json", "{}"), ("adapter_config.json", "model.safetensors"))
row("left to right", "bert", setting(CONFIG, is_decoder=True), (CONFIG, "decoder"))
row("more layers", "bert", setting(CONFIG, num_hidden_layers=1), ("layer.1.", CONFIG), ("layers 1",))
row("random ids", "roberta", both(CLASS, random_ids), (TOKENIZER, "dropout", "0.5"))
row("no padding", "roberta", setting(CONFIG, pad_token_id=None), (CONFIG, "pad_token_id"))
untied = both(weights(second_table), setting(CONFIG, tie_word_embeddings=False))
row("two tables", "roberta", untied)


def check_equal(folder, studies):
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForMaskedLM.from_pretrained(folder, dtype=torch.float32)
    vocabulary = open_vocabulary(folder)
    expected = [tokenizer(f" {word}", add_special_tokens=False, verbose=False).input_ids for word in WORDS]
    assert [list(vocabulary.encode(word)) for word in WORDS] == expected
    ids = [vocabulary.specials.start, *(i for word in expected for i in word), vocabulary.specials.end]
    assert ids == tokenizer(" " + " ".join(WORDS), verbose=False).input_ids
    special = vocabulary.specials
    named = [tokenizer.cls_token_id, tokenizer.pad_token_id, tokenizer.sep_token_id]
    assert [special.start, special.pad, special.end] == named
    assert [special.unknown, special.mask] == [tokenizer.unk_token_id, tokenizer.mask_token_id]
    ours = load_model(folder, with_head=True)[0]
    with torch.inference_mode():
        rows = torch.tensor([ids[:10]])
        assert ours(rows, return_dict=True).logits.equal(model(rows, return_dict=True).logits)
        top = model.base_model(rows, return_dict=True).last_hidden_state
    ((_, hidden),) = states(open_encoder(folder), [ids[:10]])
    assert torch.allclose(hidden[-1], top, atol=1e-5)
    table = load_model(folder)[0].get_input_embeddings().weight
    assert table.equal(model.get_input_embeddings().weight)
    if studies:
        started(folder)


def aligned(folder):
    open_vocabulary(folder)
    open_encoder(folder)


def started(folder):
    open_vocabulary(folder)
    check_start(folder, MODEL)
    load_model(folder, with_head=True)


@pytest.mark.parametrize("name", TABLE)
def test_folders_are_read_like_transformers_or_rejected(name, originals, tmp_path):
    kind, change, align, start = TABLE[name]
    folder = tmp_path / "model"
    shutil.copytree(originals / kind, folder)
    change(folder)
    if not align:
        check_equal(folder, not start)
    for words, read in ((align, aligned), (start, started)):
        if words:
            message = refusal(read, folder)
            assert all(word in message for word in words), message
