"""The floors of a task: its baselines, learnt and scored on the examples that models learn and are scored on."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache

from analysis.baselines.baseline import Spell
from analysis.records.record import Floor
from analysis.tasks.rows import Reader
from analysis.tasks.split import Split
from analysis.tasks.task import Task
from derive.languages import Languages
from derive.task_data import TaskFolder


def floors(
    examples: TaskFolder,
    task: Task,
    pairs: Sequence[tuple[str, str]],
    spell: Mapping[str, Spell],
    progress: Callable[[int, int], None] = lambda done, total: None,
    scored: Callable[[str], Task] | None = None,
) -> list[Floor]:
    """Every metric of every baseline of a task on (language learnt, language tested), in the order of `pairs`.

    Examples of derived languages are the source's words in another order, and a model distinguishes a new script by its
    ids: `spell` distinguishes each language's words as ids do (`spelling`). A baseline learns all training examples and
    is tested on all test examples, none of them cut. `scored` is the task as it is scored in a language, if that
    differs. `progress` counts the baselines that have learnt, over all languages that are learnt.
    """
    by_pair: dict[tuple[str, str], list[Floor]] = {pair: [] for pair in pairs}
    firsts = list(dict.fromkeys(first for first, _ in pairs))
    for number, first in enumerate(firsts):
        train = Split(examples.path("train", first), task)
        for place, baseline in enumerate(task.baselines):
            progress(number * len(task.baselines) + place, len(firsts) * len(task.baselines))
            learnt = baseline.learn(train, spell[first])
            for pair in (pair for pair in by_pair if pair[0] == first):
                second = pair[1]
                test = list(Split(examples.path("test", second), task))
                predictions = learnt((example for example, _ in test), spell[second])
                scores = (scored(second) if scored else task).scores([gold for _, gold in test], predictions)
                for metric, score in scores.items():
                    about = task.name, metric, score.value, score.count, second, first
                    by_pair[pair].append(Floor(baseline.name, baseline.title, *about, baseline.surface, score.items))
    return [floor for pair in pairs for floor in by_pair[pair]]


def spelling(languages: Languages, name: str) -> Spell:
    """How words are distinguished in a language: a word whose ids are not the source's is another word. Where a part of
    the types is shared with the source, a word is shared if all its sub-words are."""
    reader = Reader.of(languages, name)

    @cache
    def spell(word: str) -> str:
        moved = any(reader.table[piece] != piece for piece in reader.encode(word))
        return f"{word}\0{name}" if moved else word

    return spell
