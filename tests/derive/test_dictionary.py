"""The dictionary is an exact fraction, pairs types with their images, and is read as it was written."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from derive.bpe import learn
from derive.dictionary import DictionaryConfig, draw_dictionary, read_dictionary, write_dictionary
from derive.errors import BadInput
from derive.pocket.language import Pocket
from derive.script import Transliterate
from derive.types import OURS

FIRST = len(OURS.ids)
"""The first id that is not special."""

SIZE = 400
IMAGE = Transliterate().image(SIZE)
COUNTS = np.random.default_rng(0).zipf(1.5, SIZE)
COUNTS[:FIRST] = 0
COUNTS[300:320] = 0
TYPES = np.flatnonzero(COUNTS)


@given(st.floats(0, 1), st.sampled_from(["uniform", "frequency"]), st.integers(0, 99))
def test_a_dictionary_is_an_exact_share_of_the_types_and_their_images(fraction: float, by: str, seed: int) -> None:
    pairs = draw_dictionary(DictionaryConfig(fraction, by, seed), TYPES, COUNTS, IMAGE)  # type: ignore[arg-type]
    assert pairs.shape == (round(fraction * len(TYPES)), 2)
    assert pairs.dtype == np.int64
    assert np.all(np.diff(pairs[:, 0]) > 0)
    assert np.isin(pairs[:, 0], TYPES).all()
    assert np.array_equal(pairs[:, 1], IMAGE[pairs[:, 0]])


def test_by_frequency_takes_the_most_frequent_types() -> None:
    chosen = draw_dictionary(DictionaryConfig(0.1, "frequency"), TYPES, COUNTS, IMAGE)[:, 0]
    others = np.setdiff1d(TYPES, chosen)
    assert COUNTS[chosen].min() >= COUNTS[others].max()


def test_uniform_draws_every_type_alike() -> None:
    drawn = [draw_dictionary(DictionaryConfig(0.25, seed=s), TYPES, COUNTS, IMAGE)[:, 0] for s in range(400)]
    often = np.bincount(np.concatenate(drawn), minlength=SIZE)[TYPES]
    assert abs(often.mean() - 100) < 1
    assert often.min() > 60
    assert often.max() < 140
    again = draw_dictionary(DictionaryConfig(0.25, seed=3), TYPES, COUNTS, IMAGE)[:, 0]
    assert np.array_equal(again, drawn[3])


def test_what_is_written_is_read(tmp_path: Path) -> None:
    vocabulary = learn([s.words for s in Pocket().sentences(500)], SIZE)
    pairs = draw_dictionary(DictionaryConfig(0.5), vocabulary.types, vocabulary.counts, IMAGE)
    path = tmp_path / "dictionary.tsv"
    write_dictionary(path, pairs, vocabulary)
    assert np.array_equal(read_dictionary(path), pairs)
    source, derived, text = path.read_text(encoding="utf-8").splitlines()[-1].split("\t")
    assert (int(source), int(derived)) == tuple(pairs[-1])
    assert text == vocabulary.spelling(int(source))


def test_an_empty_dictionary_is_read_as_one(tmp_path: Path) -> None:
    (tmp_path / "d.tsv").write_text("")
    assert read_dictionary(tmp_path / "d.tsv").shape == (0, 2)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("5\t405\n", 1),
        ("5\t405\ta\nx\t406\tb\n", 2),
        ("5\t405\ta\n5\t405\ta\n", 2),
        ("5\t405\ta\n6\t40", 2),
        (f"5\t{'4' * 5000}\ta\n", 1),
    ],
)
def test_malformed_lines_are_named(tmp_path: Path, text: str, line: int) -> None:
    path = tmp_path / "dictionary.tsv"
    path.write_text(text)
    with pytest.raises(BadInput, match=f"dictionary.tsv:{line}:"):
        read_dictionary(path)


def test_a_missing_dictionary(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no dictionary here"):
        read_dictionary(tmp_path / "none.tsv")


def test_defaults_are_those_that_records_were_made_with() -> None:
    """A seed is in no name: another default would change numbers and tell nobody."""
    assert DictionaryConfig() == DictionaryConfig(fraction=0.25, by="uniform", seed=0)


def test_unusable_configs() -> None:
    with pytest.raises(BadInput, match="from 0 to 1"):
        DictionaryConfig(fraction=25)
    with pytest.raises(BadInput, match="'uniform' or 'frequency'"):
        DictionaryConfig(by="random")  # type: ignore[arg-type]


def test_a_redrawn_dictionary_is_as_large_and_another_where_it_is_drawn_at_all() -> None:
    config = DictionaryConfig(0.25)
    ours, theirs = (draw_dictionary(one, TYPES, COUNTS, IMAGE) for one in (config, config.redrawn(1)))
    assert ours.shape == theirs.shape and not np.array_equal(ours, theirs)
    assert config.redrawn(0) == config and config.drawn == ("the dictionary",)
    assert DictionaryConfig(0.25, "frequency").drawn == DictionaryConfig(0).drawn == DictionaryConfig(1).drawn == ()
