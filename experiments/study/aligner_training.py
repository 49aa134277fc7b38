"""Training an encoder to align words."""

import json
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Literal

from calque.derive.errors import BadInput
from calque.derive.files import whole_folder, write_json
from calque.derive.folder import NamePair
from calque.derive.languages import Languages
from calque.derive.links.fast_align import StatisticalAligner
from calque.derive.natural.files import BitextFiles, TextFiles
from calque.derive.readers.parallel import Pair, TwoFiles
from calque.experiments.run.step import Step
from calque.experiments.study.gold import lowered
from calque.experiments.study.languages import NaturalLanguages
from calque.experiments.study.models import GivenModel, Training
from calque.pretrain.architecture import architecture_of
from calque.pretrain.checkpoint import METRICS
from calque.pretrain.config import ModelConfig, TrainConfig
from calque.pretrain.lazy import tensor_files
from calque.pretrain.objectives.aligner_training import LABELLED, AlignerTraining
from calque.pretrain.run import CHECKPOINT, read_metrics
from calque.pretrain.saved_model import (
    ALIGNER_LABELS,
    ALIGNER_LAYER,
    CONFIG,
    WEIGHTS,
    read_config,
    weight_files,
)

RECIPE = TrainConfig(
    steps=220, batch=8, learning_rate=5e-5, warmup=22, log_every=10, probe_every=0, save_every=50
)
LENGTH = 128  # ids per row, which both sides of a pair share
FEWEST = 500  # minimum sentence pairs per bitext, since fast_align learns little from fewer
SAMPLE, MOST = 500, 20_000  # sentence pairs per bitext for counting links, and maximum for training
LEAST_SHARED = 0.5  # minimum share of links common to fast_align's two directions, a rule of thumb
# The settings that training changes and saving restores.
KEPT = ("architectures", "hidden_dropout_prob", "attention_probs_dropout_prob")
UNKNOWN = 0.1  # a larger share of unknown sub-words means that the tokenizer does not cover the script


def trained_aligner(
    bitexts: Sequence[tuple[Path, Path]],
    objective: AlignerTraining,
    steps: int,
    start: GivenModel,
    home: Path,
    seed: int,
) -> Training:
    """Return the configuration for training an encoder on bitexts, each a pair of files. Raises BadInput for
    unsuitable files or models."""
    for source, target in bitexts:
        _check_bitext(source, target)
    saved = read_config(start.checkpoint)
    architecture_of(saved)  # raises an error for architectures whose configurations name sizes differently
    shape = (saved.num_hidden_layers, saved.num_attention_heads, saved.hidden_size, saved.intermediate_size)
    model = ModelConfig(*shape, length=LENGTH, dropout=0.0)
    if mistakes := [*objective.mistakes(model), *start.mistakes(model)]:
        raise BadInput(mistakes)
    texts, pairs = dict[str, TextFiles](), dict[NamePair, tuple[BitextFiles, ...]]()
    for number, paths in enumerate(bitexts, start=1):
        names = f"source-{number}", f"target-{number}"
        texts |= {name: TextFiles((path,)) for name, path in zip(names, paths, strict=True)}
        pairs[names] = (BitextFiles(*paths),)
    data = NaturalLanguages(texts=texts, bitexts=pairs).step(home, start.checkpoint)
    train = replace(RECIPE, steps=steps, warmup=steps // 10)
    return Training(data, tuple(texts), objective, model, train, seed, start)


def _check_bitext(source: Path, target: Path) -> None:
    both = TwoFiles(source, target)
    usable = sum(map(all, both))
    if usable < FEWEST:
        raise BadInput(f"{usable:,} sentence pairs; expected at least {FEWEST:,} in each bitext", source)
    same = sum(one == other for one, other in both if one)
    if same > usable / 2:
        fault = f"{same:,} of {usable:,} lines are the same as in {source}"
        raise BadInput(f"{fault}; expected translations", target)


def check_known(data: Step) -> None:
    """Raise BadInput for text in a script that the tokenizer does not cover."""
    texts = data.config.languages.texts
    languages = Languages.open(data.folder, list(texts), whole=True)
    for name, files in texts.items():
        is_unknown = languages[name].corpus.tokens.values == languages.specials.unknown
        if (share := float(is_unknown.mean())) > UNKNOWN:
            raise BadInput(f"the tokenizer does not know {share:.0%} of the sub-words", files.paths[0])


def _sample(paths: tuple[Path, Path], seed: int) -> list[Pair]:
    both = TwoFiles(*paths)
    usable = sum(map(all, both))
    places = Random(seed).sample(range(usable), min(MOST, usable))
    wanted = set(places)
    sampled = {place: pair for place, pair in enumerate(filter(all, both)) if place in wanted}
    return [sampled[place] for place in places]


def label_source(
    bitexts: Sequence[tuple[Path, Path]], seed: int
) -> tuple[Literal["agreement", "self"], float]:
    """Return the kind of labels to train on, and the share of links common to fast_align's two directions, in
    the bitext where it is smallest. Below LEAST_SHARED, many of fast_align's links are wrong, so the labels
    are `self`."""
    shares = list[float]()
    for paths in bitexts:
        pairs = lowered(_sample(paths, seed))
        aligner = StatisticalAligner.train(pairs)
        ways = [way.align(pairs[:SAMPLE]) for way in (aligner.forward, aligner.reverse)]
        links = [({*there}, {*back}) for there, back in zip(*ways, strict=True)]
        common = sum(len(there & back) for there, back in links)
        shares.append(common / max(1, sum(len(there | back) for there, back in links)))
    return "agreement" if min(shares) >= LEAST_SHARED else "self", min(shares)


def save_aligner(step: Step, out: Path) -> None:
    """Write the trained encoder to a folder for transformers, atomically. Untrained tensors and other
    settings are copied from the start; the configuration also states the layer to align with and the kind of
    labels."""
    rows = (row for row in read_metrics(step.open().path(METRICS)) if "loss" in row)
    if not any(row["reported"][LABELLED] for row in rows):
        raise BadInput("no word has a label: are the files translations of each other?")
    start = step.config.start.checkpoint
    architecture = architecture_of(read_config(start))
    before = json.loads((start / CONFIG).read_text(encoding="utf-8"))
    weights = {
        f"{architecture.base}.{name.removeprefix(f'{architecture.base}.')}": tensor
        for path in weight_files(start)
        for name, tensor in tensor_files.load_file(path).items()
        if "pooler." in name
    }
    for name, tensor in tensor_files.load_file(step.folder / CHECKPOINT / WEIGHTS).items():
        if step.config.start.has_head or not name.startswith(f"{architecture.head}."):
            weights[name] = tensor
    with whole_folder(out) as part:
        shutil.copytree(step.folder / CHECKPOINT, part, dirs_exist_ok=True)
        tensor_files.save_file(weights, part / WEIGHTS, {"format": "pt"})
        config = json.loads((part / CONFIG).read_text(encoding="utf-8"))
        config = {key: value for key, value in config.items() if key not in KEPT}
        config |= {key: value for key, value in before.items() if key in KEPT}
        layer = step.config.objective.main_layer(step.config.model.layers)
        own = {ALIGNER_LAYER: layer, ALIGNER_LABELS: step.config.objective.labels}
        write_json(part / CONFIG, config | own)
