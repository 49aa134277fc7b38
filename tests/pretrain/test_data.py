import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from derive.corpus import Corpus
from derive.errors import BadInput
from derive.types import END, FIRST, START
from pretrain.data import LanguagePair, PackedLines, Shuffled
from tests.pretrain.made import LANGUAGE, SENTENCES, SIZE

LINES = st.lists(st.lists(st.integers(FIRST, 60_000), max_size=30), max_size=40)


def in_memory(lines: list[list[int]]) -> Corpus:
    """A corpus of one-piece words."""
    starts = np.cumsum([0, *map(len, lines)])
    tokens = np.array([i for line in lines for i in line], np.uint16)
    ones = np.ones(len(tokens), np.uint16)
    return Corpus(tokens, starts, starts, ones, ones, np.arange(len(lines)))


@given(LINES, st.integers(8, 40))
def test_packed_rows_are_the_corpus(lines: list[list[int]], length: int) -> None:
    """Against a twin that packs with Python lists."""
    whole = [i for line in lines for i in [*line, END]]
    rows = [[START, *whole[a : a + length - 1]] for a in range(0, len(whole) - length + 2, length - 1)]
    if not rows:
        with pytest.raises(BadInput, match="does not fill one row"):
            PackedLines(in_memory(lines), length)
        return
    packed = PackedLines(in_memory(lines), length)
    assert [packed.row(i).tolist() for i in range(len(packed))] == rows
    assert packed.left_over == len(whole) - len(rows) * (length - 1)


def test_packed_rows_of_a_corpus_on_disk(pair: LanguagePair) -> None:
    packed = PackedLines(pair.derived, 32)
    rows = np.stack([packed.row(i) for i in range(len(packed))])
    assert rows.dtype == np.int64
    assert (rows[:, 0] == START).all()
    kept = rows[:, 1:].ravel()
    assert np.array_equal(kept[kept != END], pair.derived.tokens[: (kept != END).sum()])


@given(st.integers(1, 50), st.integers(0, 2**40), st.integers(0, 200), st.integers(0, 120))
def test_shuffled_visits_each_instance_once_an_epoch(size: int, seed: int, start: int, count: int) -> None:
    order = Shuffled(size, seed, 0)
    epochs = order.take(0, 8 * size).reshape(8, size)
    assert (np.sort(epochs) == np.arange(size)).all()
    assert size < 10 or len({tuple(epoch) for epoch in epochs.tolist()}) == 8
    # From anywhere, by anyone: what is taken depends on the place alone.
    far = Shuffled(size, seed, 0).take(0, start + count)
    assert np.array_equal(order.take(start, count), far[start:])


def test_a_pair_is_what_was_derived(pair: LanguagePair) -> None:
    assert pair.size == SIZE
    assert len(pair.source) == len(pair.derived) == SENTENCES
    for line in range(0, SENTENCES, 50):
        assert sorted(pair.image[pair.source[line]]) == sorted(pair.derived[line])
    assert np.array_equal(pair.image[pair.dictionary[:, 0]], pair.dictionary[:, 1])


def test_a_missing_language_is_named(study: Path) -> None:
    with pytest.raises(BadInput, match=r"trans\.perm"):
        LanguagePair.open(study, "trans.perm")


def test_a_language_of_other_lines_is_refused(study: Path, tmp_path: Path) -> None:
    from derive.corpus import CorpusWriter, Shard

    shutil.copytree(study, tmp_path / "study")
    folder = tmp_path / "study" / LANGUAGE
    image = (folder / "image.npy").read_bytes()
    shutil.rmtree(folder)
    one = np.ones(1, np.uint16)
    with CorpusWriter(folder, 2 * SIZE) as writer:
        writer.append(Shard(one + FIRST, one, one - 1, one, one - 1), 500)
    (folder / "image.npy").write_bytes(image)
    shutil.copy(study / LANGUAGE / "dictionary.tsv", folder)
    with pytest.raises(BadInput, match="line 501 of 500"):
        LanguagePair.open(tmp_path / "study", LANGUAGE)


def test_a_truncated_table_of_ids_is_refused(study: Path, tmp_path: Path) -> None:
    shutil.copytree(study, tmp_path / "study")
    path = tmp_path / "study" / LANGUAGE / "image.npy"
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(BadInput, match="expected the table of ids"):
        LanguagePair.open(tmp_path / "study", LANGUAGE)
