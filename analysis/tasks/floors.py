"""The floors of a task: its baselines, learnt and scored on the examples that models are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache

from analysis.baselines.baseline import Baseline, Spell
from analysis.records.record import Floor
from analysis.tasks.rows import Reader
from analysis.tasks.score import Score
from analysis.tasks.split import Split
from analysis.tasks.task import Task
from derive.languages import Languages
from derive.task_data import TaskFolder

Progress = Callable[[int, int], None]
"""Called with how many baselines have learnt and how many there are, over all languages that are learnt from."""


def floors(
    examples: TaskFolder,
    task: Task,
    pairs: Sequence[tuple[str, str]],
    spell: Mapping[str, Spell],
    progress: Progress = lambda done, of: None,
    scored: Callable[[str], Task] | None = None,
) -> list[Floor]:
    """Every metric of every baseline of a task on (language learnt from, language tested in), in the order of `pairs`.

    Examples of derived languages are the source's words in another order, and a model tells a new script by its ids:
    `spell` tells each language's words apart as ids do (`spelling`). A baseline learns all training examples and is
    asked all test examples, none of them cut. `scored` is the task as it is scored in a language, where that differs.

    Raises:
        BadInput: the examples are missing or damaged.
    """
    made: dict[tuple[str, str, str], list[Floor]] = {}
    firsts = list(dict.fromkeys(first for first, _ in pairs))
    for number, first in enumerate(firsts):
        train = Split(examples.path("train", first), task)
        for place, baseline in enumerate(task.baselines):
            progress(number * len(task.baselines) + place, len(firsts) * len(task.baselines))
            learnt = baseline.learn(train, spell[first])
            for second in (second for other, second in pairs if other == first):
                test = list(Split(examples.path("test", second), task))
                said = learnt((example for example, _ in test), spell[second])
                scores = (scored(second) if scored else task).scores([right for _, right in test], said)
                made[first, second, baseline.name] = [
                    _floor(baseline, task, metric, score, second, first) for metric, score in scores.items()
                ]
    return [row for pair in pairs for baseline in task.baselines for row in made[*pair, baseline.name]]


def _floor(baseline: Baseline, task: Task, metric: str, score: Score, language: str, learnt: str) -> Floor:
    return Floor(
        baseline.name,
        baseline.title,
        task.name,
        metric,
        score.value,
        score.count,
        language,
        learnt,
        baseline.surface,
        score.items,
    )


def spelling(languages: Languages, name: str) -> Spell:
    """How words are told apart in a language: one whose ids are not the source's is another word than there.

    Where a part of the types is shared with the source, a word is shared if all its sub-words are.
    """
    reader = Reader.of(languages, name)

    @cache
    def spell(word: str) -> str:
        moved = any(reader.table[piece] != piece for piece in reader.encode(word))
        return f"{word}\0{name}" if moved else word

    return spell
