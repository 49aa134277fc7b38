"""A sentence above its images, and the colours of a page."""

import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest

from calque.analysis.looking.parts import Derivation
from calque.analysis.report.drawing import LOOKS
from calque.analysis.report.markup import CONTRAST, PAPER, contrast, themed
from calque.analysis.report.sentence_figure import Example, example_html
from tests.analysis.paged import ATTACK, SENTENCE


def drawings(html: str) -> list[ElementTree.Element]:
    quoted = re.sub(r"=([\w-]+)(?=[ />])", r'="\1"', html)
    return [ElementTree.fromstring(svg) for svg in re.findall(r"<svg.*?</svg>", quoted)]


def test_each_image_has_a_drawing_with_a_line_for_each_word() -> None:
    straight, crossed = drawings(example_html(SENTENCE))
    for drawing, image in zip((straight, crossed), SENTENCE.images, strict=True):
        words = [node.text for node in drawing.iter("text") if node.attrib.get("class") == "word"]
        assert words == [*image.source, *image.words]
        assert drawing.attrib["aria-label"] == f"Sara sleeps .; in {image.language}: {' '.join(image.words)}"
    ends = [re.findall(r"M(\d+) \d+L(\d+) ", path.attrib["d"])[0] for path in crossed.iter("path")]
    assert int(ends[0][0]) > int(ends[0][1]) and int(ends[1][0]) < int(ends[1][1]), "the first two words change places"


def test_words_are_inside_their_boxes_and_lines_join_boxes_that_do_not_overlap() -> None:
    for drawing, image in zip(drawings(example_html(SENTENCE)), SENTENCE.images, strict=True):
        left, top, width, height = map(int, drawing.attrib["viewBox"].split())
        boxes = [[int(box.attrib[name]) for name in ("x", "y", "width", "height")] for box in drawing.iter("rect")]
        assert all(left <= x < x + w <= left + width and top <= y < y + h <= top + height for x, y, w, h in boxes)
        above, below = boxes[: len(image.source)], boxes[len(image.source) :]
        for row in (above, below):
            assert len({y for _, y, _, _ in row}) == 1 and all(a[0] + a[2] < b[0] for a, b in pairwise(row))
        names = [int(node.attrib["y"]) for node in drawing.iter("text") if node.attrib["class"] == "name"]
        assert top < names[0] < above[0][1] < above[0][1] + above[0][3] < below[0][1]
        assert below[0][1] + below[0][3] < names[1] < top + height
        words = [node for node in drawing.iter("text") if node.attrib["class"] == "word"]
        for (x, y, w, h), word in zip(boxes, words, strict=True):
            assert int(word.attrib["x"]) == pytest.approx(x + w / 2, abs=1) and y < int(word.attrib["y"]) < y + h
        for path, origin, (x, y, w, _) in zip(drawing.iter("path"), image.origin, below, strict=True):
            ends = [int(number) for number in re.findall(r"\d+", path.attrib["d"])]
            start = above[origin][0] + above[origin][2] / 2, above[origin][1] + above[origin][3]
            assert ends == pytest.approx([*start, x + w / 2, y], abs=1)


def test_words_have_the_colour_of_their_class() -> None:
    html = example_html(SENTENCE)
    assert re.findall(r"<li style=\"--c:light-dark\((#\w+),", html) == [colour.lower() for colour, _ in LOOKS[:3]]
    (drawing, _) = drawings(html)
    fills = [re.findall("fill:light-dark.(#......)", node.attrib["style"])[0] for node in drawing.iter("rect")]
    assert fills[:3] == fills[3:] == [colour.lower() for colour, _ in LOOKS[:3]]


def test_words_without_classes_share_a_colour_and_names_are_text() -> None:
    html = example_html(Example((Derivation(ATTACK, (ATTACK, "b"), ("b", "x"), (1, 0)),)))
    assert "class=classes" not in html and ATTACK not in html and len(set(re.findall("fill:([^;]+)", html))) == 1


@pytest.mark.parametrize("colour", [colour for colour, _ in LOOKS])
def test_colours_stand_out_in_dark_mode(colour: str) -> None:
    light, dark = re.findall("#......", themed(colour))
    assert light == colour.lower() and contrast(dark, PAPER) >= min(CONTRAST, contrast("#7f7f7f", PAPER))


def test_paper_is_the_page_in_dark_mode_and_contrast_is_as_defined() -> None:
    assert themed("#ffffff") == f"light-dark(#ffffff,{PAPER})"
    assert contrast("#000000", "#ffffff") == pytest.approx(21) and contrast("#777777", "#ffffff") == pytest.approx(
        4.48, abs=0.01
    )
