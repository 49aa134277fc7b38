import json
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque.derive.errors import BadInput
from calque.derive.sentence import Sentence
from calque.derive.sources.files import READERS, EasyText, Files, TaskFiles, written
from calque.derive.vocabulary import most_frequent


def ner_file(path, size):
    path.write_text("".join(f"w{i}\tO\nParis\tB-LOC\n\n" for i in range(size)))
    return path


def words(data, split):
    return [example.texts[0][0].words[0] for example in data.examples[split]]


def test_held_out_and_limited_examples_are_counted(tmp_path):
    paths = (ner_file(tmp_path / "a.iob2", 20),), (ner_file(tmp_path / "b.iob2", 3),)
    source = Files((), ner=TaskFiles(*paths, held_out=5, limit=9))
    data = source.task_data("ner")
    train, dev, test = (words(data, split) for split in ("train", "dev", "test"))
    assert (len(train), len(dev), len(test)) == (9, 5, 3)
    assert not set(train) & set(dev)
    assert set(train + dev) <= {f"w{i}" for i in range(20)}
    assert train == sorted(train, key=lambda word: int(word[1:]))
    assert data.left_out["train"] == Counter({"held out as dev": 5, "over the limit": 6})
    assert source.task_data("ner") == data


def test_translations_are_tested_on_the_same_lines(tmp_path):
    path, other = ner_file(tmp_path / "a.iob2", 20), ner_file(tmp_path / "b.iob2", 20)
    files = TaskFiles((path,), (path,), (path,), tested=6)
    data, counts = Files((), ner=files).task_data("ner"), Counter()
    assert [len(data.examples[split]) for split in ("train", "dev", "test")] == [20, 6, 6]
    assert data.left_out["test"] == {"over the limit": 14}
    same = files.read_tested((other,), READERS["ner"], counts)
    assert same == data.examples["test"] and counts == {"over the limit": 14}
    assert len(files.read_tested((ner_file(tmp_path / "c.iob2", 6),), READERS["ner"], counts)) == 6
    assert files.identity != TaskFiles((path,), (path,), (path,)).identity


def asked(path, *ids):
    qas = [{"id": i, "question": "Who?", "answers": [{"text": "Ada", "answer_start": 0}]} for i in ids]
    path.write_text(json.dumps({"data": [{"paragraphs": [{"context": "Ada ran.", "qas": qas}]}]}))
    return path


def test_training_examples_are_selected_by_id(tmp_path):
    train = asked(tmp_path / "a", "english-1", "finnish-1", "english-2", "korean-englishman")
    files = TaskFiles((train,), (asked(tmp_path / "b", "finnish-9"),), held_out=0, trained_id="english-")
    data = files.load(written("qa"))
    ids = {split: [example.id for example in examples] for split, examples in data.examples.items()}
    assert ids == {"train": ["english-1", "english-2"], "dev": [], "test": ["finnish-9"]}
    assert data.left_out["train"] == {"ids that do not start with english-": 2}
    with pytest.raises(BadInput, match="no labelled example; left out: 4 ids that do not start with x"):
        replace(files, trained_id="x").load(written("qa"))
    assert files.identity != replace(files, trained_id="").identity


WORDS = st.lists(st.sampled_from("a b c d e f".split()), max_size=6).map(tuple)
EASY = "the cat sleeps .\nthe dog sleeps .\na cat .\nthe cat sees the dog .\nthe zebra sleeps .\n" * 30


@given(st.lists(WORDS, max_size=20), st.integers(1, 6), st.integers(1, 3), st.integers(0, 3))
def test_easy_text_keeps_sentences_by_definition(corpus, types, shortest, more):
    easy = EasyText(types, shortest, shortest + more)
    frequency = Counter(word for words in corpus for word in words)
    frequent = most_frequent(frequency, types)
    rest = frequency.keys() - set(frequent)
    assert len(frequent) == min(types, len(frequency))
    assert all(frequency[a] >= frequency[b] for a in frequent for b in rest)
    counts = Counter()
    kept = easy.kept(map(Sentence, corpus), frequent, counts)
    assert [s.words for s in kept] == [
        words for words in corpus if shortest <= len(words) <= shortest + more and set(words) <= set(frequent)
    ]
    assert len(kept) + counts.total() == len(corpus)


@pytest.fixture
def files(tmp_path):
    (tmp_path / "text.txt").write_text(EASY)
    labels = "the\tD\ncat\tN\nsleeps\tV\n.\tP\n\na\tD\nzebra\tN\n.\tP\n\n"
    (tmp_path / "labels.tsv").write_text(labels * 3)
    return Files(
        (tmp_path / "text.txt",),
        word_labels=TaskFiles((tmp_path / "labels.tsv",), held_out=1),
        easy=EasyText(types=6, shortest=4, longest=5, tasks=("word_labels",)),
    )


def test_easy_text_filters_text_and_tasks(files, tmp_path):
    ready = files.ready(tmp_path / "cache")
    (chunk,) = ready.chunks()
    sentences, left_out = ready.sentences(chunk)
    assert {s.text for s in sentences} == {"the cat sleeps .", "the dog sleeps ."}
    assert len(sentences) == 60 and left_out.total() == 90
    data = ready.task_data("word_labels")
    (example,) = data.examples["train"]
    assert example.texts[0][0].words == ("the", "cat", "sleeps", ".")
    assert sum(data.left_out["train"].values()) == 3 + 2  # 3 with `zebra`, 2 held out


def test_easy_text_needs_a_type():
    with pytest.raises(BadInput, match="types must be at least 1, not -5"):
        EasyText(-5)
