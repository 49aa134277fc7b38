"""fast_align's two directions as one aligner: its scores, and what is saved of it."""

import json
import shutil
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from derive.artefact import write_sealed
from derive.errors import BadInput
from derive.files import MANIFEST
from derive.links.aligner import Pair
from derive.links.fast_align import StatisticalAligner, is_saved
from derive.links.symmetrise import grow_diag_final_and, intersect
from tests.derive.links.test_fast_align import made

ODD: list[Pair] = [(("a b", "c\nd", "\u2028"), ('"', "\\", "é")), (("", "x"), ("\t",))]
"""Words that a file of lines could not hold; aligners of ids have such."""


@pytest.fixture(scope="module")
def aligner() -> StatisticalAligner:
    return StatisticalAligner.train([*made(200), *ODD])


@pytest.fixture(scope="module")
def saved(aligner: StatisticalAligner, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("saved") / "model"
    aligner.save(folder)
    return folder


def test_what_was_saved_aligns_to_the_same_bits(aligner: StatisticalAligner, saved: Path) -> None:
    opened, text = StatisticalAligner.open(saved), [*made(200), *ODD, *made(50, seed=7), (("new", "s1"), ("t1", "new"))]
    assert is_saved(saved) and opened.symmetrisation is grow_diag_final_and
    for one, other in ((aligner.forward, opened.forward), (aligner.reverse, opened.reverse)):
        assert (one.source_ids, one.target_ids, one.tension) == (other.source_ids, other.target_ids, other.tension)
        assert np.array_equal(one.keys, other.keys) and np.array_equal(one.probabilities, other.probabilities)
    assert list(opened.align_scored(text)) == list(aligner.align_scored(text))
    assert list(map(list, opened.align_scored(text))) == list(opened.align(text))


def test_a_score_is_the_mean_of_both_directions(aligner: StatisticalAligner) -> None:
    for pair, links in zip(made(20), aligner.align_scored(made(20)), strict=True):
        tables = [model.matrix(pair) for model in (aligner.forward, aligner.reverse)]
        assert np.array_equal(aligner.matrix(pair), (tables[0] + tables[1]) / 2)
        assert links == {(i, j): (tables[0][i, j] + tables[1][i, j]) / 2 for i, j in links}
        assert all(0 < score <= 1 for score in links.values())


def test_the_surer_a_link_the_likelier_it_is_right(aligner: StatisticalAligner) -> None:
    """In translations of which a part of another stands in place of some words."""
    text = list(made(400, seed=3))
    free = [(source, target[::2] + other[::2]) for (source, target), (_, other) in pairwise(text)]
    right: dict[bool, list[bool]] = {True: [], False: []}
    for (source, target), links in zip(free, aligner.align_scored(free), strict=True):
        for (i, j), score in links.items():
            right[score > 0.9].append(source[i][1:] == target[j][1:])
    assert min(map(len, right.values())) > 100
    assert np.mean(right[True]) > np.mean(right[False]) + 0.1


def test_another_symmetrisation_is_saved_by_its_name(aligner: StatisticalAligner, tmp_path: Path) -> None:
    StatisticalAligner(aligner.forward, aligner.reverse, intersect).save(tmp_path / "model")
    assert StatisticalAligner.open(tmp_path / "model").symmetrisation is intersect


def test_an_altered_byte_anywhere_is_refused(saved: Path, tmp_path: Path) -> None:
    for path in sorted(saved.iterdir()):
        shutil.copytree(saved, tmp_path / "model", dirs_exist_ok=True)
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 1
        (tmp_path / "model" / path.name).write_bytes(content)
        with pytest.raises(BadInput) as error:
            StatisticalAligner.open(tmp_path / "model")
        assert str(tmp_path / "model" / path.name) in str(error.value)
        shutil.rmtree(tmp_path / "model")


def test_another_folder_or_format_is_refused(saved: Path, tmp_path: Path) -> None:
    assert not is_saved(tmp_path)
    with pytest.raises(BadInput, match="expected the manifest of fast_align"):
        StatisticalAligner.open(tmp_path)
    write_sealed(tmp_path / MANIFEST, {"kind": "corpus", "files": {}})
    with pytest.raises(BadInput, match="the manifest of corpus; expected that of fast_align"):
        StatisticalAligner.open(tmp_path)
    facts = json.loads((saved / MANIFEST).read_text(encoding="utf-8"))
    write_sealed(tmp_path / MANIFEST, {key: value for key, value in facts.items() if key != "digest"} | {"format": 9})
    with pytest.raises(BadInput, match="fast_align of format 9, expected 1"):
        StatisticalAligner.open(tmp_path)
    (tmp_path / "config.json").write_text("{}")
    assert not is_saved(tmp_path)  # a model that transformers loads
