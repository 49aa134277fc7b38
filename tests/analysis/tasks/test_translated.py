"""Training sets of two languages: translations line by line, and pairs with a text of each."""

import random
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from calque.analysis.records.record import SWITCHED, TRANSLATED
from calque.analysis.tasks.classification import NLI, SAME_OR_NOT, Paraphrase
from calque.analysis.tasks.finetune import FinetuneConfig, batches_of, finetune
from calque.analysis.tasks.questions import QA
from calque.analysis.tasks.rows import Reader
from calque.analysis.tasks.split import EncodedSet, Split, together
from calque.analysis.tasks.task import Task
from calque.analysis.tasks.transfer import DerivedTask, transfer, translate_train
from calque.derive.errors import BadInput
from calque.derive.example import Example, write_examples
from calque.derive.languages import Languages
from calque.derive.order import Invert
from calque.derive.sentence import Sentence, Span
from calque.derive.task_data import TaskFolder
from calque.derive.transform import Account, image_of_example
from calque.derive.types import OURS
from tests.analysis.conftest import MakeCheckpoint
from tests.analysis.tasks.test_transfer import QUICK, V, data, model_of

__all__ = ["data"]

WORDS = 20
FIRST = len(OURS.ids)
SIZE = FIRST + WORDS
"""Types of a language; the other's follow them, special ones shared."""
CPU = torch.device("cpu")


def numbered(word: str) -> tuple[int, ...]:
    return (FIRST + int(word.removeprefix("w")),)


SOURCE = Reader(numbered, np.arange(SIZE), 0)
DERIVED = Reader(numbered, np.r_[:FIRST, SIZE : SIZE + WORDS], 1)


def text(draw: random.Random, least: int = 2) -> Sentence:
    return Sentence(tuple(f"w{draw.randrange(WORDS)}" for _ in range(draw.randint(least, 6))))


def pair(draw: random.Random, labels: Sequence[str] = ("no", "yes")) -> Example:
    return Example(((text(draw),), (text(draw),)), draw.choice(labels))


def question(draw: random.Random) -> Example:
    context = text(draw, 3)
    return Example(((text(draw),), (replace(context, spans=(Span(1, 3, "answer"),)),)), id=f"q{draw.random()}")


MADE = {NLI(): pair, Paraphrase(): partial(pair, labels=SAME_OR_NOT), QA(): question}
LABELS = {NLI(): ("no", "yes"), Paraphrase(): SAME_OR_NOT, QA(): ()}


def sets(folder: Path, task: Task, count: int = 12) -> tuple[Split, Split]:
    """A set, and the same with its words inverted, as a translation."""
    draw = random.Random(0)
    examples = [MADE[task](draw) for _ in range(count)]
    write_examples(folder / "source.jsonl", examples)
    write_examples(
        folder / "derived.jsonl", [image_of_example(Invert(), one, i, Account()) for i, one in enumerate(examples)]
    )
    return Split(folder / "source.jsonl", task), Split(folder / "derived.jsonl", task)


def parts(ids: np.ndarray) -> list[list[int]]:
    """What stands between the special ids."""
    found: list[list[int]] = [[]]
    for one in ids.tolist():
        if one < FIRST:
            found.append([])
        else:
            found[-1].append(one)
    return [part for part in found if part]


@pytest.mark.parametrize("task", list(MADE))
def test_each_pair_has_a_text_of_each_language_both_ways_round(task: Task, tmp_path: Path) -> None:
    first, second = sets(tmp_path, task)
    labels = LABELS[task]
    made = first.switched(second, labels, (SOURCE, DERIVED), 64)
    assert len(made.rows) == 24 and made.cut == 0 and made.counts.tolist() == [1] * 24
    assert made.units.tolist() == [i // 2 for i in range(24)]
    alone = [split.encode(labels, reader, 64).rows for split, reader in ((first, SOURCE), (second, DERIVED))]
    for number, (source, derived) in enumerate(zip(*alone, strict=True)):
        mixed, turned = made.rows[2 * number : 2 * number + 2]
        assert parts(mixed.ids) == [parts(source.ids)[0], parts(derived.ids)[1]]
        assert parts(turned.ids) == [parts(derived.ids)[0], parts(source.ids)[1]]
        assert mixed.languages.tolist() == sorted(mixed.languages) and set(mixed.languages) == {0, 1}
        for row, of in ((mixed, (SOURCE, DERIVED)), (turned, (DERIVED, SOURCE))):
            for place, one in enumerate(row.ids.tolist()):
                assert one < FIRST or (one >= SIZE) == bool(row.languages[place])
            assert row.languages[0] == of[0].number and row.languages[-1] == of[1].number
        for row, whose in ((mixed, derived), (turned, source)):  # the answer is where the context is
            if isinstance(task, QA):
                assert row.ids[slice(*row.targets)].tolist() == whose.ids[slice(*whose.targets)].tolist()
            else:
                assert row.targets.tolist() == whose.targets.tolist()


def test_together_keeps_rows_counts_and_what_stands_together(tmp_path: Path) -> None:
    first, second = sets(tmp_path, NLI(), 5)
    labels = ("no", "yes")
    plain, mixed = first.encode(labels, SOURCE, 64), first.switched(second, labels, (SOURCE, DERIVED), 64)
    whole = together(plain, mixed, plain)
    assert whole.rows == (*plain.rows, *mixed.rows, *plain.rows)
    assert whole.counts.sum() == len(whole.rows) == 20
    assert whole.units.tolist() == [0, 1, 2, 3, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 15, 16, 17, 18, 19]


@given(st.lists(st.integers(1, 4), min_size=1, max_size=30), st.integers(1, 6), st.integers(0, 9))
def test_batches_have_every_row_once_and_no_unit_in_two(sizes: list[int], batch: int, seed: int) -> None:
    units = np.repeat(np.arange(len(sizes)) * 3, sizes)  # any rising numbers
    made = batches_of(units, batch, [seed, 0])
    assert sorted(np.concatenate(made).tolist()) == list(range(len(units)))
    assert [set(units[rows]) for rows in made] == [
        {unit for unit in units[rows] if (units[rows] == unit).sum() == (units == unit).sum()} for rows in made
    ]
    assert all(len(rows) <= batch or len(set(units[rows])) == 1 for rows in made)
    assert sum(len(set(units[rows])) for rows in made) == len(sizes)


def test_rows_for_themselves_are_shuffled_as_before() -> None:
    """As one permutation cut into batches: what fine-tuning of one language has always been."""
    for rows, batch in ((10, 3), (12, 4), (1, 5)):
        order = np.random.default_rng([7, 2]).permutation(rows)
        expected = [order[start : start + batch].tolist() for start in range(0, rows, batch)]
        assert [one.tolist() for one in batches_of(np.arange(rows), batch, [7, 2])] == expected


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda rows: rows[:-1], "derived.jsonl: ends before line 12; expected a translation of "),
        (lambda rows: [*rows, rows[0]], "source.jsonl: ends before line 13; expected a translation of "),
        (lambda rows: [*rows[:4], replace(rows[4], label="never"), *rows[5:]], "its label is 'never', not "),
        (lambda rows: [replace(rows[0], id="a"), *rows[1:]], "derived.jsonl:1: expected the translation of line 1 of "),
    ],
)
def test_a_set_that_is_no_translation_is_refused_with_its_line(change, said: str, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    first, second = sets(tmp_path, NLI())
    write_examples(second.path, change([example for example, _ in second]))
    for look in (
        lambda: first.check_translation(second),
        lambda: first.switched(second, ("never", "no", "yes"), (SOURCE, DERIVED), 64),
    ):
        with pytest.raises(BadInput) as caught:
            look()
        assert said in str(caught.value)


def test_a_model_that_tells_languages_apart_sees_each_texts_own(
    make_checkpoint: MakeCheckpoint, tmp_path: Path
) -> None:
    """Logits change with the language numbers of half of a row, and of nothing else."""
    first, second = sets(tmp_path, NLI())
    made = first.switched(second, ("no", "yes"), (SOURCE, DERIVED), 64)
    config = FinetuneConfig(learning_rate=1e-3, epochs=1, batch=4)
    model = finetune(make_checkpoint(SIZE + WORDS, languages=3), made, NLI().head, 2, config, 0, CPU)
    row = made.rows[0]
    wrong = replace(row, languages=np.zeros(1, np.uint8))
    right = replace(row, languages=np.where(np.arange(len(row.ids)) < len(parts(row.ids)[0]) + 2, 0, 1))
    model.model.eval()
    with torch.inference_mode():
        said = [model.logits([one]) for one in (row, wrong, right)]
    assert torch.equal(said[0], said[2]) and not torch.equal(said[0], said[1])


def test_translate_train_is_fine_tuning_on_both_sets(data: Path, make_checkpoint: MakeCheckpoint) -> None:
    run = model_of(make_checkpoint(2 * V), "trans.inv")
    languages, examples = Languages.open(data, ["trans.inv"]), TaskFolder.open(data / "tasks" / "nli")
    found = {
        (row.measure, row.metric): row
        for way in (TRANSLATED, SWITCHED)
        for row in translate_train(run, DerivedTask(NLI(), languages, examples, QUICK), way).records
    }
    metrics = ("accuracy", "accuracy of passive")
    assert set(found) == {(f"{way}{of}", m) for way in (TRANSLATED, SWITCHED) for of in ("", "-SRC") for m in metrics}
    task = NLI()
    readers = [Reader.of(languages, name) for name in ("source", "trans.inv")]
    splits = [Split(examples.path("train", name), task) for name in ("source", "trans.inv")]
    labels = ("entailment", "neutral")
    plain = [split.encode(labels, reader, 32) for split, reader in zip(splits, readers, strict=True)]
    mixed = splits[0].switched(splits[1], labels, (readers[0], readers[1]), 32)
    test = Split(examples.path("test", "trans.inv"), task)
    for way, parts_ in ((TRANSLATED, plain), (SWITCHED, [*plain, mixed])):
        whole: EncodedSet = together(*parts_)
        model = finetune(run.checkpoint, whole, task.head, 2, QUICK, run.seed, CPU)
        rows = test.encode(labels, readers[1], 32)
        score = task.scores(test.gold, test.decode(rows, model.answers(rows), labels))["accuracy"]
        row = found[way, "accuracy"]
        assert (row.value, row.items) == (score.value, score.items)
    known = {(row.measure, row.metric) for row in transfer(run, DerivedTask(task, languages, examples, QUICK)).records}
    assert not known & set(found)
