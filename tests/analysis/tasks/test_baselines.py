"""Majority, unigram and gazetteer: what they say of hand-made text, a slow twin of each, and real text."""

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque.analysis.tasks.baselines import (
    Answer,
    Baseline,
    Gazetteer,
    Majority,
    Unigram,
    most_frequent,
)
from calque.analysis.tasks.score import accuracy
from calque.analysis.tasks.tagging import POS
from calque.derive.example import Example
from calque.derive.readers.conllu import read_conllu
from calque.derive.sentence import Sentence
from tests.analysis.tasks.handmade import Set, as_is, asked, foreign, pair, tagged

TRAIN = [tagged("a/DET dog/NOUN runs/VERB"), tagged("a/DET run/NOUN"), tagged("dog/NOUN runs/NOUN runs/VERB")]


def test_the_most_frequent_label_and_what_decides_between_equal_ones() -> None:
    assert most_frequent(Counter("aab"), Counter("aab")) == "a"
    assert most_frequent(Counter("ab"), Counter("abbb")) == "b"
    assert most_frequent(Counter("ba"), Counter("ab")) == "a"
    with pytest.raises(ValueError, match="no label to learn from"):
        most_frequent(Counter(), Counter())


def test_majority() -> None:
    assert Majority(of_words=True).learn(TRAIN, as_is)(asked(TRAIN[1:]), as_is) == [("NOUN",) * 2, ("NOUN",) * 3]
    labelled = [pair("a", "b", "yes"), pair("a", "c", "no"), pair("a", "d", "no")]
    assert Majority().learn(labelled, as_is)(asked(labelled[:2]), as_is) == [("no",), ("no",)]


def test_unigram_knows_words_and_nothing_else() -> None:
    learnt = Unigram().learn(TRAIN, as_is)
    assert learnt(asked([tagged("a/? cat/? runs/?")]), as_is) == [("DET", "NOUN", "VERB")]
    assert learnt(asked([tagged("a/? cat/? runs/?")]), foreign) == [("NOUN", "NOUN", "NOUN")]
    assert Unigram().learn(TRAIN, foreign)(asked(TRAIN[:1]), foreign) == [("DET", "NOUN", "VERB")]


def test_a_gazetteer_takes_the_longest_name_with_its_most_frequent_type() -> None:
    train = [
        tagged("New/B-LOC York/I-LOC is/O"),
        tagged("New/B-LOC York/I-LOC Times/I-LOC"),
        tagged("New/B-ORG York/I-ORG Times/I-ORG"),
        tagged("New/B-ORG York/I-ORG Times/I-ORG"),
        tagged("Paris/B-PER Paris/B-LOC Paris/B-LOC"),
    ]
    learnt = Gazetteer().learn(train, as_is)
    text = asked([tagged("New/? York/? Times/? New/? York/? New/? Paris/?")])
    assert list(learnt(text, as_is)[0]) == ["B-ORG", "I-ORG", "I-ORG", "B-LOC", "I-LOC", "O", "B-LOC"]
    assert list(learnt(text, foreign)[0]) == ["O"] * 7


def test_a_gazetteer_of_no_names_finds_none() -> None:
    learnt = Gazetteer().learn([tagged("a/O b/O")], as_is)
    assert [list(tags) for tags in learnt(asked([tagged("a/? b/?")]), as_is)] == [["O", "O"]]


def slow_unigram(train: Set, test: list[Example]) -> list[Answer]:
    tokens = [
        (word, tag) for (example, tags) in train for word, tag in zip(example.texts[0][0].words, tags, strict=True)
    ]
    order = sorted({tag for _, tag in tokens}, key=lambda tag: (-[t for _, t in tokens].count(tag), tag))

    def best(word: str) -> str:
        return max(order, key=lambda tag: tokens.count((word, tag)))  # the first of the equal

    return [tuple(best(word) for word in example.texts[0][0].words) for example in test]


def slow_gazetteer(train: Set, test: list[Example]) -> list[list[str]]:
    """Every stretch of words, longest first, looked up among all names."""
    names = []
    for example, tags in train:
        words = example.texts[0][0].words
        for begin in range(len(words)):
            for end in range(begin + 1, len(words) + 1):
                whole = tags[begin][0] == "B" and all(tag[0] == "I" for tag in tags[begin + 1 : end])
                if whole and (end == len(words) or tags[end][0] != "I"):
                    names.append((words[begin:end], tags[begin][2:]))
    kinds = sorted({kind for _, kind in names}, key=lambda kind: (-[k for _, k in names].count(kind), kind))
    said = []
    for example in test:
        words, tags = example.texts[0][0].words, [""] * len(example.texts[0][0].words)
        for begin in range(len(words)):
            for end in range(len(words), begin, -1):
                if not any(tags[begin:end]) and any(name == words[begin:end] for name, _ in names):
                    kind = max(kinds, key=lambda kind: names.count((words[begin:end], kind)))
                    tags[begin:end] = [f"B-{kind}", *[f"I-{kind}"] * (end - begin - 1)]
        said.append([tag or "O" for tag in tags])
    return said


WORDS = st.sampled_from("abcd")


@st.composite
def sentences(draw: st.DrawFn, marks: str) -> tuple[Example, Answer]:
    """Words of four letters, with tags or with well-formed IOB2."""
    words = draw(st.lists(WORDS, min_size=1, max_size=6))
    if marks == "tags":
        return Example(((Sentence(tuple(words)),),)), tuple(draw(st.sampled_from("XYZ")) for _ in words)
    tags: list[str] = []
    for _ in words:
        inside = [f"I-{tags[-1][2:]}"] if tags and tags[-1] != "O" else []
        tags.append(draw(st.sampled_from(["O", "B-P", "B-Q", *inside])))
    return Example(((Sentence(tuple(words)),),)), tuple(tags)


@given(st.lists(sentences("tags"), min_size=1, max_size=6), st.lists(sentences("tags"), max_size=4))
def test_unigram_equals_its_slow_twin(train: Set, test: Set) -> None:
    assert Unigram().learn(train, as_is)(asked(test), as_is) == slow_unigram(train, asked(test))


@given(st.lists(sentences("names"), min_size=1, max_size=6), st.lists(sentences("names"), max_size=4))
def test_a_gazetteer_equals_its_slow_twin(train: Set, test: Set) -> None:
    said = Gazetteer().learn(train, as_is)(asked(test), as_is)
    assert [list(tags) for tags in said] == slow_gazetteer(train, asked(test))


@given(st.lists(sentences("tags"), min_size=1, max_size=6))
def test_on_its_own_text_unigram_is_never_below_majority(train: Set) -> None:
    gold = [tags for _, tags in train]

    def of(baseline: Baseline) -> float:
        return accuracy(gold, baseline.learn(train, as_is)(asked(train), as_is)).value

    assert of(Unigram()) >= of(Majority(of_words=True)) >= 1 / len({tag for tags in gold for tag in tags})


def test_unigram_on_real_english(calque_data: Path) -> None:
    """UPOS of EWT's test, from all its training sentences and from as many as the pocket study has."""
    folder, task = calque_data / "ud" / "UD_English-EWT", POS()
    train, test = (
        [Example(((s,),)) for s in read_conllu(folder / f"en_ewt-ud-{split}.conllu")] for split in ("train", "test")
    )
    gold = [task.gold(example) for example in test]

    def of(baseline: Baseline, sentences: int) -> float:
        learnt = baseline.learn(((example, task.gold(example)) for example in train[:sentences]), as_is)
        return accuracy(gold, learnt(test, as_is)).value

    assert of(Unigram(), 2_000) == pytest.approx(0.804, abs=0.0005)
    assert of(Unigram(), len(train)) == pytest.approx(0.862, abs=0.0005)
    assert of(Majority(of_words=True), len(train)) == pytest.approx(0.165, abs=0.01)
