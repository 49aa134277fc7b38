"""What a model knows of facts that one language states, when it is asked in that language and in another.

Shapes: Q questions, N clozes, L ids of the longest, C candidates, K permutations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import torch

from analysis.records.items import Items
from analysis.records.record import BOTH, CARRIED, KNOWN, Record
from derive.errors import BadInput
from derive.language import SOURCE
from derive.languages import Languages
from derive.question import Question
from pretrain.architecture import architecture_of
from pretrain.batch import UNLABELLED, Rows
from pretrain.model import autocast, encode
from pretrain.saved_model import load_model, read_config

PERMUTATIONS, LEVEL = 1_000, 0.95
"""How often answers are permuted for the null, and the quantile that stands beside its mean."""
NULLS = ("all", "seen", "held-out")
"""The kinds of questions that have a null of their own."""
ROWS = 256
"""Clozes of a batch."""
UNDECIDED = -1


def knowledge_records(
    checkpoint: Path,
    languages: Languages,
    language: str,
    questions: Sequence[Question],
    images: Sequence[Question],
    run: str,
    step: int,
    device: torch.device,
) -> list[Record]:
    """Accuracy over facts of the source alone, asked in the source (known) and in `language` (carried), and of shared
    ones asked in `language`, each with its chance level and nulls.

    `images` are the questions as `language` puts them. Of a null the answers are permuted among the questions of each
    relation, so a model that prefers some answers gains nothing; its quantile is what one in twenty permutations
    reaches. Questions whose answer is seen, or held out, have nulls of their own: they have fewer answers, and a model
    that prefers words of the dictionary is right more often where these are the answers. `run` and `step` are those of
    the checkpoint.

    Raises:
        BadInput: the checkpoint is damaged, or a question is longer than its rows.
    """
    spelt = architecture_of(read_config(checkpoint))
    model, _ = load_model(checkpoint, spelt.masked_model)
    torch.nn.Module.to(model, device).eval()
    gold = np.array([question.candidates.index(question.answer) for question in questions])
    shared = np.array([question.shared for question in questions])
    here = answers(model, languages, SOURCE, questions, device)
    there = answers(model, languages, language, images, device)
    told = _Told.of(languages, language, questions)
    made = []
    for measure, given, among in ((KNOWN, here, ~shared), (CARRIED, there, ~shared), (BOTH, there, shared)):
        kinds = {"all": among} | {name: among & of for name, of in told.kinds.items()}
        if measure == CARRIED:
            kinds["known"] = among & (here == gold)
        for metric, of in kinds.items():
            if of.any():
                hits = (given == gold)[of]
                items = Items.over(hits, [1] * len(hits))
                value, count = float(hits.mean()), len(hits)
                made.append(Record(run, measure, metric, value, count, language=language, step=step, items=items))
        chance = float(np.mean([1 / len(q.candidates) for q, kept in zip(questions, among, strict=True) if kept]))
        made.append(Record(run, measure, "chance", chance, int(among.sum()), language=language, step=step))
        for kind in NULLS:
            if (of := kinds[kind]).any():
                for level, value in _null(questions, given, gold, of).items():
                    metric = level if kind == "all" else f"{kind}-{level}"
                    made.append(Record(run, measure, metric, value, int(of.sum()), language=language, step=step))
    return made


@torch.inference_mode()
def answers(
    model: Any, languages: Languages, name: str, questions: Sequence[Question], device: torch.device
) -> np.ndarray:
    """The candidate that a model answers each question with, asked in the language `name`: (Q,) int64.

    A candidate's score is the sum over the question's clozes of its log-probability at the masked place; where two
    share the best score the answer is UNDECIDED.
    """
    encode, language, specials = languages.vocabulary.encode, languages[name], languages.specials
    spelt, numbers = architecture_of(model.config), (language.number, languages.padding)
    rows, places = [], []
    for question in questions:
        for cloze in question.clozes:
            words = list(map(encode, cloze.sentence.words))
            ids = language.of_words(np.array(list(chain.from_iterable(words))), list(map(len, words)))
            row = np.concatenate([[specials.start], ids, [specials.end]])
            places.append(1 + sum(map(len, words[: cloze.place])))
            row[places[-1]] = specials.mask
            rows.append(row)
    if (longest := max(map(len, rows))) > (room := spelt.length(model.config)):
        raise BadInput(f"a question of {longest} ids, and rows of {room}; expected a model that reads longer ones")
    logits = torch.cat(
        [
            _at(model, rows[i : i + ROWS], places[i : i + ROWS], numbers, specials.pad, device)
            for i in range(0, len(rows), ROWS)
        ]
    )
    given, first = np.full(len(questions), UNDECIDED), 0
    for q, question in enumerate(questions):
        one = np.array([encode(word)[0] for word in question.candidates])
        candidates = language.of_words(one, [1] * len(one))
        of = logits[first : first + len(question.clozes), torch.from_numpy(candidates)].sum(0)
        first += len(question.clozes)
        best = (of == of.max()).nonzero().flatten()
        if len(best) == 1:
            given[q] = int(best)
    return given


def _at(
    model: Any,
    rows: Sequence[np.ndarray],
    places: Sequence[int],
    numbers: tuple[int, int],
    pad: int,
    device: torch.device,
) -> torch.Tensor:
    """Logits at one place of each row, (N, types), on the CPU; `numbers` are the token types of words and padding."""
    ids = np.full((len(rows), max(map(len, rows))), pad)
    for line, row in zip(ids, rows, strict=True):
        line[: len(row)] = row
    languages = np.where(ids == pad, numbers[1], numbers[0])
    labels = torch.full(ids.shape, UNLABELLED)
    batch = Rows(torch.from_numpy(ids), labels, torch.from_numpy(languages), padded=True).to(device)
    with autocast(device):
        hidden = encode(model, batch, model.config.num_hidden_layers)
        top = hidden[torch.arange(len(rows), device=device), torch.tensor(places, device=device)]
        return architecture_of(model.config).logits(model, top).float().cpu()


@dataclass(frozen=True)
class _Told:
    """Whether the dictionary has the answer of each question, and its subject: (Q,) bool."""

    answer: np.ndarray
    subject: np.ndarray

    @classmethod
    def of(cls, languages: Languages, language: str, questions: Sequence[Question]) -> _Told:
        encode, known = languages.vocabulary.encode, set(languages.dictionary(SOURCE, language)[:, 0].tolist())
        return cls(
            *(
                np.array([known.issuperset(encode(word)) for word in words])
                for words in ([q.answer for q in questions], [q.subject for q in questions])
            )
        )

    @property
    def kinds(self) -> dict[str, np.ndarray]:
        """The questions of each kind, by the metric that is over them."""
        return {
            "seen": self.answer,
            "held-out": ~self.answer,
            "subject-seen": self.subject,
            "subject-held-out": ~self.subject,
        }


def _null(questions: Sequence[Question], given: np.ndarray, gold: np.ndarray, among: np.ndarray) -> dict[str, float]:
    """What accuracy over some questions is with their answers permuted, in the mean and at the quantile."""
    relations = np.array([question.relation for question in questions])
    random, hits = np.random.default_rng(0), np.zeros(PERMUTATIONS)
    for relation in dict.fromkeys(relations[among].tolist()):
        of = among & (relations == relation)
        permuted = random.permuted(np.tile(gold[of], (PERMUTATIONS, 1)), axis=1)  # (K, Q)
        hits += (permuted == given[of]).sum(1)
    return {"null": float(hits.mean() / among.sum()), "null-95": float(np.quantile(hits, LEVEL) / among.sum())}
