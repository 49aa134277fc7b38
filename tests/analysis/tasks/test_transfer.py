import random
from dataclasses import dataclass, replace

import numpy as np
import pytest

from calque.analysis.records.record import ENTRY, NO_ENTRY, MeasuredModel
from calque.analysis.tasks.catalogue import NER, NLI, POS, Tagging
from calque.analysis.tasks.score import Score
from calque.analysis.tasks.task import Reader, Split
from calque.analysis.tasks.transfer import (
    DerivedTask,
    FinetuneConfig,
    by_entry,
    finetune,
    transfer,
    zero_shot,
)
from calque.derive.corpus import Corpus, CorpusWriter
from calque.derive.dictionary import write_dictionary
from calque.derive.files import making, write_manifest
from calque.derive.languages import DICTIONARY, FORMAT, WRONG, Languages
from calque.derive.languages import KIND as LANGUAGES
from calque.derive.order import Invert
from calque.derive.readers.conllu import read_conllu
from calque.derive.sentence import Example, Sentence, Span, read_examples, write_examples
from calque.derive.sources.files import TaskFiles
from calque.derive.task_data import FORMAT as TASK_FORMAT
from calque.derive.task_data import KIND, TaskFolder, write_natural_task
from calque.derive.transform import Account, Transform, compose, image_of_example
from calque.derive.transforms import Transliterate
from calque.derive.vocabulary import OURS, open_vocabulary
from calque.derive.workers import silent
from tests.derive.test_task_data import treebank
from tests.treebanks import write_treebank
from tests.vocabularies import learn

FIRST = len(OURS.ids)

V = 285  # large enough to make every toy word one sub-word
TASKS = (POS(), NER(), NLI())
QUICK = FinetuneConfig(learning_rate=5e-3, epochs=2, batch=16)
TAGS = {"dog": "NOUN", "cat": "NOUN", "Sara": "PROPN", "sees": "VERB", "likes": "VERB"}
TAGS |= {"old": "ADJ", "the": "DET"}
TRANS, TRANS_INV = Transliterate(), compose(Transliterate(), Invert())


def sentence(draw):
    words = [draw.choice(list(TAGS)) for _ in range(draw.randint(3, 7))] + ["Sara"]
    spans = tuple(Span(i, i + 1, "PER") for i, word in enumerate(words) if word == "Sara")
    return Sentence(tuple(words), tuple(TAGS[word] for word in words), spans=spans)


def pair(draw):
    premise = sentence(draw)
    return Example(((premise,), (sentence(draw),)), draw.choice(["entailment", "neutral"]), "passive")


@dataclass(frozen=True)
class Same(Transform):
    name = "same"

    def __call__(self, sentence, number=0):
        return sentence


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder, draw = tmp_path_factory.mktemp("data"), random.Random(0)
    vocabulary = learn([sentence(draw).words for _ in range(200)], V)
    vocabulary.save(folder / "vocabulary")
    languages = [Same(), TRANS, TRANS_INV]
    line = Corpus.of(*(np.array([n]) for n in (FIRST, 1, 1, 0)))  # evaluation reads no corpus
    for name in ("source", *(transform.name for transform in languages)):
        writer = CorpusWriter(folder / name, 2 * V)
        writer.append(line, 0)
        writer.finish()
    for transform in languages:
        image = transform.image(vocabulary.size)
        np.save(folder / transform.name / "image.npy", image)
        known = [vocabulary.encode(word)[0] for word in ("dog", "the")]
        pairs = np.array([known, np.roll(image[known], transform is TRANS)]).T  # wrong in one language
        write_dictionary(folder / transform.name / DICTIONARY, pairs, vocabulary)
    names = [transform.name for transform in languages]
    facts = {
        "format": FORMAT,
        "languages": {name: {WRONG: 2} if name == TRANS.name else {} for name in ("source", *names)},
        "pairs": [{"languages": ["source", name], "folder": name} for name in names],
        "vocabulary": vocabulary.account,
    }
    write_manifest(folder, LANGUAGES, facts)
    for task in TASKS:
        with making(folder / "tasks" / task.name, KIND, {"format": TASK_FORMAT, "task": task.name}) as part:
            for split, size in (("train", 96), ("dev", 24), ("test", 48)):
                tagged = isinstance(task, Tagging)
                examples = [Example(((sentence(draw),),)) if tagged else pair(draw) for _ in range(size)]
                write_examples(part / f"{split}.jsonl", examples)
                for transform in languages:
                    numbered = enumerate(examples)
                    images = [image_of_example(transform, each, i, Account()) for i, each in numbered]
                    write_examples(part / f"{split}.{transform.name}.jsonl", images)
    return folder


def model_of(checkpoint, language, seed=3):
    return MeasuredModel(checkpoint, checkpoint.parent.name, language, seed)


@pytest.fixture
def run(make_checkpoint):
    return model_of(make_checkpoint(2 * V), "trans.inv")


def evaluate(run, data, task, config):
    languages, examples = Languages.open(data, [run.language]), TaskFolder.open(data / "tasks" / task.name)
    return list(transfer(run, DerivedTask(task, languages, examples, config), silent).records)


def number(rows, measure, task, metric):
    [value] = [row.value for row in rows if (row.measure, row.task, row.metric) == (measure, task, metric)]
    return value


def test_every_number_has_its_record(run, data):
    rows = [row for task in TASKS for row in evaluate(run, data, task, QUICK)]
    metrics = {"pos": ["accuracy", "f1_bare_tags"], "ner": ["f1", "accuracy"], "nli": ["accuracy"]}
    expected = {
        (m, t, k) for t, kinds in metrics.items() for k in kinds for m in ("SRC", "DEV", "ZS", "SUP", "DELTA")
    }
    expected |= {(m, t, k) for t in ("pos", "ner") for k in (ENTRY, NO_ENTRY) for m in ("ZS", "SUP", "DELTA")}
    assert {(row.measure, row.task, row.metric) for row in rows} == expected
    assert len(rows) == len(expected)
    assert {(row.run, row.language, row.step) for row in rows} == {(run.run, "trans.inv", 0)}
    for row in rows:
        assert (row.items is not None) == (row.measure in ("SUP", "ZS"))
        if row.items is not None:
            hits, of = row.items.numbers
            assert sum(hits) / sum(of) == row.value
    for task in TASKS:
        delta = number(rows, "SUP", task.name, task.primary) - number(rows, "ZS", task.name, task.primary)
        assert number(rows, "DELTA", task.name, task.primary) == delta
    entities = sum(len(e.texts[0][0].spans) for e in read_examples(data / "tasks" / "ner" / "test.jsonl"))
    counts = {row.count for row in rows if (row.task, row.metric) == ("ner", "f1") and row.measure != "DEV"}
    assert counts == {entities}  # the gold entities


def test_transfer_to_an_identical_language_is_complete(run, data):
    same = replace(run, language=Same().name)
    for task in TASKS:
        rows = evaluate(same, data, task, QUICK)
        assert len({number(rows, name, task.name, task.primary) for name in ("SRC", "ZS", "SUP")}) == 1


@pytest.mark.parametrize("task", [POS(), NER()])
@pytest.mark.parametrize("language", ["trans", "trans.inv"])
def test_scores_by_dictionary_entry(data, task, language):
    split, draw = Split(data / "tasks" / task.name / f"test.{language}.jsonl", task), random.Random(1)
    answers = [tuple(draw.choice(["NOUN", "DET", "PROPN"]) for _ in gold) for gold in split.gold]
    scores = by_entry(split, answers, Languages.open(data, [language]), language)
    correct = {True: [], False: []}
    for (example, gold), predicted in zip(split, answers, strict=True):
        for word, tag, other in zip(example.texts[0][0].words, gold, predicted, strict=True):
            correct[word in ("dog", "the")].append(tag == other)
    for metric, known in ((ENTRY, True), (NO_ENTRY, False)):
        score, own = scores[metric], correct[known]
        assert (score.value, score.count) == (pytest.approx(sum(own) / len(own)), len(own))
        assert score.items and len(score.items.numbers[0]) == len(answers)
    assert not by_entry(split, answers, Languages.open(data, [Same().name]), Same().name)


CONFIG = FinetuneConfig(learning_rate=1e-2, epochs=3, batch=8, dropout=0.0, freeze_table=True)


def natural(checkpoint):
    return MeasuredModel(checkpoint, "run", seed=3)


def scores(measurement, language, task="pos"):
    return {
        record.metric: Score(record.value, record.count, record.items)
        for record in measurement.records
        if (record.task, record.language) == (task, language)
    }


def reader_of(checkpoint):
    return Reader.of_given(open_vocabulary(checkpoint))


@pytest.fixture
def examples(tmp_path):
    train, test = (
        treebank(tmp_path / f"{name}.conllu", 60, n) for n, name in enumerate(("train", "test"), start=5)
    )
    mirror = [sentence.reorder(range(len(sentence) - 1, -1, -1)) for sentence in read_conllu(test)]
    write_treebank(tmp_path / "xx.conllu", mirror)
    tests = {"xx": (tmp_path / "xx.conllu",), "zz": (train,)}
    return TaskFolder.open(
        write_natural_task("pos", TaskFiles((train,), (test,), (test,)), tests, tmp_path / "made")
    )


def test_languages_are_scored_with_one_model(roberta, examples):
    measurement = zero_shot(natural(roberta), POS(), examples, ("en", "xx", "zz"), CONFIG)
    assert [(record.measure, record.language, record.metric) for record in measurement.records] == [
        (measure, name, metric)
        for measure, name in (("SRC", "en"), ("ZS", "xx"), ("ZS", "zz"))
        for metric in ("accuracy", "f1_bare_tags")
    ]
    reader = reader_of(roberta)
    train, test = (Split(examples.path(*of), POS(), reader=reader) for of in (["train"], ["test", "xx"]))
    labels = POS().labels(train.gold)
    model = finetune(natural(roberta), train.encode(labels, 128).rows, POS().head, len(labels), CONFIG)
    rows = test.encode(labels, 128)
    said = test.decode(rows, model.answers(rows.rows), labels)
    assert scores(measurement, "xx") == POS().scores(test.gold, said)
    assert measurement.exclusions["examples of xx that do not fit into one row"] == rows.cut
    assert scores(measurement, "zz")["accuracy"].count == sum(map(len, train.gold))
