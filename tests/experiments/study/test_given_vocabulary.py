import pytest
import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer
from transformers import AutoTokenizer, BertConfig, BertModel, XLMRobertaConfig, XLMRobertaModel

from calque.analysis.records.record import AER, ALIGNMENT
from calque.derive.languages import Languages
from calque.experiments.settings.catalogue import named_study
from calque.experiments.settings.override import override
from tests.derive.test_spelling import given_vocabulary
from tests.experiments.conftest import TINY, Done
from tests.vocabularies import read_as_saved

KINDS = {"wordpiece": (BertConfig, BertModel, 0), "unigram": (XLMRobertaConfig, XLMRobertaModel, 2)}
NAME = "trans.inv"
LENGTH = 64
"""Letters as pieces make sentence pairs long."""


def encoder(kind, folder):
    (config, model, before), tokenizer = KINDS[kind], given_vocabulary(kind)
    torch.manual_seed(3)
    shape = {"num_hidden_layers": 1, "num_attention_heads": 2, "hidden_size": 16, "intermediate_size": 32}
    pad = tokenizer.token_to_id("[PAD]" if kind == "wordpiece" else "<pad>")
    size, positions = tokenizer.get_vocab_size(), LENGTH + before
    made = model(config(vocab_size=size, max_position_embeddings=positions, pad_token_id=pad, **shape))
    made.save_pretrained(folder)
    tokenizer.save(str(folder / "tokenizer.json"))
    read_as_saved(folder)
    return folder


def of_folder(folder):
    settings = [setting for setting in TINY if not setting.startswith(("vocabulary", "objectives"))]
    settings += [f"vocabulary={folder}", f"start={folder}", "objectives=XLM-ALIGN", f"model.length={LENGTH}"]
    return override(named_study("pocket"), settings)


@pytest.mark.parametrize("kind", KINDS)
def test_study_starts_from_a_folder_and_its_vocabulary(kind, tmp_path):
    given = encoder(kind, tmp_path / "given")
    done = Done(tmp_path / "runs", of_folder(given))
    done.compute()
    (model,) = done.models()
    languages, plain = Languages.open(done.data, [NAME]), Tokenizer.from_file(str(given / "tokenizer.json"))
    size = plain.get_vocab_size()
    assert (languages.size, languages.rows) == (size, 2 * size)
    first = next(iter(done.study.languages.source.sentences((0, 1))[0]))
    ids = plain.encode(" ".join(first.words), add_special_tokens=False).ids
    assert languages["source"].corpus[0].tolist() == ids

    checkpoint = model.checkpoint
    before, after = load_file(given / "model.safetensors"), load_file(checkpoint / "model.safetensors")
    for name, value in before.items():
        if "pooler" not in name:
            now = next(tensor for key, tensor in after.items() if key.endswith(f".{name}"))
            assert (now[: len(value)] - value).abs().max() < 0.06  # at most twelve steps of 4e-3
    (transform,) = done.study.languages.transforms
    tokenizer = AutoTokenizer.from_pretrained(checkpoint / "tokenizers" / NAME)
    spelt = " ".join(map(transform.spell, transform(first).words))
    assert tokenizer(spelt, add_special_tokens=False).input_ids == languages[NAME].corpus[0].tolist()

    measured = {record.measure for record in done.records(model)}
    assert {ALIGNMENT, AER, "ZS"} <= measured
    moved, data = tmp_path / "moved", done.data
    given.rename(moved)  # only its contents count
    there = Done(done.root, of_folder(moved))
    assert there.data == data and all(step.finished for step in there.study.steps(done.root))
