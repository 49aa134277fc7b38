from dataclasses import replace
from itertools import cycle, pairwise, product

import pytest

from calque.analysis.tasks.catalogue import NER, NLI, POS, QA, Paraphrase, floors, spelling
from calque.analysis.tasks.score import accuracy
from calque.derive.build import Derivation, derive_languages
from calque.derive.languages import SOURCE, Languages
from calque.derive.order import Invert
from calque.derive.pocket.language import Pocket, PocketEnglish, Sizes
from calque.derive.readers.examples import ANSWER, LABELS
from calque.derive.sentence import Example, Span
from calque.derive.task_data import TaskFolder, derive_task
from calque.derive.transform import compose
from calque.derive.transforms import Transliterate

INVERTED, PARTLY = compose(Transliterate(), Invert()), Transliterate(overlap=0.5)
TRANSFORMS = (INVERTED, PARTLY)
SIZES = Sizes(train=200, dev=5, test=60)
TASKS = (POS(), NER(), NLI(), QA(), Paraphrase())


class WithPairs(PocketEnglish):
    """Pocket English with arbitrary pairs and questions."""

    tasks = tuple(task.name for task in TASKS)

    def task_fingerprint(self, task, trees=False):
        return task

    def task_data(self, task):
        if task in ("pos", "ner"):
            return super().task_data(task)
        data = super().task_data("pos")
        labels = cycle({"qa": [""], "nli": LABELS[:3], "paraphrase": LABELS[3:]}[task])
        for split, examples in data.examples.items():
            pairs = pairwise(example.sentences[0] for example in examples)
            data.examples[split] = [Example(((a,), (answering(b),)), next(labels)) for a, b in pairs]
        return data


def answering(sentence):
    return replace(sentence, spans=(Span(0, 1, ANSWER),))


@pytest.fixture(scope="module")
def source():
    return WithPairs(language=Pocket(types=300), size=400, pos=SIZES, ner=SIZES)


@pytest.fixture(scope="module")
def languages(source, tmp_path_factory):
    folder, cache = tmp_path_factory.mktemp("a") / "languages", tmp_path_factory.mktemp("cache")
    derive_languages(Derivation(source, TRANSFORMS, 600), folder, cache)
    return Languages.open(folder, [transform.name for transform in TRANSFORMS])


@pytest.mark.parametrize("task", TASKS, ids=lambda x: x.name)
def test_every_baseline_is_scored_on_every_pair_by_every_metric(source, languages, task, tmp_path):
    examples = TaskFolder.open(
        derive_task(source, task.name, TRANSFORMS, tmp_path / "task", tmp_path / "cache")
    )
    names = (SOURCE, INVERTED.name, PARTLY.name)
    pairs = [(SOURCE, SOURCE), *((first, name) for name in names[1:] for first in (SOURCE, name))]
    told = []
    spell = {name: spelling(languages, name) for name in names}
    made = floors(examples, dict.fromkeys(names, task), pairs, spell, lambda *said: told.append(said))
    every = product(pairs, task.baselines, task.metrics)
    expected = [(*pair, baseline.name, metric.name) for pair, baseline, metric in every]
    assert [(f.learnt, f.language, f.baseline, f.metric) for f in made] == expected
    assert len(told) == 3 * len(task.baselines)
    by = {(f.learnt, f.language, f.baseline): f for f in made if f.metric == task.primary}
    for (learnt, language, name), floor in by.items():
        assert 0 <= floor.value <= 1 and floor.items and floor.task == task.name
        if (learnt, language) == (SOURCE, INVERTED.name):
            assert floor.value == by[SOURCE, INVERTED.name, "majority"].value
        if name == "majority" and task.name == "pos":
            gold = [task.gold(example) for example in examples.examples("test", language)]
            counts = [tag for e in examples.examples("train", learnt) for tag in task.gold(e)]
            best = max(sorted(set(counts)), key=counts.count)
            assert floor.value == accuracy(gold, [(best,) * len(tags) for tags in gold]).value
        if name == "unigram" and task.name == "pos" and language == PARTLY.name and learnt == SOURCE:
            assert by[SOURCE, PARTLY.name, "majority"].value < floor.value
            assert floor.value < by[PARTLY.name, PARTLY.name, name].value
