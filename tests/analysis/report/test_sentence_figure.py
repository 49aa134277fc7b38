"""A sentence above its images, and the colours of a page."""

import re
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


def test_words_without_classes_share_a_colour_and_names_are_text() -> None:
    html = example_html(Example((Derivation(ATTACK, (ATTACK, "b"), ("b", "x"), (1, 0)),)))
    assert "class=classes" not in html and ATTACK not in html and len(set(re.findall("fill:([^;]+)", html))) == 1


@pytest.mark.parametrize("colour", [colour for colour, _ in LOOKS])
def test_colours_stand_out_in_dark_mode(colour: str) -> None:
    light, dark = re.findall("#......", themed(colour))
    assert light == colour.lower() and contrast(dark, PAPER) >= min(CONTRAST, contrast("#7f7f7f", PAPER))
