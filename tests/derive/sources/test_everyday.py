"""Everyday English as a source: what its readers find in its files, and what is refused."""

import lzma
import shutil
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from calque.derive.easy import EasyText
from calque.derive.errors import BadInput
from calque.derive.readers.conllu import read_conllu
from calque.derive.readers.iob2 import read_iob2
from calque.derive.sources import everyday as module
from calque.derive.sources.everyday import FOLDER, NOTICES, TEXT, TREEBANK, TYPES, everyday, opened

MEGABYTES = 4
CONTENTS = opened().facts["contents"]


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, ...]]:
    source = everyday().ready(tmp_path_factory.mktemp("cache"))
    return [sentence.words for chunk in source.chunks() for sentence in source.sentences(chunk)[0]]


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


def test_easy_sentences_are_as_many_as_the_manifest_says(tmp_path: Path) -> None:
    source = everyday(1_500).ready(tmp_path)
    counted = opened().facts["easy"]["1500"]
    assert sum(len(source.sentences(chunk)[0]) for chunk in source.chunks()) == counted["sentences"]
    for task in source.tasks:
        for split, examples in source.task_data(task).examples.items():
            assert len(examples) == counted[f"{task} {split}"]
            assert len(examples) >= {"train": 1_500, "dev": 300, "test": 300}[split]


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
    few = replace(everyday(), easy=EasyText(types=30, tasks=("pos", "ner"))).ready(tmp_path)
    with pytest.raises(BadInput) as error:
        few.task_data("ner")
    assert "ewt-" in str(error.value) and "no labelled example" in str(error.value)
