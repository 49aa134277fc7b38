"""The picture of a sentence pair: real files, the same bytes, nothing outside."""

from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.colors import same_color
from matplotlib.font_manager import findfont, get_font

from calque.analysis.report.drawing import STYLE
from calque.analysis.report.pair_figure import CELL, LINKED, align_figure, drawn_pair
from calque.derive.links.aligner import Pair
from tests.analysis.drawn import legend, looked

PAIR: Pair = (("Sara", "ate", "two", "apples", "."), ("Sara", "a", "mangé", "deux", "pommes", "."))
LINKS = [(0, 0), (1, 2), (2, 3), (3, 4), (4, 5)]


def test_the_same_pair_gives_the_same_bytes_and_real_files(tmp_path: Path) -> None:
    scores = np.random.default_rng(0).random((5, 6))
    scores[1, 1] = np.nan
    first, again = (align_figure(PAIR, LINKS, tmp_path / name, "A pair", "pair", scores) for name in "ab")
    for kind in (".png", ".svg"):
        assert first.with_suffix(kind).read_bytes() == again.with_suffix(kind).read_bytes()
    assert first.read_bytes().startswith(b"\x89PNG")
    assert ElementTree.parse(first.with_suffix(".svg")).getroot().tag.endswith("svg")


def test_links_stand_in_their_cells() -> None:
    """The target's place goes across, the source's down."""
    figure = drawn_pair(PAIR, LINKS, "A pair")
    (panel,) = figure.axes
    dots = [line for line in panel.lines if line.get_color() == LINKED]
    assert [(int(line.get_ydata()[0]), int(line.get_xdata()[0])) for line in dots] == LINKS
    rows = ["Sara  0", "ate  1", "two  2", "apples  3", ".  4"]
    assert [label.get_text() for label in panel.get_yticklabels()] == rows
    assert [label.get_text() for label in panel.get_xticklabels()][2] == "2  mangé"
    assert {name: looked(entry)[:3] for name, entry in legend(figure).items()} == {"link": (LINKED, "o", "full")}


def test_shades_are_the_scores() -> None:
    scores = np.arange(30.0).reshape(5, 6)
    (panel,) = drawn_pair(PAIR, [], "A pair", scores=scores).axes
    (image,) = panel.images
    np.testing.assert_array_equal(np.asarray(image.get_array()), scores)


def test_words_of_any_script_and_with_any_sign_are_text_in_the_svg(tmp_path: Path) -> None:
    """Warnings are errors here: a letter that no font has is told in the title instead."""
    words = ("$x_1$", "सरकार", "بيت", "<&>", "\U000f1234")
    png = align_figure((words, ("$", "$\\nosuch$")), [(0, 0)], tmp_path, "A pair", "pair", None)
    svg = ElementTree.parse(png.with_suffix(".svg"))
    texts = {"".join(node.itertext()).strip() for node in svg.iter("{http://www.w3.org/2000/svg}text")}
    assert {f"{word}  {i}" for i, word in enumerate(words)} <= texts
    assert any("the fonts here lack" in text for text in texts)


def test_a_pair_of_words_and_one_without_links_can_be_drawn(tmp_path: Path) -> None:
    assert align_figure((("a",), ("b",)), [], tmp_path, "t", "pair", np.array([[np.nan]])).exists()


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
        align_figure(pair, links, tmp_path, "t", "pair", scores)
    assert not list(tmp_path.iterdir())


def test_control_characters_leave_the_svg_well_formed(tmp_path: Path) -> None:
    png = align_figure((("a\x01",), ("b\x1f",)), [(0, 0)], tmp_path, "bell \x07", "pair", None)
    root = ElementTree.parse(png.with_suffix(".svg")).getroot()
    assert "a�" in "".join(root.itertext()) and "bell �" in "".join(root.itertext())


def test_each_word_has_a_column_or_a_row_of_one_size() -> None:
    """Words stand above and to the left, between lines, the first of five darker; every cell is whole and square."""
    few, many = (drawn_pair((PAIR[0] * n, PAIR[1] * n), [], "A pair") for n in (1, 3))
    for figure, (n, m) in ((few, (5, 6)), (many, (15, 18))):
        (panel,) = figure.axes
        assert (panel.get_xlim(), panel.get_ylim(), panel.get_aspect()) == ((-0.5, m - 0.5), (n - 0.5, -0.5), 1)
        assert list(panel.get_xticks()) == list(range(m)) and list(panel.get_yticks()) == list(range(n))
        for words, across in ((m, True), (n, False)):
            lines = [(line.get_xdata() if across else line.get_ydata(), line.get_color()) for line in panel.lines]
            borders = {float(ends[0]): colour for ends, colour in lines if ends[0] == ends[1]}
            assert borders == {
                place - 0.5: "#AAAAAA" if place in (0, 5, 10, 15) else "#E3E3E3" for place in range(words + 1)
            }
        assert not any(line.get_visible() for line in (*panel.get_xgridlines(), *panel.get_ygridlines()))
        assert not any(spine.get_visible() for spine in panel.spines.values())
        tick = panel.xaxis.get_major_ticks()[0]
        assert (tick.label2.get_visible(), tick.label1.get_visible()) == (True, False)
        assert {line.get_markersize() for line in (*panel.xaxis.get_ticklines(), *panel.yaxis.get_ticklines())} == {0}
    sizes = [figure.get_size_inches() for figure in (few, many)]
    assert sizes[1] - sizes[0] == pytest.approx([12 * CELL, 10 * CELL])


def test_the_smallest_score_is_white_and_the_largest_has_the_full_shade() -> None:
    scores = np.arange(30.0).reshape(5, 6)
    scores[2, 2] = np.nan
    (image,) = drawn_pair(PAIR, [], "A pair", scores=scores).axes[0].images
    assert image.get_clim() == (0, 29)
    shades = image.to_rgba(np.array([0.0, 29.0]))
    assert same_color(tuple(shades[0]), "#FFFFFF") and shades[1].sum() < shades[0].sum()
    assert not drawn_pair(PAIR, [], "A pair", scores=np.full((5, 6), np.nan)).axes[0].images


def test_links_at_the_last_words_are_inside() -> None:
    assert drawn_pair(PAIR, [(4, 5), (0, 0)], "A pair").axes
    for outside in ([(0, 6)], [(0, -1)], [(5, 0)]):
        with pytest.raises(ValueError, match="links outside"):
            drawn_pair(PAIR, outside, "A pair")


def test_a_letter_that_the_usual_font_lacks_is_drawn_in_another() -> None:
    """The letter is in no bold font that comes with Matplotlib, but in a usual one."""
    letter = "\N{LATIN SMALL LETTER D WITH PALATAL HOOK}"
    usual, other = (drawn_pair(((word,), ("b",)), [], "t").axes[0] for word in ("d", f"d{letter}"))
    assert usual.get_xticklabels()[0].get_fontfamily() == STYLE["font.family"]
    first, second = other.get_xticklabels()[0].get_fontfamily()
    assert [first] == STYLE["font.family"] != [second] and ord(letter) in get_font(findfont(second)).get_charmap()
