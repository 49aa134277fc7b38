"""The picture of a sentence pair: real files, the same bytes, nothing outside."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from analysis.align_figure import align_figure
from analysis.aligners.aligner import Pair

PAIR: Pair = (("Sara", "ate", "two", "apples", "."), ("Sara", "a", "mangé", "deux", "pommes", "."))
LINKS = [(0, 0), (1, 2), (2, 3), (3, 4), (4, 5)]


def test_the_same_pair_gives_the_same_bytes_and_real_files(tmp_path: Path) -> None:
    scores = np.random.default_rng(0).random((5, 6))
    scores[1, 1] = np.nan
    first, again = (
        align_figure(PAIR, LINKS, tmp_path / name, "A pair", scores=scores, sure=LINKS[:4], possible=[(1, 1), (0, 0)])
        for name in "ab"
    )
    for kind in (".png", ".svg"):
        assert first.with_suffix(kind).read_bytes() == again.with_suffix(kind).read_bytes()
    assert first.read_bytes().startswith(b"\x89PNG")
    assert ElementTree.parse(first.with_suffix(".svg")).getroot().tag.endswith("svg")


def test_every_link_and_every_gold_link_is_drawn(tmp_path: Path) -> None:
    bare, gold = (
        align_figure(PAIR, LINKS, tmp_path, "A pair", name, sure=sure).with_suffix(".svg").read_text(encoding="utf-8")
        for name, sure in (("bare", []), ("gold", LINKS))
    )
    assert bare.lower().count("#e69f00") == 0
    assert gold.lower().count("#e69f00") == len(LINKS) + 1  # the legend's


def test_a_pair_of_words_and_one_without_links_can_be_drawn(tmp_path: Path) -> None:
    assert align_figure((("a",), ("b",)), [], tmp_path, "t", scores=np.array([[np.nan]])).exists()


@pytest.mark.parametrize(
    ("pair", "links", "scores"),
    [
        (PAIR, [(5, 0)], None),
        (PAIR, [(-1, 0)], None),
        (PAIR, [], np.zeros((6, 5))),
        (((), ("a",)), [], None),
    ],
)
def test_what_does_not_fit_is_refused(
    pair: Pair, links: list[tuple[int, int]], scores: np.ndarray | None, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match="words; links outside"):
        align_figure(pair, links, tmp_path, "t", scores=scores)
    assert not list(tmp_path.iterdir())
