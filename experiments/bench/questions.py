"""Questions as rows, examples/s against transformers' fast tokenizer: `python -m experiments.bench.questions`.

In CPU seconds of one thread, on XQuAD in two languages, with 384 ids a row. Theirs is what transformers' own question
answering example does for training: a batch tokenised with overflowing windows, and the answer looked up in their
offsets. Ours also keeps what decoding needs (the characters of each id, and the window that shows it best). Windows of
both begin 128 sub-words or more after each other; ours are more. Needs CALQUE_DATA and CALQUE_ENCODER.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from transformers import AutoTokenizer

from analysis.tasks.questions import XQuAD
from analysis.tasks.rows import Reader, TaskRow
from derive.errors import BadInput
from derive.example import Example
from derive.sources.files import WRITTEN
from experiments.bench.timing import Comparison, agreement, arguments, interleaved, report

LENGTH, OVERLAP = 384, 128
LANGUAGES = ("en", "zh")


@dataclass(frozen=True)
class Asked:
    """A question and its context as text, and the characters of the answer: the first, and below which it ends."""

    question: str
    context: str
    start: int
    end: int


def as_text(example: Example) -> Asked:
    """An example, with the longest of its answers."""
    (question,), (context,) = example.texts
    bounds = [
        (context.length(span.start + 1) - len(context.words[span.start]), context.length(span.end))
        for span in context.spans
    ]
    return Asked(question.text, context.text, *max(bounds, key=lambda bound: bound[1] - bound[0]))


def theirs(tokenizer: Any, asked: Sequence[Asked]) -> list[tuple[list[int], int, int]]:
    """Ids, begin and end of each window, as transformers' example makes them."""
    encoded = tokenizer(
        [one.question for one in asked],
        [one.context for one in asked],
        truncation="only_second",
        max_length=LENGTH,
        stride=OVERLAP,
        return_overflowing_tokens=True,
        return_offsets_mapping=True,
    )
    made = []
    for row, offsets in enumerate(encoded["offset_mapping"]):
        ids, sides, sample = (
            encoded["input_ids"][row],
            encoded.sequence_ids(row),
            encoded["overflow_to_sample_mapping"][row],
        )
        first = sides.index(1)
        last = len(sides) - 1 - sides[::-1].index(1)
        if not (offsets[first][0] <= asked[sample].start and offsets[last][1] >= asked[sample].end):
            made.append((ids, 0, 0))
            continue
        while first < len(offsets) and offsets[first][0] <= asked[sample].start:
            first += 1
        while offsets[last][1] >= asked[sample].end:
            last -= 1
        made.append((ids, first - 1, last + 1))
    return made


def ours(examples: Sequence[Example], reader: Any) -> list[list[TaskRow]]:
    """The rows of each example."""
    task = XQuAD()
    return [task.rows(example, task.gold(example), (), reader, LENGTH)[0] for example in examples]


def timed(work: Callable[[], object]) -> Callable[[], float]:
    """CPU seconds of a call."""

    def turn() -> float:
        start = time.process_time()
        work()
        return time.process_time() - start

    return turn


def main() -> None:
    """Measure and report."""
    options = arguments("questions as rows against transformers' fast tokenizer", rounds=5, threads=1)
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    if not (data := os.environ.get("CALQUE_DATA")) or not (encoder := os.environ.get("CALQUE_ENCODER")):
        raise BadInput("this benchmark reads real questions with a real tokenizer: set CALQUE_DATA and CALQUE_ENCODER")
    tokenizer, reader = AutoTokenizer.from_pretrained(encoder), Reader.of_checkpoint(Path(encoder))
    made = []
    for language in LANGUAGES:
        path = Path(data) / "qa" / "xquad" / f"xquad.{language}.json"
        examples = list(WRITTEN["qa"](path, Counter()))
        asked = [as_text(example) for example in examples]
        mine, other = ours(examples, reader), theirs(tokenizer, asked)
        whole = {tuple(ids): (begin, end) for ids, begin, end in other}
        single = [rows[0] for rows in mine if len(rows) == 1]
        same = sum(whole.get(tuple(row.ids.tolist())) == tuple(row.targets.tolist()) for row in single)
        said = agreement(same, len(single), "rows of contexts that fit", least=0.98)
        sides = [timed(partial(ours, examples, reader)), timed(partial(theirs, tokenizer, asked))]
        mine_speed, other_speed = (len(examples) / seconds for seconds in interleaved(sides, options.rounds))
        rows = f"{sum(map(len, mine)):,} rows beside {len(other):,}"
        what = f"{len(examples):,} questions of XQuAD, {language}, {rows}; {said}"
        ratio = mine_speed / other_speed
        made.append(Comparison("questions", what, mine_speed, other_speed, "questions/CPU s", ratio))
    report(made, ["tokenizers", "transformers"], options.out)


if __name__ == "__main__":
    main()
