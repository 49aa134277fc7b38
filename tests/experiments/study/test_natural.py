from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import BertConfig, BertModel
from transformers.utils.logging import disable_progress_bar

from calque.analysis.papers.continued import Continued
from calque.analysis.records import json_rows
from calque.analysis.records.record import AER, RETRIEVAL, Record, Run
from calque.analysis.results import Results
from calque.derive.errors import BadInput
from calque.derive.fingerprint import sha256
from calque.derive.natural import BitextFiles, TextFiles
from calque.derive.readers.conllu import read_conllu
from calque.derive.sources.files import TaskFiles
from calque.derive.vocabulary import open_vocabulary
from calque.experiments.run.step import Step
from calque.experiments.settings.override import override
from calque.experiments.studies.real_text import xlm_align_small
from calque.experiments.study.measures import GoldLinks, Retrieval
from calque.experiments.study.study import START
from calque.pretrain.run import CHECKPOINT
from calque.pretrain.saved_model import load_model, weights_file
from tests.derive.natural.made import EN, XX, vocabulary, written
from tests.derive.test_task_data import treebank
from tests.experiments.conftest import finished
from tests.translation import write_gold
from tests.treebanks import write_treebank

ALIGNERS = ("argmax-centred", "xlm-align", "ot")

TINY = """head.steps=3 head.batch=8 head.warmup=1
    train.steps=6 train.learning_rate=1e-2 train.batch=8 train.warmup=1 train.log_every=2 train.save_every=2
    model.layers=3 model.heads=2 model.hidden=16 model.ffn=32 model.length=100
    sets=de-en,en-hi tasks.pos.finetune.batch=8""".split()


def encoder(folder):
    disable_progress_bar()
    given = open_vocabulary(vocabulary(folder))
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=given.size,
        hidden_size=16,
        num_hidden_layers=3,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=128,
        pad_token_id=given.specials.pad,
        initializer_range=0.2,
    )
    BertModel(config).save_pretrained(folder)
    return folder


def made_study(folder):
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("CALQUE_DATA", str(folder))
        patched.setenv("CALQUE_ENCODER", str(encoder(folder / "encoder")))
        real = xlm_align_small()
    for name, count in (("de-en", 30), ("en-hi", 20)):
        write_gold(folder, name, count)
    same = {"en": treebank(folder / "same-en.conllu", 12, 7), "xx": folder / "same-xx.conllu"}
    mirror = [tree.reorder(range(len(tree) - 1, -1, -1)) for tree in read_conllu(same["en"])]
    write_treebank(same["xx"], mirror)
    train, test = treebank(folder / "train.conllu", 30, 8), treebank(folder / "test.conllu", 10, 9)
    pairs = written(folder / "pairs.tsv", [f"{a}\t{b}" for a, b in zip(EN, XX, strict=True)])
    return real.changed(
        texts={
            "en": TextFiles((written(folder / "en.txt", EN),)),
            "xx": TextFiles((written(folder / "xx.txt", XX),)),
        },
        bitexts={("en", "xx"): (BitextFiles(pairs),)},
        withheld=TextFiles((written(folder / "withheld.txt", EN[:2]),)),
        measures=(GoldLinks(folder), Retrieval(same)),
        tasks={
            "pos": replace(
                real.tasks["pos"], files=TaskFiles((train,), (test,), (test,)), tests={"xx": (same["xx"],)}
            )
        },
    )


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    study = override(made_study(tmp_path_factory.mktemp("data")), TINY)
    return finished(tmp_path_factory.mktemp("runs"), study)


@pytest.fixture(scope="module")
def continued(done):
    runs, records = (
        json_rows.read(done.report / "runs.jsonl", Run),
        json_rows.read(done.report / "records.jsonl", Record),
    )
    return Continued(Results(runs, records))


def test_text_without_bitexts_does_not_depend_on_them(done):
    (group,) = done.study.data(done.root).groups
    text = replace(group.data.config, table="all")
    ((pair, files),) = text.bitexts.items()
    other = replace(text, bitexts={pair: files * 2})
    same = [text.language("en", bitexts=read) == other.language("en", bitexts=read) for read in (False, True)]
    assert same == [True, False]


def test_start_and_objectives_are_measured_alike(done, continued):
    assert continued.models == [START, "XLM-ALIGN-no-dwa", "XLM-ALIGN"]
    weights = {"kind": "GivenModel", "weights": sha256(weights_file(done.study.given.checkpoint))}
    runs = continued.results.runs.values()
    assert {run.id: (run.start.objective if run.start else run.objective).parts for run in runs} == {
        run.id: (weights,) for run in runs
    }
    assert (continued.layer, continued.layers) == (2, 3)
    by_model = {
        model: {
            (r.measure, r.metric, r.language, r.layer, r.gold_set, r.aligner, r.first)
            for r in continued.results.records
            if continued.results.objective_of(r) == model
        }
        for model in continued.models
    }
    first, *others = by_model.values()
    assert all(other == first for other in others)
    assert {(layer, gold, aligner) for measure, _, _, layer, gold, aligner, _ in first if measure == AER} == {
        (layer, gold, aligner) for layer in range(4) for gold in ("de-en", "en-hi") for aligner in ALIGNERS
    }
    assert {layer for what, _, _, layer, *_ in first if what == RETRIEVAL} == {*range(4)}
    assert {(measure, language) for measure, _, language, *_ in first if measure in ("SRC", "ZS")} == {
        ("SRC", "en"),
        ("ZS", "xx"),
    }


def test_objectives_share_their_head(done):
    study, models = done.study, done.models()
    head = models[0].training.start
    assert isinstance(head, Step) and all(model.training.start == head for model in models)
    before, made = (
        load_model(folder, with_head=True)[0] for folder in (head.folder / CHECKPOINT, models[0].checkpoint)
    )
    given = load_model(study.start)[0].state_dict()
    at_rest = before.base_model.state_dict()
    assert all(torch.equal(weight, given[name]) for name, weight in at_rest.items())
    table, trained = (model.get_input_embeddings().weight for model in (before, made))
    moved = (table != trained).any(1).nonzero()[:, 0].numpy()
    kept = np.load(done.data / "kept.npy")
    assert len(moved) and np.isin(moved, kept).all() and len(table) == open_vocabulary(study.start).size


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("measures=links,sharing", "measures: sharing applies only to derived languages"),
        ("paper=align_mlm", "paper must be xtreme for these languages, not align_mlm"),
        ("texts.sw=nowhere.txt", "there is no .sw."),
        ("languages.bitexts.en-yy=pairs.tsv", "only in a study of your own"),
        ("texts=en", "texts need at least two languages, not 1"),
        ("start=nowhere", "start: "),
        ("measure_start=false", "measure_start must be true"),
        ("tasks=nli", "there is no 'nli'"),
        ("objectives=MLM,XLM-ALIGN-after-MLM", "XLM-ALIGN-after-MLM starts from another model"),
        ("objectives=WORD-ALIGNED,PPA-alone", "head: none of the objectives predicts sub-words"),
    ],
)
def test_mistakes_are_told_with_their_field(done, setting, said):
    with pytest.raises(BadInput, match=said):
        override(done.study, [setting])


@pytest.mark.parametrize(
    ("texts", "bitexts", "said"),
    [
        ({"a/b": TextFiles((Path("nowhere.txt"),))}, {}, "a language called 'a/b' is invalid"),
        (
            {},
            {("en", "yy"): (BitextFiles(Path("pairs.tsv")),)},
            "the bitext en-yy needs two different languages with text",
        ),
    ],
)
def test_invalid_languages_are_named(done, texts, bitexts, said):
    of = done.study.languages
    changed = done.study.changed(texts={**of.texts, **texts}, bitexts={**of.bitexts, **bitexts})
    assert any(said in mistake for mistake in changed.mistakes())


def test_vocabulary_of_the_start_cannot_be_replaced(done):
    assert any("tokenizer of start" in each for each in done.study.changed(vocabulary=Path("x")).mistakes())
