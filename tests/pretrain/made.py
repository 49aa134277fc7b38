"""An artificial language of 300 types, its Trans+Inv derivation, and tiny models of them."""

import dataclasses
import shutil
from itertools import islice

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer
from tokenizers.models import WordLevel

from calque.derive.corpus import Corpus, CorpusWriter
from calque.derive.files import write_json, write_manifest
from calque.derive.languages import FORMAT, KIND, Languages
from calque.derive.transforms import Transliterate
from calque.derive.vocabulary import OURS, SPECIALS
from calque.pretrain.config import ModelConfig, TrainConfig
from calque.pretrain.distributed import World
from calque.pretrain.model import build
from calque.pretrain.objective import Update
from calque.pretrain.objectives.dictionary import AlignMLM, PreAlign, RepelMLM, RotateMLM
from calque.pretrain.objectives.linked_words import WEAM, AlignerTraining, WordAligned
from calque.pretrain.objectives.mlm import MLM, DictMLM, Link
from calque.pretrain.objectives.xlm import DWA, PPA, XLM, XLMAlign
from calque.pretrain.run import Pretraining
from calque.pretrain.run import pretrain as pretrain_in
from calque.pretrain.train import Draws, make_optimizer
from calque.pretrain.train import train as run_steps

FIRST = len(OURS.ids)
SOURCE, DERIVED, PADDING = 0, 1, 2
SIZE, SENTENCES, LANGUAGE = 300, 500, "trans.inv"
WORDS = 190
"""Distinct words: half with one piece, half with two, none shared."""
MODEL = ModelConfig(layers=2, heads=2, hidden=32, ffn=64, length=32, dropout=0.1, initializer_range=0.1)
STILL = dataclasses.replace(MODEL, dropout=0.0)
TRAIN = TrainConfig(steps=12, batch=8, learning_rate=2e-3, warmup=3, log_every=3, probe_every=0, save_every=3)
OBJECTIVES = {
    objective.name: objective
    for objective in (
        MLM(),
        XLM(),
        DictMLM(),
        AlignMLM(),
        XLMAlign(),
        Link(),
        PreAlign(pairs=40).first,
        WEAM(links="gold"),
        PPA(queue=24, momentum=0.9, temperature=0.5, dimensions=7),
        WordAligned(links="gold"),
        WordAligned(links="gold", frozen=True),
        AlignerTraining(labels="gold"),
        RepelMLM(),
        RotateMLM(),
    )
}


def one_process():
    return World(0, 1, torch.device("cpu"))


def new_learner(objective, config=STILL, seed=0):
    model = build(config, 2 * SIZE, 3 if objective.traits.language_embeddings else 1, seed)
    return objective.learner(model, seed)


def first_update(learner):
    return Update(learner, one_process(), make_optimizer(learner, TRAIN), 0, TRAIN.steps)


class Stop(Exception):
    """Ends a run in the middle."""


def fit(learner, streams, config=TRAIN, optimizer=None, last=None, **options):
    """Train a learner in one process, from seed 0, until after step `last`; return all steps' numbers."""
    optimizer, draws = optimizer or make_optimizer(learner, config), Draws(streams, config.batch, 0)
    return list(islice(run_steps(learner, optimizer, draws, config, one_process(), **options), last))


def of_study(study, objective=None, **changes):
    """The settings of a run on the made languages from seed 0, with `changes`."""
    config = Pretraining(Languages.open(study, (LANGUAGE,)), objective or MLM(), MODEL, TRAIN, 0)
    return dataclasses.replace(config, **changes)


def pretrain(folder, config, **options):
    """Pretrain in one process."""
    return pretrain_in(folder, config, one_process(), **options)


def stop_at(folder, config, last):
    """Train until after step `last`, as a process that is then killed."""

    def stop(step, steps):
        if step == last:
            raise Stop

    with pytest.raises(Stop):
        pretrain(folder, config, progress=stop)


def check_resumes(folder, config, *stops):
    """Check that a run that is stopped ends with the bytes of one that is not; return its checkpoint."""
    whole = pretrain(folder / "whole", config)
    for step in stops or (7,):
        stop_at(folder / "stopped", config, step)
    resumed = pretrain(folder / "stopped", config)
    assert (whole / "model.safetensors").read_bytes() == (resumed / "model.safetensors").read_bytes()
    return resumed


def only(objective, languages, length=STILL.length):
    (stream,) = objective.streams(languages, length, 0)
    return stream


def with_dictionary(study, folder, lines):
    shutil.copytree(study, folder)
    (folder / LANGUAGE / "dictionary.tsv").write_text("".join(lines))
    write_manifest(folder, KIND, study_facts())
    return Languages.open(folder, [LANGUAGE])


def pairs_of(languages, length=STILL.length, mask_rate=0.0):
    return only(DWA(1.0, mask_rate), languages, length)


def corpora(languages):
    return [language.corpus for language in languages.languages]


def write_study(folder, sentences=SENTENCES):
    """Write the part of a derived study that pretraining reads."""
    random = np.random.default_rng(1)
    pieces = np.repeat([1, 2], WORDS // 2)
    spelling = random.permutation(np.arange(FIRST, SIZE))[: pieces.sum()]
    starts = np.cumsum(pieces) - pieces
    shares = 1 / np.arange(1, WORDS + 1)
    lines = [random.choice(WORDS, random.integers(2, 9), p=shares / shares.sum()) for _ in range(sentences)]
    image = Transliterate().image(SIZE)
    for name, turned, table in (("source", False, np.arange(SIZE)), (LANGUAGE, True, image)):
        words = np.concatenate([line[::-1] if turned else line for line in lines])
        origin = [np.arange(len(line)) for line in lines]
        corpus = Corpus.of(
            ids=table[np.concatenate([spelling[starts[w] : starts[w] + pieces[w]] for w in words])].astype(
                np.uint32
            ),
            pieces=pieces[words].astype(np.uint16),
            origin=np.concatenate([o[::-1] if turned else o for o in origin]).astype(np.uint16),
            words=np.array([len(line) for line in lines]),
        )
        writer = CorpusWriter(folder / name, 2 * SIZE)
        writer.append(corpus, 0)
        writer.finish()
        if name == "source":
            counts = np.bincount(corpus.tokens.values, minlength=SIZE)
    chosen = np.arange(FIRST, SIZE, 4)
    chosen = chosen[counts[chosen] > 0]
    np.save(folder / LANGUAGE / "image.npy", image)
    (folder / LANGUAGE / "dictionary.tsv").write_text("".join(f"{i}\t{image[i]}\tw{i}\n" for i in chosen))
    (folder / "vocabulary").mkdir()
    np.save(folder / "vocabulary" / "counts.npy", counts)
    tokenizer = Tokenizer(
        WordLevel({**{w: i for i, w in enumerate(SPECIALS)}, "w": FIRST}, unk_token=SPECIALS[3])
    )
    tokenizer.save(str(folder / "vocabulary" / "tokenizer.json"))
    write_json(folder / "vocabulary" / "specials.json", dataclasses.asdict(OURS))
    write_manifest(folder, KIND, study_facts())
    return folder


def study_facts(fingerprint="made"):
    return {
        "format": FORMAT,
        "languages": {name: {"fingerprint": fingerprint} for name in ("source", LANGUAGE)},
        "pairs": [{"languages": ["source", LANGUAGE], "folder": LANGUAGE}],
        "vocabulary": {"size": SIZE},
    }


class Gradients(torch.optim.Optimizer):
    """An optimizer that keeps the gradients of its last step and changes nothing."""

    def __init__(self, learner):
        super().__init__(learner.trained.values(), {"lr": 0.0})
        self.names = list(learner.trained)
        self.last = {}

    def step(self, closure=None):
        taken = (p.grad for group in self.param_groups for p in group["params"])
        self.last = {name: grad.clone() for name, grad in zip(self.names, taken, strict=True)}
