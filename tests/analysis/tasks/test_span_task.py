"""A task of another kind stands in one file: its rows, its head, how answers are read, how they are scored.

A question asks for one kind of thing, the context names some of each kind, and the answer is a span of the context: a
miniature of SQuAD, whose contexts may stand in several overlapping rows, whose answers are texts and whose scores are
exact match and F1.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
import torch
from torch import Tensor
from transformers import AutoModelForQuestionAnswering

from analysis.tasks.finetune import FinetuneConfig, finetune
from analysis.tasks.head import Head
from analysis.tasks.rows import Reader, Row
from analysis.tasks.score import Answer, Metric, Score
from analysis.tasks.split import Split, check
from analysis.tasks.task import Task
from derive.errors import BadInput
from derive.example import Example, write_examples
from derive.order import Invert
from derive.sentence import Sentence, Span
from derive.types import OURS
from tests.analysis.conftest import MakeCheckpoint

FIRST = len(OURS.ids)
"""The first id that is not special."""

KINDS = ("fruit", "fish", "fowl")
WORDS = {
    word: FIRST + i
    for i, word in enumerate(("which", *KINDS, *(f"{kind}{part}" for kind in KINDS for part in ("-a", "-b", "-c"))))
}
V = FIRST + len(WORDS)
READER = Reader(lambda word: (WORDS[word],), np.arange(V), 0)
CPU = torch.device("cpu")


class SpanHead(Head):
    """Two choices among the ids of a row: where the answer begins, and where it ends. K is 2, C is L."""

    @property
    def kind(self) -> Any:
        return AutoModelForQuestionAnswering

    def logits(self, output: Any, real: Tensor) -> Tensor:
        return torch.stack([output.start_logits, output.end_logits], dim=1).masked_fill(~real[:, None], -1e4)

    def answers(self, logits: Tensor) -> Tensor:
        """The best start, the best end behind it, and how much better they are than the first id, (B, 3)."""
        start, end = logits.float().unbind(1)
        pairs = start[:, :, None] + end[:, None] + torch.full_like(end[0].diag(), -1e4).tril(-1)
        pairs[:, 0] = pairs[:, :, 0] = -1e4
        best = pairs.flatten(1).max(1)
        width = start.shape[1]
        above = best.values - start[:, 0] - end[:, 0]
        return torch.stack([best.indices // width, best.indices % width, above], dim=1)


@dataclass(frozen=True)
class SpanRow(Row):
    """A window of a context; `places` (L,) are the context's words at its ids, -1 elsewhere."""

    places: np.ndarray


@dataclass(frozen=True)
class Which(Task):
    """The answer is the first span of the context; where a row lacks it, it is the row's first id."""

    stride: int = 3

    name: ClassVar[str] = "which"
    title: ClassVar[str] = "Which"
    metrics: ClassVar[tuple[Metric, ...]] = (Metric("f1", "F1"), Metric("exact", "exact match"))
    printed: ClassVar[str] = "f1"
    head: ClassVar[Head] = SpanHead()

    def gold(self, example: Example) -> Answer:
        if len(example.texts) != 2:
            raise ValueError(f"expected a question and a context, found {len(example.texts)} texts")
        context, answer = _context(example)
        return (" ".join(context.words[answer.start : answer.end]),)

    def labels(self, gold: Iterable[Answer]) -> tuple[str, ...]:
        return ()

    def rows(
        self, example: Example, gold: Answer, labels: Sequence[str], reader: Reader, length: int
    ) -> tuple[list[Row], bool]:
        context, answer = _context(example)
        marks = reader.specials
        asked = [id_ for sentence in example.texts[0] for word in sentence.words for id_ in reader.pieces(word)]
        before = [marks.start, *asked, marks.end, marks.end]
        room = length - len(before) - 1
        rows: list[Row] = []
        for first in range(0, max(1, len(context) - room + self.stride), self.stride):
            shown = range(first, min(first + room, len(context)))
            ids = [*before, *(reader.pieces(context.words[i])[0] for i in shown), marks.end]
            inside = answer.start in shown and answer.end - 1 in shown
            shift = len(before) - first
            target = [answer.start + shift, answer.end - 1 + shift] if inside else [0, 0]
            row = reader.row(ids, target)
            rows.append(SpanRow(row.ids, row.targets, np.array([-1] * len(before) + [*shown] + [-1])))
        return rows, len(rows) == 1

    def decode(
        self, example: Example, rows: Sequence[Row], answers: Sequence[np.ndarray], labels: Sequence[str]
    ) -> Answer:
        row, (start, end, _) = max(zip(rows, answers, strict=True), key=lambda said: float(said[1][2]))
        assert isinstance(row, SpanRow)
        places = row.places[int(start) : int(end) + 1]
        return (" ".join(_context(example)[0].words[i] for i in places if i >= 0),)

    def scores(self, gold: Sequence[Answer], predicted: Sequence[Answer]) -> dict[str, Score]:
        pairs = [(right.split(), said.split()) for (right,), (said,) in zip(gold, predicted, strict=True)]
        common = [2 * sum(word in right for word in said) for right, said in pairs]
        one = [1] * len(pairs)
        return {
            "f1": Score.over(common, [len(right) + len(said) for right, said in pairs], len(pairs)),
            "exact": Score.over([right == said for right, said in pairs], one, len(pairs)),
        }


def _context(example: Example) -> tuple[Sentence, Span]:
    (context,) = example.texts[1]
    if not context.spans:
        raise ValueError("the context has no answer")
    return context, context.spans[0]


def example(draw: random.Random) -> Example:
    """Which fish? fowl-a fowl-c fish-a fish-b fish-c fruit-a fruit-b fruit-c, in any order."""
    asked, words, span = draw.choice(KINDS), list[str](), Span(0, 1, "answer")
    for kind in draw.sample(KINDS, 3):
        named = [f"{kind}-a", *[f"{kind}-b"] * draw.randint(0, 1), f"{kind}-c"]
        words += named
        if kind == asked:
            span = Span(len(words) - len(named), len(words), "answer")
    return Example(((Sentence(("which", asked)),), (Sentence(tuple(words), spans=(span,)),)))


def written(path: Path, count: int, seed: int) -> Split:
    draw = random.Random(seed)
    write_examples(path, [example(draw) for _ in range(count)])
    return Split(path, Which())


@pytest.mark.parametrize(("length", "windows"), [(24, 1), (11, 2)])
def test_what_is_right_is_decoded_to_itself_from_whichever_window_has_it(
    tmp_path: Path, length: int, windows: int
) -> None:
    split = written(tmp_path / "test.jsonl", 50, seed=0)
    encoded = split.encode((), READER, length)
    assert encoded.lengths.max() <= length and encoded.counts.min() >= windows
    assert encoded.cut == sum(encoded.counts > 1)
    right = [np.array([*row.targets, float(row.targets[0] > 0)]) for row in encoded.rows]
    said = split.decode(encoded, right, ())
    assert said == split.gold
    assert {name: score.value for name, score in Which().scores(split.gold, said).items()} == {"f1": 1, "exact": 1}


def test_answers_point_behind_their_start_and_never_into_padding() -> None:
    logits = torch.zeros(1, 2, 6)
    logits[0, 0, 4], logits[0, 1, 2], logits[0, 1, 5] = 3, 5, 2
    start, end, above = SpanHead().answers(logits)[0].tolist()
    assert (start, end, above) == (1, 2, 5) or (start, end) == (4, 5)
    output = type("Output", (), {"start_logits": torch.zeros(1, 3), "end_logits": torch.zeros(1, 3)})
    real = torch.tensor([[True, True, False]])
    assert SpanHead().logits(output, real)[0, :, 2].tolist() == [-1e4, -1e4]


def test_a_span_task_is_learned_and_scored_by_the_loop_that_knows_none(
    make_checkpoint: MakeCheckpoint, tmp_path: Path
) -> None:
    train, test = written(tmp_path / "train.jsonl", 400, seed=0), written(tmp_path / "test.jsonl", 60, seed=1)
    labels = check(train, [train, test])
    assert labels == ()
    checkpoint = make_checkpoint(V)
    still, learnt = (
        finetune(checkpoint, train.encode(labels, READER, 24), Which.head, 0, config, 0, CPU)
        for config in (
            FinetuneConfig(learning_rate=1e-9, epochs=1),
            FinetuneConfig(learning_rate=5e-3, epochs=8, batch=16, dropout=0.0),
        )
    )
    rows = test.encode(labels, READER, 24)
    before, after = (
        Which().scores(test.gold, test.decode(rows, model.answers(rows), labels)) for model in (still, learnt)
    )
    assert before["exact"].value < 0.4 < 0.8 < after["exact"].value <= after["f1"].value
    assert after["f1"].items is not None and after["exact"].count == 60


def test_answers_follow_their_words_into_a_derived_language() -> None:
    made = example(random.Random(0))
    image = made.derive(Invert(), 0)
    assert Which().gold(image)[0].split() == Which().gold(made)[0].split()[::-1]
    ((row,), _) = Which().rows(image, Which().gold(image), (), READER, 24)
    start, end = row.targets
    assert [row.ids[i] for i in range(start, end + 1)] == [WORDS[word] for word in Which().gold(image)[0].split()]
    assert (row.ids[0], row.ids[-1]) == (OURS.start, OURS.end)


def test_a_context_without_an_answer_is_refused_with_its_line(tmp_path: Path) -> None:
    split = written(tmp_path / "test.jsonl", 2, seed=0)
    bare = Example(((Sentence(("which",)),), (Sentence(("fish-a",)),)))
    write_examples(split.path, [*(made for made, _ in split), bare])
    with pytest.raises(BadInput, match=r"test\.jsonl:3: no example of the task which: the context has no answer"):
        split.check(())
