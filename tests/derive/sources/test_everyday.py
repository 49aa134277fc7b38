"""Everyday English as a source: what its readers find in its files, and what is refused."""

import lzma
import shutil
from collections import Counter
from dataclasses import replace
from itertools import chain, pairwise
from pathlib import Path

import pytest

from calque.derive.easy import EasyText
from calque.derive.errors import BadInput
from calque.derive.frequency import most_frequent
from calque.derive.grammar.features import orders
from calque.derive.readers.conllu import read_conllu, tree_fault
from calque.derive.readers.iob2 import read_iob2
from calque.derive.sources import everyday as module
from calque.derive.sources.everyday import FOLDER, NOTICES, TEXT, TREEBANK, TYPES, everyday, french_order, opened
from calque.derive.sources.files import Files
from calque.derive.stored_trees import StoredTrees

MEGABYTES = 4
CONTENTS = opened().facts["contents"]


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Files:
    return everyday().ready(tmp_path_factory.mktemp("cache"), trees=True)


@pytest.fixture(scope="module")
def words(source: Files) -> list[tuple[str, ...]]:
    """The words of every sentence, which easy text of all types keeps."""
    whole = replace(source, easy=None, trees=None)
    return [sentence.words for chunk in whole.chunks() for sentence in whole.sentences(chunk)[0]]


def test_every_line_of_the_text_is_one_easy_sentence(words: list[tuple[str, ...]]) -> None:
    lines = lzma.decompress((FOLDER / TEXT).read_bytes()).decode().splitlines()
    assert [" ".join(sentence) for sentence in words] == lines
    assert len(lines) == CONTENTS[TEXT]["sentences"] == len(set(lines)) > 100_000
    assert CONTENTS[TEXT]["words"] == sum(map(len, words))
    assert {len(sentence) for sentence in words} <= {*range(4, 21)}
    assert len({word for sentence in words for word in sentence}) <= TYPES


def test_neighbours_are_not_alike(words: list[tuple[str, ...]]) -> None:
    first = [sentence[:2] for sentence in words]
    alike = sum(a == b for a, b in pairwise(first))
    assert alike < 0.05 * len(first)


def test_contractions_are_cut_as_in_the_treebank(words: list[tuple[str, ...]]) -> None:
    counts = Counter(word for sentence in words for word in sentence)
    treebank = Counter(word for s in read_conllu(FOLDER / TREEBANK.format("train")) for word in s.words)
    for word in ("n't", "'s", "'m", "'ll", "'ve", "ca", "wo"):
        assert counts[word] > 100 and treebank[word] > 10
    assert not {"don't", "I'm", "cannot", "Tom's"} & counts.keys()


@pytest.mark.parametrize("split", ["train", "dev", "test"])
def test_tags_trees_and_entities_are_of_the_same_words(split: str) -> None:
    path = FOLDER / TREEBANK.format(split)
    trees, entities = list(read_conllu(path)), list(read_iob2(path))
    assert [s.words for s in trees] == [s.words for s in entities] and all(s.heads and s.relations for s in trees)
    assert {span.label for s in entities for span in s.spans} == {"PER", "ORG", "LOC"}
    assert len(trees) == CONTENTS[path.name]["sentences"]


def test_easy_sentences_are_as_many_as_the_manifest_says(words: list[tuple[str, ...]]) -> None:
    for types, counted in opened().facts["easy"].items():
        frequent = frozenset(most_frequent(Counter(chain.from_iterable(words)), int(types)))
        assert sum(frequent.issuperset(sentence) for sentence in words) == counted["sentences"]


@pytest.mark.parametrize("task", ["pos", "ner"])
def test_tasks_have_enough_easy_sentences_and_their_trees_are_gold(source: Files, task: str) -> None:
    counted, least = opened().facts["easy"][str(TYPES)], {"train": 1_300, "dev": 200, "test": 200}
    gold = {s.words: (s.tags, s.heads, s.relations) for s in read_conllu(FOLDER / TREEBANK.format("test"))}
    data = source.task_data(task).examples
    for split, examples in data.items():
        assert len(examples) == counted[f"{task} {split}"] >= least[split]
    for ((sentence,),) in (example.texts for example in data["test"]):
        assert (sentence.tags, sentence.heads, sentence.relations) == gold[sentence.words]


def test_every_sentence_has_a_tree(source: Files, words: list[tuple[str, ...]]) -> None:
    assert isinstance(source.parser, StoredTrees)
    trees = source.parser.trees(words)
    assert not any(isinstance(tree, str) or tree_fault(tree.heads) for tree in trees)
    tagged = {(word, tag) for tree in trees[:1_000] for word, tag in zip(tree.words, tree.tags, strict=True)}  # type: ignore[union-attr]
    assert {("Tom", "PROPN"), ("n't", "PART"), (".", "PUNCT")} < tagged


def test_french_order_needs_no_treebank_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CALQUE_DATA", str(tmp_path))
    order = french_order()
    assert order.name == "syn-fr"
    probabilities = order.superstrate.grammar(tmp_path).probabilities(("ADJ amod", "DET det", "@NOUN @"))
    determiner_noun_adjective = (1, 2, 0)
    assert orders(3)[probabilities.argmax()] == determiner_noun_adjective


def test_the_files_are_small() -> None:
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < MEGABYTES * 1_000_000


@pytest.mark.parametrize("name", [*NOTICES, TEXT])
@pytest.mark.parametrize("change", [Path.unlink, lambda path: path.write_bytes(b"")])
def test_a_missing_or_changed_file_is_named(
    name: str, change: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = shutil.copytree(FOLDER, tmp_path / "everyday")
    monkeypatch.setattr(module, "FOLDER", folder)
    assert everyday().text == (folder / TEXT,)
    change(folder / name)  # type: ignore[operator]
    with pytest.raises(BadInput) as error:
        everyday()
    assert str(folder / name) in str(error.value)


def test_a_filter_that_leaves_nothing_is_refused(tmp_path: Path) -> None:
    few = replace(everyday(), easy=EasyText(types=5, tasks=("pos",))).ready(tmp_path)
    with pytest.raises(BadInput) as error:
        few.task_data("pos")
    assert "ewt-" in str(error.value) and "no labelled example" in str(error.value)
