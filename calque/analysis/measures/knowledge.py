"""Measure recall of facts that are stated in one language and queried in either. Shapes: Q questions."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np

from calque.analysis.aligners import open_encoder, states
from calque.analysis.records.record import BOTH, CARRIED, KNOWN, Items, MeasuredModel, Measurement, Record
from calque.analysis.tasks.task import Reader
from calque.derive.errors import BadInput
from calque.derive.languages import SOURCE, Languages
from calque.derive.sentence import Question
from calque.pretrain.lazy import inference_mode, torch
from calque.pretrain.model import head_of, row_length

PERMUTATIONS, LEVEL = 1_000, 0.95  # number of permutations, and the quantile recorded next to a null's mean
UNDECIDED = -1


def knowledge(
    model: MeasuredModel, languages: Languages, questions: Sequence[Question], images: Sequence[Question]
) -> Measurement:
    """Measure accuracy on facts stated in the source (queried in both languages) and in both, with nulls."""
    network = open_encoder(model.checkpoint, model.device, with_head=True)
    gold = np.array([question.candidates.index(question.answer) for question in questions])
    shared = np.array([question.shared for question in questions])
    candidates = np.array([len(question.candidates) for question in questions])
    entries, encode = languages.dictionary(SOURCE, model.language)[:, 0], languages.vocabulary.encode
    seen = np.array([bool(np.isin(encode(question.answer), entries).all()) for question in questions])
    in_source = answers(network, languages, SOURCE, questions)
    in_derived = answers(network, languages, model.language, images)
    records, measures = list[Record](), {KNOWN: ~shared, CARRIED: ~shared, BOTH: shared}
    for measure, among in measures.items():
        predicted = in_source if measure == KNOWN else in_derived
        chance = float(np.mean(1 / candidates[among]))
        records.append(model.record(measure, "chance", chance, int(among.sum())))
        groups = {"all": among, "seen": among & seen, "held-out": among & ~seen}
        if measure == CARRIED:
            groups["known"] = among & (in_source == gold)
        for metric, group in groups.items():
            if len(hits := (predicted == gold)[group]):
                items = Items.over(hits, [1] * len(hits))
                records.append(model.record(measure, metric, float(hits.mean()), len(hits), items=items))
                null = {} if metric == "known" else _null(questions, predicted, gold, group)
                for level, value in null.items():
                    name = level if metric == "all" else f"{metric}-{level}"
                    records.append(model.record(measure, name, value, len(hits)))
    return Measurement(tuple(records))


@inference_mode
def answers(model: Any, languages: Languages, name: str, questions: Sequence[Question]) -> np.ndarray:
    """For each question, return the index of the candidate with the largest log-probability at the mask,
    summed over the question's clozes, (Q,); UNDECIDED for ties."""
    encode, specials = Reader.of(languages, name).encode, languages.specials
    rows, places = [], []
    for cloze in chain.from_iterable(question.clozes for question in questions):
        words = list(map(encode, cloze.sentence.words))
        rows.append([specials.start, *chain.from_iterable(words), specials.end])
        places.append(1 + sum(map(len, words[: cloze.place])))
        rows[-1][places[-1]] = specials.mask
    if (longest := max(map(len, rows))) > (room := row_length(model.config)):
        raise BadInput(f"a question has {longest} ids, but the model's rows have at most {room}")
    logits = torch.empty(len(rows), model.config.vocab_size)
    for batch, hidden in states(model, rows, languages[name].number):
        top = hidden[-1][range(len(batch)), [places[row] for row in batch]]
        logits[batch] = head_of(model)(top).float().cpu()
    predicted = np.full(len(questions), UNDECIDED)
    of_questions = logits.split([len(question.clozes) for question in questions])
    for number, (question, of_clozes) in enumerate(zip(questions, of_questions, strict=True)):
        scores = of_clozes[:, [encode(word)[0] for word in question.candidates]].sum(0)
        best = (scores == scores.max()).nonzero().flatten()
        if len(best) == 1:
            predicted[number] = int(best)
    return predicted


def _null(
    questions: Sequence[Question], predicted: np.ndarray, gold: np.ndarray, among: np.ndarray
) -> dict[str, float]:
    """Return the mean and a quantile of the accuracy after permuting gold answers within each relation."""
    relations = np.array([question.relation for question in questions])
    random, hits = np.random.default_rng(0), np.zeros(PERMUTATIONS)
    for relation in dict.fromkeys(relations[among].tolist()):
        chosen = among & (relations == relation)
        permuted = random.permuted(np.tile(gold[chosen], (PERMUTATIONS, 1)), axis=1)  # (K, Q)
        hits += (permuted == predicted[chosen]).sum(1)
    count = among.sum()
    return {"null": float(hits.mean() / count), "null-95": float(np.quantile(hits, LEVEL) / count)}
