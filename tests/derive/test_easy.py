from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque.derive.sentence import Sentence
from calque.derive.sources.files import EasyText, Files, TaskFiles
from calque.derive.vocabulary import most_frequent

WORDS = st.lists(st.sampled_from("a b c d e f".split()), max_size=6).map(tuple)
TEXT = "the cat sleeps .\nthe dog sleeps .\na cat .\nthe cat sees the dog .\nthe zebra sleeps .\n" * 30


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
    (tmp_path / "text.txt").write_text(TEXT)
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
