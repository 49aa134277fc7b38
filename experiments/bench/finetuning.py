"""Fine-tuning compared with transformers' Trainer, with the same encoder, rows and recipe."""

import tempfile
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import fmean

import torch
from transformers import AutoModelForTokenClassification, DataCollatorForTokenClassification

from calque.analysis.tasks.catalog import task
from calque.analysis.tasks.finetune import FinetuneConfig, Finetuned, finetune
from calque.analysis.tasks.rows import Reader
from calque.analysis.tasks.task import Split, check
from calque.derive.sources.files import TaskFiles
from calque.derive.task_data import TaskFolder, write_natural_task
from calque.derive.vocabulary import GivenVocabulary
from calque.experiments.bench.harness import Comparison, folder_of, interleaved
from calque.experiments.bench.training import trainer_ends
from calque.experiments.studies.real_text import USUAL
from calque.pretrain.saved_model import load_tokenizer

TRAINED = TESTED = 240  # sentences
# The Trainer's recipe, with the model's own dropout.
TRAINERS = replace(USUAL, freeze_table=False, attention_dropout=0.1)


def finetuning(rounds: int) -> list[Comparison]:
    """Compare the fine-tuning of an encoder on part-of-speech tagging, as in the study `xtreme_small`. The
    Trainer pads each batch to its longest row; it is also measured with batches of similar length."""
    encoder, folder = folder_of("CALQUE_ENCODER"), folder_of("CALQUE_DATA") / "ud" / "UD_English-EWT"
    train, dev, test = ((folder / f"en_ewt-ud-{split}.conllu",) for split in ("train", "dev", "test"))
    files = TaskFiles(train, test, dev, limit=TRAINED, tested=TESTED)
    of, cpu = task("pos"), torch.device("cpu")
    with tempfile.TemporaryDirectory() as name:
        written = TaskFolder.open(write_natural_task(of.name, files, {}, Path(name) / of.name))
        learnt, tested = (Split(written.path(split), of) for split in ("train", "test"))
        labels, reader = check(learnt, [tested]), Reader.of_given(GivenVocabulary(encoder).open())
        rows, asked = (split.encode(labels, reader, USUAL.max_length) for split in (learnt, tested))
        data = [{"input_ids": row.ids.tolist(), "labels": row.targets.tolist()} for row in rows.rows]
        collate = DataCollatorForTokenClassification(load_tokenizer(encoder))
        accuracy = dict[str, list[float]]()

        def speed(side: str, model: Finetuned, ends: list[float]) -> float:
            answers = tested.decode(asked, model.answers(asked), labels)
            accuracy.setdefault(side, []).append(of.scores(tested.gold, answers)["accuracy"].value)
            # The first step is not timed.
            return TRAINED * USUAL.epochs * (1 - 1 / len(ends)) / (ends[-1] - ends[0])

        def ours(side: str, config: FinetuneConfig) -> float:
            ends, seed = list[float](), len(accuracy.get(side, ()))
            end = lambda *_: ends.append(time.process_time())  # noqa: E731
            return speed(side, finetune(encoder, rows, of.head, len(labels), config, seed, cpu, end), ends)

        def theirs(side: str, sampling: str) -> float:
            seed, config = len(accuracy.get(side, ())), TRAINERS
            torch.manual_seed(seed)
            kind = AutoModelForTokenClassification
            model = kind.from_pretrained(encoder, num_labels=len(labels), dtype=torch.float32)
            own, new = ({"params": part.parameters()} for part in (model.base_model, model.classifier))
            new["lr"] = config.head_rate * config.learning_rate
            optimizer = torch.optim.AdamW(
                [own, new], config.learning_rate, weight_decay=config.weight_decay, fused=True
            )
            ends = trainer_ends(
                model,
                data,
                collate,
                config,
                optimizer=optimizer,
                seed=seed,
                num_train_epochs=config.epochs,
                warmup_steps=config.warmup,
                train_sampling_strategy=sampling,
            )
            return speed(side, Finetuned(model, of.head, cpu), ends)

        sides = {
            "the Trainer's recipe": partial(ours, config=TRAINERS),
            "without attention dropout, word embeddings frozen (Calque's recipe)": partial(
                ours, config=USUAL
            ),
            "HF Trainer": partial(theirs, sampling="random"),
            "HF Trainer, batches of similar length": partial(theirs, sampling="group_by_length"),
        }
        rates = interleaved([partial(side, name) for name, side in sides.items()], rounds)
    names, means, comparisons = list(sides), [fmean(accuracy[side]) for side in sides], list[Comparison]()
    for mine, other in ((0, 2), (1, 2), (0, 3)):
        score = f"accuracy {means[mine]:.1%}, the Trainer's {means[other]:.1%}"
        what = f"fine-tuning a real encoder on parts of speech, {names[mine]}; {score}"
        comparisons.append(Comparison(what, names[other], "sentences/CPU s", rates[mine], rates[other]))
    return comparisons
