"""report.html: whole, well-formed, escaped, and asking nothing of the network."""

import base64
import re
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest

from calque.analysis.papers.align_mlm.claims import align_mlm_claims
from calque.analysis.papers.align_mlm.figures import correlation_figure, delta_figure
from calque.analysis.papers.align_mlm.tables import alignment_table, scores_table
from calque.analysis.report.claims_table import claims_table, null_table
from calque.analysis.report.drawing import HALF
from calque.analysis.report.page import SMALLEST, Report, excerpt, write_page
from tests.analysis.saved import saved
from tests.analysis.toy import joined, toy_published, toy_records

VOID = {"meta", "link", "img"}


class Checker(HTMLParser):
    """Keeps the open elements, the addresses and the text; raises where an end fits no start."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.links: list[str] = []
        self.ids: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.open.append(tag)
        self.links += [value or "" for name, value in attrs if name in ("src", "href")]
        self.ids += [value or "" for name, value in attrs if name == "id"]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Checker]:
    folder = tmp_path_factory.mktemp("report")
    results = joined(toy_records(2), toy_published())
    plots = [delta_figure(results, "toy"), correlation_figure(results, "toy")]
    report = Report(
        title="Study <1> & more",
        scale="toy",
        drawings=[saved(plot, folder) for plot in plots],
        claims=claims_table(results, align_mlm_claims(results), "toy"),
        null=null_table(results, "toy"),
        tables=[scores_table(results, "toy"), alignment_table(results, "toy")],
        examples=[("trans.inv", "a <unk> & <script>alert(1)</script>")],
        exclusions=["3 pairs longer than a row"],
        facts=[("torch", "2")],
        runs=results.runs,
        findings=["ALIGN-MLM loses least & more.", "One seed."],
        terms=[("Δ", "what is lost")],
    )
    write_page(folder / "report.html", report)
    text = (folder / "report.html").read_text(encoding="utf-8")
    checker = Checker()
    checker.feed(text)
    return text, checker


def test_every_element_is_closed_and_every_anchor_exists(page: tuple[str, Checker]) -> None:
    _, checker = page
    assert checker.open == []
    anchors = [link[1:] for link in checker.links if link.startswith("#")]
    assert anchors and set(anchors) == set(checker.ids)


def test_the_page_asks_nothing_of_the_network(page: tuple[str, Checker]) -> None:
    text, checker = page
    assert all(link.startswith(("#", "data:")) for link in checker.links)
    assert not re.search(r"@import|url\(|<script|https?://", text)


def test_what_people_wrote_is_escaped_and_there(page: tuple[str, Checker]) -> None:
    text, checker = page
    assert "<unk>" not in text and "a <unk> & <script>alert(1)</script>" in checker.text
    assert "Study <1> & more" in checker.text and "3 pairs longer than a row" in checker.text


def test_figures_claims_tables_terms_and_runs_are_there(page: tuple[str, Checker]) -> None:
    text, checker = page
    assert text.count("data:image/svg+xml;base64,") == 2
    assert all(claim.text in checker.text for claim in align_mlm_claims(joined(toy_records(2), toy_published())))
    assert "p: 0.072, corrected: 0.51. Family: transfer (10). From: section 5" in checker.text
    assert "Table 3" in checker.text and "Table 8" in checker.text and "tr class=published" in text
    assert "what is lost" in checker.text
    runs = {record.run for record in toy_records(2)}
    assert all(run in checker.text for run in runs)
    assert text.count(f"<summary>The {len(runs)} runs shown</summary>") == 5, (
        "under two figures, the null and two tables"
    )


def test_a_report_of_nothing_has_no_empty_sections(tmp_path: Path) -> None:
    results = joined([])
    write_page(tmp_path / "r.html", Report("t", "toy", [], claims_table(results, [], "toy"), []))
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "<h2>Figures" not in text and "<h2>Exclusions" not in text and "<h2>Terms" not in text
    assert "runs shown" not in text


def test_findings_come_first_then_figures_and_terms_after_tables(page: tuple[str, Checker]) -> None:
    text, _ = page
    order = [
        "loses least &amp; more.",
        "<nav>",
        'id="figures"',
        'id="claims"',
        'id="null"',
        'id="tables"',
        'id="terms"',
    ]
    places = [text.index(part) for part in order]
    assert places == sorted(places)


def test_claims_are_counted_by_verdict(page: tuple[str, Checker]) -> None:
    _, checker = page
    counts = "9 are undecided, 3 hold before correction only, 2 hold and 1 does not hold"
    assert f"Of 15 claims tested, {counts}." in checker.text


def test_figures_have_dark_colours_and_keep_their_letters_readable_on_a_phone(page: tuple[str, Checker]) -> None:
    """Every colour that the dark style replaces is one that figures use, and no figure shrinks below its smallest."""
    text, checker = page
    images = [
        base64.b64decode(link.partition(",")[2]).decode() for link in checker.links if link.startswith("data:image")
    ]
    assert len(images) == 2
    assert all(
        int(least) < 96 * HALF < int(most) for least, most in re.findall(r"min-width:(\d+)px;max-width:(\d+)px", text)
    )
    for image, least in zip(images, re.findall(r"min-width:(\d+)px", text), strict=True):
        root = ElementTree.fromstring(image)
        assert float(root.attrib["width"].removesuffix("pt")) == pytest.approx(72 * HALF)
        assert int(least) == pytest.approx(SMALLEST * 96 * HALF, abs=0.5), "an inch has 72 points and 96 pixels"
        assert root[0].tag.endswith("style") and (root[0].text or "").startswith("@media screen and (prefers-color")
        for colour in re.findall(r'fill: (#\w+)"\] ', root[0].text or "")[:3]:
            assert f": {colour}" in "".join(re.findall(r'style="[^"]*"', image))


def test_a_table_names_a_row_in_one_cell_that_stays_in_sight(page: tuple[str, Checker]) -> None:
    text, _ = page
    assert '<th scope="row">MLM<small>Trans + Inv · published</small></th>' in text
    assert "position: sticky" in text


def test_control_characters_are_shown_as_signs(tmp_path: Path) -> None:
    write_page(tmp_path / "r.html", Report("bell \x07", "toy", [], None, [], examples=[("e", "a\x00b")]))
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "bell �" in text and "a�b" in text and "\x07" not in text


PREVIEW = "Sentences\n=========\n\n" + "".join(f"{n}.\nsource a b\ntrans  c d\n\n" for n in range(1, 6))


def test_whole_examples_and_how_many_are_left() -> None:
    shown = excerpt(PREVIEW, lines=12)
    assert shown == PREVIEW[: PREVIEW.index("3.")] + "3 more in the preview\n"


def test_an_example_that_just_fits_is_there() -> None:
    two = PREVIEW[: PREVIEW.index("3.")].count("\n")
    assert "3 more" in excerpt(PREVIEW, lines=two) and "4 more" in excerpt(PREVIEW, lines=two - 1)


def test_one_example_at_least() -> None:
    assert "1.\nsource a b\ntrans  c d\n" in excerpt(PREVIEW, lines=1)
    assert "4 more" in excerpt(PREVIEW, lines=1)


def test_what_fits_is_there_whole() -> None:
    assert excerpt(PREVIEW, lines=100) == PREVIEW.rstrip() + "\n"
    assert excerpt("", lines=3) == "\n"
