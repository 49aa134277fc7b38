"""Measure whether a model recalls facts stated in one language when queried in the same or a different
language. Shapes: Q questions, K permutations."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np

from calque.analysis.aligners.encoder import model_with_head, states
from calque.analysis.records.record import BOTH, CARRIED, KNOWN, Items, MeasuredModel, Measurement, Record
from calque.derive.errors import BadInput
from calque.derive.languages import SOURCE, Languages
from calque.derive.sentence import Question
from calque.pretrain.lazy import inference_mode, torch
from calque.pretrain.model import head_of, row_length

PERMUTATIONS, LEVEL = 1_000, 0.95  # number of permutations, and the quantile recorded next to a null's mean
NULLS = ("all", "seen", "held-out")  # groups of questions with a null distribution
UNDECIDED = -1


def knowledge(
    model: MeasuredModel, languages: Languages, questions: Sequence[Question], images: Sequence[Question]
) -> Measurement:
    """Measure accuracy on facts stated only in the source, queried in both languages, and on facts stated in
    both, with chance levels and null distributions."""
    network = model_with_head(model)
    gold = np.array([question.candidates.index(question.answer) for question in questions])
    shared = np.array([question.shared for question in questions])
    source_answers = answers(network, languages, SOURCE, questions)
    derived_answers = answers(network, languages, model.language, images)
    by_dictionary = _by_dictionary(languages, model.language, questions)
    candidates = np.array([len(question.candidates) for question in questions])
    records, measures = list[Record](), {KNOWN: ~shared, CARRIED: ~shared, BOTH: shared}
    for measure, among in measures.items():
        predicted = source_answers if measure == KNOWN else derived_answers
        kinds = {"all": among} | {name: among & kind for name, kind in by_dictionary.items()}
        if measure == CARRIED:
            kinds["known"] = among & (source_answers == gold)
        for metric, kind in kinds.items():
            if len(hits := (predicted == gold)[kind]):
                items = Items.over(hits, [1] * len(hits))
                records.append(model.record(measure, metric, float(hits.mean()), len(hits), items=items))
        chance = float(np.mean(1 / candidates[among]))
        records.append(model.record(measure, "chance", chance, int(among.sum())))
        for name in NULLS:
            if count := int(kinds[name].sum()):
                for level, value in _null(questions, predicted, gold, kinds[name]).items():
                    metric = level if name == "all" else f"{name}-{level}"
                    records.append(model.record(measure, metric, value, count))
    return Measurement(tuple(records))


@inference_mode
def answers(model: Any, languages: Languages, name: str, questions: Sequence[Question]) -> np.ndarray:
    """For each question, return the index of the candidate with the largest log-probability at the mask,
    summed over the question's clozes, (Q,); UNDECIDED for ties."""
    encode, language, specials = languages.vocabulary.encode, languages[name], languages.specials
    rows, places = [], []
    for cloze in chain.from_iterable(question.clozes for question in questions):
        words = list(map(encode, cloze.sentence.words))
        ids = language.of_words(np.array(list(chain.from_iterable(words))), list(map(len, words)))
        rows.append(np.concatenate([[specials.start], ids, [specials.end]]))
        places.append(1 + sum(map(len, words[: cloze.place])))
        rows[-1][places[-1]] = specials.mask
    if (longest := max(map(len, rows))) > (room := row_length(model.config)):
        raise BadInput(f"a question has {longest} ids, but the model's rows have at most {room}")
    logits = torch.empty(len(rows), model.config.vocab_size)
    for batch, hidden in states(model, rows, language.number):
        top = hidden[-1][range(len(batch)), [places[row] for row in batch]]
        logits[batch] = head_of(model)(top).float().cpu()
    predicted = np.full(len(questions), UNDECIDED)
    of_questions = logits.split([len(question.clozes) for question in questions])
    for number, (question, of_clozes) in enumerate(zip(questions, of_questions, strict=True)):
        types_of = np.array([encode(word)[0] for word in question.candidates])
        candidates = torch.from_numpy(language.of_words(types_of, [1] * len(types_of)))
        scores = of_clozes[:, candidates].sum(0)
        best = (scores == scores.max()).nonzero().flatten()
        if len(best) == 1:
            predicted[number] = int(best)
    return predicted


def _by_dictionary(
    languages: Languages, language: str, questions: Sequence[Question]
) -> dict[str, np.ndarray]:
    """Return masks of the questions (Q,) by whether their answer or subject is in the dictionary."""
    encode, entries = languages.vocabulary.encode, set(languages.dictionary(SOURCE, language)[:, 0].tolist())
    answer = np.array([entries.issuperset(encode(question.answer)) for question in questions])
    subject = np.array([entries.issuperset(encode(question.subject)) for question in questions])
    return {"seen": answer, "held-out": ~answer, "subject-seen": subject, "subject-held-out": ~subject}


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
