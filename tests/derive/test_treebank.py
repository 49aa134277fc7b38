"""Treebanks: what is written reads back equal, and what CoNLL-U cannot hold is refused."""

from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from derive.errors import BadInput
from derive.pocket.language import Pocket
from derive.readers.conllu import UPOS
from derive.sentence import Sentence
from derive.treebank import read_treebank, write_treebank

CAT = Sentence(("Cats", "sleep"), ("NOUN", "VERB"), (1, -1), ("nsubj", "root"))


@st.composite
def trees(draw: st.DrawFn) -> Sentence:
    """Any words without white space, tags of UD, and a tree whose root may stand anywhere."""
    word = st.text(st.characters(exclude_categories=["Z", "C"]), min_size=1, max_size=5)
    words = tuple(draw(st.lists(word | st.just("_") | st.just("#"), min_size=1, max_size=8)))
    order = draw(st.permutations(range(len(words))))
    heads = dict.fromkeys(order, -1) | {order[i]: order[draw(st.integers(0, i - 1))] for i in range(1, len(words))}
    tags = tuple(draw(st.sampled_from(sorted(UPOS))) for _ in words)
    below = tuple(draw(st.sampled_from(["obj", "obl:tmod", "flat"])) for _ in words)
    relations = tuple("root" if i == order[0] else below[i] for i in range(len(words)))
    return Sentence(words, tags, tuple(heads[i] for i in range(len(words))), relations)


@given(st.lists(trees(), min_size=1, max_size=4), st.booleans())
def test_what_is_written_reads_back_equal(
    tmp_path_factory: pytest.TempPathFactory, sentences: list[Sentence], lemmas: bool
) -> None:
    path = tmp_path_factory.getbasetemp() / "written.conllu"
    assert write_treebank(path, sentences, lemmas) == len(sentences)
    assert list(read_treebank(path)) == sentences


def test_pocket_english_reads_back_equal(tmp_path: Path) -> None:
    sentences = [replace(sentence, spans=()) for sentence in islice(Pocket().sentences(300, 1), 300)]
    assert write_treebank(tmp_path / "a.conllu", sentences) == 300
    assert list(read_treebank(tmp_path / "a.conllu")) == sentences


def test_lemmas_are_words_or_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.conllu"
    write_treebank(path, [CAT])
    assert path.read_text() == "1\tCats\t_\tNOUN\t_\t_\t2\tnsubj\t_\t_\n2\tsleep\t_\tVERB\t_\t_\t0\troot\t_\t_\n\n"
    write_treebank(path, [CAT], lemmas=True)
    assert [line.split("\t")[2] for line in path.read_text().splitlines() if line] == ["Cats", "sleep"]


def test_a_folder_is_all_of_its_files_in_order(tmp_path: Path) -> None:
    for name, word in (("b/y.conllu", "third"), ("a.conllu", "first"), ("b/x.conllu", "second")):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        write_treebank(tmp_path / name, [replace(CAT, words=(word, "sleep"))])
    (tmp_path / "notes.txt").write_text("no treebank")
    assert [sentence.words[0] for sentence in read_treebank(tmp_path)] == ["first", "second", "third"]


def test_a_folder_without_a_treebank_and_a_missing_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"no \.conllu file below"):
        list(read_treebank(tmp_path))
    with pytest.raises(BadInput, match="no such file"):
        list(read_treebank(tmp_path / "absent.conllu"))


@pytest.mark.parametrize(
    ("sentence", "message"),
    [
        (Sentence(()), "0 words lacks a column"),
        (Sentence(("Cats", "sleep")), "lacks a column"),
        (replace(CAT, relations=()), "lacks a column"),
        (replace(CAT, words=("20 000", "sleep")), "in '20 000'"),
        (replace(CAT, words=("", "sleep")), "in ''"),
        (replace(CAT, words=("a\u00a0b", "sleep")), "white space"),
        (replace(CAT, words=("a\0", "sleep")), "NUL"),
        (replace(CAT, relations=("n subj", "root")), "DEPREL 'n subj'; expected a relation of UD v2"),
        (replace(CAT, relations=("nsubj", "nsubj")), "DEPREL nsubj with HEAD 0"),
        (replace(CAT, tags=("NN", "VERB")), "tags NN VERB"),
        (replace(CAT, heads=(-1, -1)), "2 roots"),
        (replace(CAT, heads=(1, 0)), "form a cycle"),
        (replace(CAT, heads=(5, -1)), "HEAD 6 of word 1"),
        (replace(CAT, heads=(1, -2)), "HEAD -1 of word 2"),
        (replace(CAT, relations=("dobj", "root")), "dobj is UD v1"),
    ],
)
def test_what_would_not_read_back_is_refused_and_no_file_is_left(
    tmp_path: Path, sentence: Sentence, message: str
) -> None:
    path = tmp_path / "a.conllu"
    with pytest.raises(ValueError, match=message):
        write_treebank(path, [CAT, sentence])
    with pytest.raises(ValueError, match="no sentence"):
        write_treebank(path, [])
    assert list(tmp_path.iterdir()) == []


def test_real_treebanks_read_back_equal(calque_data: Path, tmp_path: Path) -> None:
    sentences = list(islice(read_treebank(calque_data / "ud" / "UD_French-GSD"), 500))
    write_treebank(tmp_path / "a.conllu", sentences)
    assert list(read_treebank(tmp_path / "a.conllu")) == sentences
