"""Easy text: which sentences are kept, from which words, and that the result depends on nothing else."""

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque.derive.build import derive_languages
from calque.derive.derivation import derive_file
from calque.derive.dictionary import DictionaryConfig
from calque.derive.easy import EasyText
from calque.derive.errors import BadInput
from calque.derive.example import Example
from calque.derive.frequency import most_frequent
from calque.derive.order import Invert
from calque.derive.pocket.language import Pocket
from calque.derive.readers.text import detect
from calque.derive.sentence import Sentence, Span
from calque.derive.sources.files import Files, TaskFiles
from calque.derive.transform import Account
from calque.derive.transforms import transform
from tests.derive.test_build import numbered
from tests.experiments.test_cli import calque
from tests.treebanks import write_treebank

WORDS = st.lists(st.sampled_from("a b c d e f".split()), max_size=6).map(tuple)
EASY = EasyText(types=3, shortest=2, longest=4)
TEXT = "the cat sleeps .\nthe dog sleeps .\na cat .\nthe cat sees the dog .\nthe zebra sleeps .\n" * 30


@given(st.lists(WORDS, max_size=20), st.integers(1, 6), st.integers(1, 3), st.integers(0, 3))
def test_kept_sentences_are_those_that_satisfy_the_definition(
    corpus: list[tuple[str, ...]], types: int, shortest: int, more: int
) -> None:
    easy = EasyText(types, shortest, shortest + more)
    frequency = Counter(word for words in corpus for word in words)
    frequent = most_frequent(frequency, types)
    rest = frequency.keys() - set(frequent)
    assert len(frequent) == min(types, len(frequency))
    assert all(frequency[a] >= frequency[b] for a in frequent for b in rest)
    counts: Counter[str] = Counter()
    kept = easy.sentences(map(Sentence, corpus), frequent, counts)
    assert [s.words for s in kept] == [
        words for words in corpus if shortest <= len(words) <= shortest + more and set(words) <= set(frequent)
    ]
    assert len(kept) + counts.total() == len(corpus)


@pytest.fixture
def files(tmp_path: Path) -> Files:
    (tmp_path / "text.txt").write_text(TEXT)
    labels = "the\tD\ncat\tN\nsleeps\tV\n.\tP\n\na\tD\nzebra\tN\n.\tP\n\n"
    (tmp_path / "labels.tsv").write_text(labels * 3)
    return Files(
        (tmp_path / "text.txt",),
        word_labels=TaskFiles((tmp_path / "labels.tsv",), held_out=1),
        easy=EasyText(types=6, shortest=4, longest=5, tasks=("word_labels",)),
    )


def test_text_and_tasks_are_kept_by_the_frequent_words_of_the_corpus(files: Files, tmp_path: Path) -> None:
    ready = files.ready(tmp_path / "cache")
    (chunk,) = ready.chunks()
    sentences, left_out = ready.sentences(chunk)
    assert {s.text for s in sentences} == {"the cat sleeps .", "the dog sleeps ."}
    assert len(sentences) == 60 and left_out.total() == 90
    data = ready.task_data("word_labels")
    (example,) = data.examples["train"]
    assert example.texts[0][0].words == ("the", "cat", "sleeps", ".")
    assert sum(data.left_out["train"].values()) == 3 + 2  # examples with `zebra`, and held-out ones


def test_any_number_of_workers_writes_the_same_files(files: Files, tmp_path: Path) -> None:
    folders = [
        derive_languages(files, [Invert()], 270, DictionaryConfig(), tmp_path / name, tmp_path / f"{name}-cache", count)
        for name, count in (("one", 1), ("two", 2))
    ]
    one, two = ({p.relative_to(f): p.read_bytes() for p in f.rglob("*") if p.is_file()} for f in folders)
    assert one == two and len(one) > 6


def test_the_fingerprint_of_the_text_has_the_filter_and_that_of_other_tasks_has_not(files: Files) -> None:
    other = Files(files.text, word_labels=files.word_labels, easy=EasyText(types=5, shortest=4, longest=5))
    unfiltered = Files(files.text, word_labels=files.word_labels)
    assert len({source.corpus_fingerprint() for source in (files, other, unfiltered)}) == 3
    assert files.task_fingerprint("word_labels") != other.task_fingerprint("word_labels")
    assert other.task_fingerprint("word_labels") == unfiltered.task_fingerprint("word_labels")


def test_a_corpus_or_a_task_without_an_easy_sentence_is_refused(files: Files, tmp_path: Path) -> None:
    none = Files(files.text, easy=EasyText(types=1))
    with pytest.raises(BadInput) as error:
        derive_languages(none, [Invert()], 270, DictionaryConfig(), tmp_path / "out", tmp_path / "cache")
    assert "text.txt" in str(error.value) and not (tmp_path / "out").exists()
    with pytest.raises(BadInput) as error:
        Files(files.text, word_labels=files.word_labels, easy=EasyText(2, 1, 2, ("word_labels",))).ready(
            tmp_path / "cache"
        ).task_data("word_labels")
    assert "labels.tsv" in str(error.value) and "6 examples" in str(error.value)


def test_a_task_that_no_reader_knows_is_refused(files: Files) -> None:
    with pytest.raises(BadInput) as error:
        Files(files.text, easy=EasyText(tasks=("poss",)))
    assert "poss" in str(error.value)


@pytest.mark.parametrize("values", [(0, 4, 20), (10, 0, 20), (10, 5, 4)])
def test_a_filter_that_keeps_nothing_is_refused(values: tuple[int, int, int]) -> None:
    with pytest.raises(BadInput):
        EasyText(*values)


def written(kind: str, path: Path) -> Path:
    """Sentences of Pocket English, in text of a kind."""
    sentences = list(Pocket(types=300).sentences(200))
    text = [f"{sentence.text}\n" for sentence in sentences]
    if kind == "treebank":
        write_treebank(path, sentences)
    elif kind == "doc":
        path.write_text("".join(f"<doc id={i}>\nTitle\n\n{line}</doc>\n" for i, line in enumerate(text)))
    else:
        path.write_text("".join([" = Heading = \n" if kind == "wikitext" else "", *(f" {line}" for line in text)]))
    return path


@pytest.mark.parametrize("kind", ["plain", "wikitext", "doc", "treebank"])
@pytest.mark.parametrize("name", ["trans.inv", "perm"])
def test_a_file_has_the_images_that_a_study_with_the_same_filter_derives(kind: str, name: str, tmp_path: Path) -> None:
    """Random orders too, which depend on the number of a sentence."""
    source = Files((written(kind, tmp_path / "text"),), easy=EasyText(types=100, shortest=5, longest=12))
    assert detect(source.text[0]) == kind
    account, one = Account(), transform(name)
    pairs = [line.split("\t") for line in derive_file(source, one, account, tmp_path / "cache", pairs=True)]
    kept = list(numbered(source.ready(tmp_path / "cache")))
    assert [s.text for _, s in kept] == [text for text, _ in pairs]
    assert [" ".join(map(one.spell, one(s, number).words)) for number, s in kept] == [image for _, image in pairs]
    reasons = [count for reason, count in account.left_out.items() if "easy" in reason]
    assert len(reasons) > 1 and len(pairs) + sum(reasons) == len(list(numbered(Files(source.text)))) > len(pairs) > 9


def test_the_command_writes_easy_sentences_and_counts_the_others(files: Files, tmp_path: Path) -> None:
    command = ["derive", str(files.text[0]), "--language", "inv", "--out", str(tmp_path / "out")]
    command += ["--runs", str(tmp_path / "runs"), "--easy"]
    code, _, err = calque(*command, "1")
    assert code == 2 and err.count("\n") == 1 and "120 sentences with a word too rare" in err
    assert not (tmp_path / "out").exists()
    code, _, err = calque(*command, "6", "--shortest", "4", "--longest", "5")
    assert code == 0 and "30 sentences with a word too rare" in err and "30 sentences too long" in err
    assert (tmp_path / "out").read_text().splitlines() == ["sleeps cat the .", "sleeps dog the ."] * 30


STUDY = ["derive", "pocket", "--set", "transforms=trans", "--set", "tasks=word_labels", "--set", "vocabulary=264"]


def study(files: Files, folder: Path, *settings: str) -> tuple[int, str]:
    assert files.word_labels is not None
    (text,), (labels,) = files.text, files.word_labels.train
    settings = (f"source={text}", f"source.word_labels={labels}", "source.word_labels.held_out=1", *settings)
    code, _, err = calque(*STUDY, *(f"--set={each}" for each in settings), "--runs", str(folder), "--jobs", "1")
    return code, err


EASY_SETTINGS = ("source.easy=6", "source.easy.shortest=4", "source.easy.longest=5", "source.easy.tasks=word_labels")


def test_text_and_tasks_of_a_changed_filter_are_derived_again(files: Files, tmp_path: Path) -> None:
    for changed in ((), ("source.easy=8",)):  # which keeps the other settings
        code, err = study(files, tmp_path / "runs", *EASY_SETTINGS, *changed)
        assert code == 0, err
    for place, of in (("languages-*", "source"), ("tasks/word_labels-*", "train.jsonl")):
        folders = list((tmp_path / "runs" / "pocket").glob(place))
        assert len(folders) == 2 and all((folder / of).exists() for folder in folders)
    assert [len((folder / "train.jsonl").read_text().splitlines()) for folder in folders] == [1, 1]  # filtered, both


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (("source.easy=0",), "types must be at least 1"),
        (("source.easy=1",), "no words to learn a vocabulary from in easy sentences of text.txt"),
        ((*EASY_SETTINGS, "vocabulary=900"), "a vocabulary of 900 types is more than the corpus supports"),
        (
            (*EASY_SETTINGS, "source.word_labels.held_out=2"),
            "cannot hold out 4 of 3 examples; left out: 3 examples too short",
        ),
        ((*EASY_SETTINGS, "source.easy.tasks=word_labels,ner"), "source has no examples of ner"),
    ],
)
def test_a_study_whose_filter_leaves_too_little_is_one_error(
    settings: tuple[str, ...], said: str, files: Files, tmp_path: Path
) -> None:
    code, err = study(files, tmp_path / "runs", *settings)
    assert code == 2 and said in err


def test_words_of_entities_may_be_rare() -> None:
    frequent, counts = {"the", "cat", "sleeps", "."}, Counter[str]()
    bare = Sentence(("the", "zebra", "sleeps", "."))
    entity = Sentence(("the", "Old", "Town", "sleeps"), spans=(Span(1, 3, "LOC"),))
    examples = [Example(((sentence,),)) for sentence in (bare, entity)]
    assert EasyText(4, tasks=("ner",)).examples(examples, frequent, counts) == examples[1:]
    assert counts.total() == 1
