"""The picture of a sentence pair: real files, the same bytes, nothing outside."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.colors import same_color
from matplotlib.patches import Rectangle

from analysis.report.pair_figure import GOLD, LINKED, POSSIBLE, align_figure, drawn_pair
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


def test_links_and_gold_links_stand_in_their_cells() -> None:
    """The target's place goes across, the source's down."""
    gold = GoldLinks(frozenset(LINKS[:3]), frozenset([*LINKS[:3], (1, 1)]))
    (panel,) = drawn_pair(PAIR, [*LINKS, (0, 4)], "A pair", gold=gold).axes
    dots = {
        (int(line.get_ydata()[0]), int(line.get_xdata()[0])): line.get_fillstyle()
        for line in panel.lines
        if line.get_color() == LINKED
    }
    assert dots == {link: "full" if link in gold.possible else "none" for link in [*LINKS, (0, 4)]}
    boxes = {
        (round(box.get_y() + box.get_height() / 2), round(box.get_x() + box.get_width() / 2)): box.get_linestyle()
        for box in panel.patches
        if isinstance(box, Rectangle)
    }
    assert boxes == {(0, 0): "-", (1, 2): "-", (2, 3): "-", (1, 1): POSSIBLE}
    assert [label.get_text() for label in panel.get_yticklabels()] == [
        "Sara  0",
        "ate  1",
        "two  2",
        "apples  3",
        ".  4",
    ]
    assert [label.get_text() for label in panel.get_xticklabels()][2] == "2  mangé"
    assert {same_color(box.get_edgecolor(), GOLD) for box in panel.patches} == {True}


def test_shades_are_the_scores() -> None:
    scores = np.arange(30.0).reshape(5, 6)
    (panel,) = drawn_pair(PAIR, [], "A pair", scores=scores).axes
    (image,) = panel.images
    np.testing.assert_array_equal(np.asarray(image.get_array()), scores)


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
