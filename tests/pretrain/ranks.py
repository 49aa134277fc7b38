"""What worlds of 1, 2 and 4 processes compute for test_distributed: `python -m tests.pretrain.ranks STUDY
OUT`."""

import hashlib
import json
import sys
from dataclasses import fields, is_dataclass, replace
from pathlib import Path

import torch
from safetensors.torch import save_file

from calque.derive.errors import BadInput
from calque.derive.languages import Languages
from calque.pretrain import train as loop
from calque.pretrain.config import ALL_TOGETHER, Mixture
from calque.pretrain.model import build, state_of
from calque.pretrain.objective import After, HeadOnly, Sum
from calque.pretrain.objectives.dictionary import Align, AlignMLM, PreAlign
from calque.pretrain.objectives.linked_words import WordAligned
from calque.pretrain.objectives.mlm import MLM
from calque.pretrain.objectives.xlm import DWA, PPA, SentencePairs, XLMAlign
from calque.pretrain.run import Pretraining, pretrain
from calque.pretrain.train import Draws, make_optimizer, train
from tests.pocket import derive_several
from tests.pretrain.made import LANGUAGE, MODEL, OBJECTIVES, STILL, TRAIN, Gradients, new_learner
from tests.pretrain.worlds import through

SIZES = (1, 2, 4)
MOST = SIZES[-1]
"""The number of processes that train every objective; two processes test gradients and resumed runs."""
PRECISION = torch.float64
"""Worlds of different sizes add numbers in different orders. In double precision the rounding errors are far
below any real difference; in single precision AdamW lets them grow to the size of a small update."""
BATCHES = {"even": 8, "odd": 5, "one row for two": 1}
STEPS = 6
SHORT = replace(TRAIN, steps=STEPS, batch=6, learning_rate=1e-3, epsilon=1e-6)
"""Four processes get 0 to 2 rows of a stream each. Epsilon is XLM-Align's (Table 11): with AdamW's own, 1e-8,
gradients as small as rounding errors would make full steps."""
SEVERAL, MIXED = ("trans", "inv"), "everything of three languages"
UNEVEN = Mixture((0.45, 0.1, 0.45))
CHANGED_AT = 3
"""The step at which the number of processes changes."""
QUEUED = PPA(queue=40, momentum=0.9, temperature=0.5, dimensions=8)
EVERYTHING = Sum("everything", (MLM(), QUEUED, Align(), DWA(tlm=False), WordAligned(links="gold")))
VARIANTS = (
    DWA(labels="gold"),
    DWA(tlm=False),
    DWA(queries="none"),
    DWA(queries="unmasked"),
    DWA(queries="all-aligned"),
    DWA(first="rows"),
    DWA(filtering=False),
    DWA(label_layer=1, layer=1),
    DWA(pieces=3),
)
EVERY = OBJECTIVES | {
    objective.name: objective
    for objective in (
        *(XLMAlign(**vars(one)) for one in VARIANTS),
        After(XLMAlign(), MLM()),
        PreAlign(),
        HeadOnly(MLM()),
        EVERYTHING,
    )
}


SEEN = []
"""Digests of the rows of each stream's part of each step, in this process."""
cut = loop._cut


def cut_and_note(streams, batches, parts, world):
    """Cut the batches as the loop does and note each stream's rows, except for pairs, which it sorts by
    length."""
    made = cut(streams, batches, parts, world)
    for stream in streams:
        by_length = isinstance(stream, SentencePairs) and stream.objective.pieces > 1
        own = [part for of, part in made if of is stream and not by_length]
        rows = (part.part(i, len(part)) for part in own for i in range(len(part)))
        SEEN.append([hashlib.sha256(content(row)).hexdigest()[:16] for row in rows])
    return made


def content(value):
    if isinstance(value, torch.Tensor):
        return value.numpy().tobytes()
    if is_dataclass(value):
        return b"".join(content(getattr(value, field.name)) for field in fields(value))
    return str(value).encode()


def gradients(objective, languages, batch, world):
    learner = new_learner(objective)
    optimizer = Gradients(learner)
    config = replace(TRAIN, steps=1, warmup=0, batch=batch, grad_accumulation=2, clip=1e9)
    draws = Draws(objective.streams(languages, STILL.length, 0), batch, 0)
    ((_, means, _),) = train(learner, optimizer, draws, config, world)
    return optimizer.last, means


def trained(objective, languages, world, steps=STEPS, mixture=ALL_TOGETHER):
    """Train for some steps, after the share of them that belongs to the starting objective."""
    token_types = languages.token_types if objective.traits.language_embeddings else 1
    learner = objective.learner(build(STILL, languages.rows, token_types), 0)
    if objective.traits.start:
        first, portion = objective.traits.start
        learner = objective.learner(trained(first, languages, world, round(portion * steps)).model, 0)
        steps -= round(portion * steps)
    config = replace(SHORT, steps=steps)
    streams = objective.streams(mixture.read(languages), STILL.length, 0)
    draws = Draws(streams, config.batch, 0, mixture)
    for _ in train(learner, make_optimizer(learner, config), draws, config, world):
        pass
    return learner


class Enough(Exception):
    """The process stops in the middle of a run."""


def begun(study, folder, world, last=STEPS, allow_change=False):
    """Train until a step or an error, and return how it ended."""

    def stop(step, steps):
        if step == last < steps:
            raise Enough(step)

    config = Pretraining(Languages.open(study, (LANGUAGE,)), EVERYTHING, STILL, SHORT, seed=0)
    try:
        pretrain(folder, config, world, progress=stop, allow_change=allow_change)
    except Enough:
        return "stopped"
    except BadInput as refused:
        return str(refused)
    return "finished"


def write(path, value):
    path.write_text(json.dumps(value))
    SEEN.clear()


def every_objective(study, out, world):
    def keep(name, learner):
        write(out / f"{name} seen {world.size}-{world.rank}.json", SEEN)
        if world.first:
            save_file(state_of(learner), out / f"{name} {world.size}.safetensors")

    languages = Languages.open(study, [LANGUAGE])
    for name, objective in EVERY.items():
        keep(name, trained(objective, languages, world))
    several = Languages.open(out / "several" / "data", SEVERAL)
    keep(MIXED, trained(EVERYTHING, several, world, mixture=UNEVEN))


def two(study, out, world):
    """Tests of two processes only."""
    languages = Languages.open(study, [LANGUAGE])
    for name, objective in OBJECTIVES.items():
        for cut, batch in BATCHES.items():
            gradient, losses = gradients(objective, languages, batch, world)
            if world.first:
                save_file(gradient, out / f"{name} {cut}.safetensors")
                (out / f"{name} {cut}.json").write_text(json.dumps(losses))
    for folder in ("run", "again"):
        config = Pretraining(Languages.open(study, (LANGUAGE,)), AlignMLM(), MODEL, TRAIN, seed=0)
        pretrain(out / folder, config, world)
    SEEN.clear()
    begun(study, out / "whole", world)
    write(out / f"whole seen-{world.rank}.json", SEEN)
    for size in SIZES:
        begun(study, out / f"changed to {size}", world, last=CHANGED_AT)


def another(study, out, world):
    SEEN.clear()
    folder = out / f"changed to {world.size}"
    said = [begun(study, folder, world)]
    if said != ["finished"]:
        said.append(begun(study, folder, world, allow_change=True))
    (out / f"{folder.name} said-{world.rank}.json").write_text(json.dumps(said))
    write(out / f"{folder.name} seen-{world.rank}.json", SEEN)


def main(study, out):
    torch.set_default_dtype(PRECISION)
    loop._cut = cut_and_note

    def in_worlds(sizes, work):
        for size in sizes:
            if any(ends := through(size, lambda world: work(study, out, world))):
                raise SystemExit(f"{work.__name__} of {size} processes ended with {ends}")

    derive_several(out / "several")
    build(STILL, 10, 1)
    in_worlds((1, MOST), every_objective)
    in_worlds((2,), two)
    in_worlds(SIZES, another)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
