"""The picture of a sentence pair: real files, the same bytes, nothing outside."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from analysis.report.pair_figure import align_figure
from derive.links.aligner import Links, Pair
from derive.readers.gold import GoldLinks

PAIR: Pair = (("Sara", "ate", "two", "apples", "."), ("Sara", "a", "mangé", "deux", "pommes", "."))
LINKS = [(0, 0), (1, 2), (2, 3), (3, 4), (4, 5)]


def sure(links: Links) -> GoldLinks:
    return GoldLinks(frozenset(links), frozenset(links))


def test_the_same_pair_gives_the_same_bytes_and_real_files(tmp_path: Path) -> None:
    scores = np.random.default_rng(0).random((5, 6))
    scores[1, 1] = np.nan
    gold = GoldLinks(frozenset(LINKS[:4]), frozenset([*LINKS[:4], (1, 1)]))
    first, again = (align_figure(PAIR, LINKS, tmp_path / name, "A pair", scores=scores, gold=gold) for name in "ab")
    for kind in (".png", ".svg"):
        assert first.with_suffix(kind).read_bytes() == again.with_suffix(kind).read_bytes()
    assert first.read_bytes().startswith(b"\x89PNG")
    assert ElementTree.parse(first.with_suffix(".svg")).getroot().tag.endswith("svg")


def test_every_link_and_every_gold_link_is_drawn(tmp_path: Path) -> None:
    bare, outlined = (
        align_figure(PAIR, LINKS, tmp_path, "A pair", name, gold=gold).with_suffix(".svg").read_text(encoding="utf-8")
        for name, gold in (("bare", None), ("gold", sure(LINKS)))
    )
    assert bare.lower().count("#e69f00") == 0
    assert outlined.lower().count("#e69f00") == len(LINKS) + 1  # the legend's


def test_links_that_are_known_to_be_wrong_are_told(tmp_path: Path) -> None:
    right, wrong = (
        align_figure(PAIR, links, tmp_path, "A pair", gold=sure(LINKS)).with_suffix(".svg").read_text(encoding="utf-8")
        for links in (LINKS, [*LINKS, (0, 4)])
    )
    assert ">wrong<" not in right and ">wrong<" in wrong


def test_words_of_any_script_and_with_any_sign_are_text_in_the_svg(tmp_path: Path) -> None:
    """Warnings are errors here: a letter that no font has is told in the title instead."""
    words = ("$x_1$", "सरकार", "بيت", "<&>", "\U00010330")
    png = align_figure((words, ("$", "$\\nosuch$")), [(0, 0)], tmp_path, "A pair")
    svg = ElementTree.parse(png.with_suffix(".svg"))
    texts = {"".join(node.itertext()).strip() for node in svg.iter("{http://www.w3.org/2000/svg}text")}
    assert {f"{word}  {i}" for i, word in enumerate(words)} <= texts
    assert any("no font here has" in text for text in texts)


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


def test_control_characters_leave_the_svg_well_formed(tmp_path: Path) -> None:
    png = align_figure((("a\x01",), ("b\x1f",)), [(0, 0)], tmp_path, "bell \x07")
    root = ElementTree.parse(png.with_suffix(".svg")).getroot()
    assert "a�" in "".join(root.itertext()) and "bell �" in "".join(root.itertext())
