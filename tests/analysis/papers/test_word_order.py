"""Word orders before and after, and their figure."""

import json
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from calque.analysis.papers.word_order import BETWEEN, NEAR, WordOrders, compare, drawn_shares
from calque.analysis.report.drawing import LOOKS
from calque.derive.reorder import PocketTreebank, Reorder
from calque.derive.typology import Share
from tests.analysis.drawn import coordinates, laid_out, legend, legible, looked, points


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> WordOrders:
    english, final = PocketTreebank("english", size=1_000), PocketTreebank("verbfinal", size=1_000)
    reorder = Reorder(final, english).ready(tmp_path_factory.mktemp("cache"))
    return compare(reorder, english.sentences(), final.sentences())


def test_preferences_are_taken_over(compared: WordOrders) -> None:
    for name in ("adpositions before nouns", "objects after verbs", "subjects before verbs", "SOV"):
        assert abs(compared.after[name].share - compared.own[name].share) <= NEAR
        assert compared.after[name].count == compared.before[name].count
    assert compared.before["objects after verbs"].share > 0.85


def test_every_word_is_accounted_for(compared: WordOrders) -> None:
    assert compared.account["words in"] == compared.account["words out"]
    assert compared.account["sentences with the same words as before"] == compared.account["sentences in"] == 1_000
    assert 0.1 < compared.account["order distance"] < 0.6


def test_what_differs_is_marked(compared: WordOrders) -> None:
    rows = {row.split(" | ")[0].removeprefix("| "): row for row in compared.markdown.splitlines()[2:]}
    for name, row in rows.items():
        if name in compared.before and name in compared.own:
            far = abs(compared.after[name].share - compared.own[name].share) > NEAR
            assert row.endswith("* |") == far


def test_rows_without_an_occasion_in_the_superstrate_are_shown_and_marked(compared: WordOrders) -> None:
    own = {name: share for name, share in compared.own.items() if name != "auxiliaries before verbs"}
    rows = {row.split(" | ")[0].removeprefix("| "): row for row in replace(compared, own=own).markdown.splitlines()}
    assert rows["auxiliaries before verbs"].endswith(" | – | – * |")
    assert set(rows) >= set(compared.after)
    whole = {row.split(" | ")[0].removeprefix("| "): row for row in compared.markdown.splitlines()}
    assert [name for name in compared.after if rows[name] != whole[name]] == ["auxiliaries before verbs"]


def test_what_cannot_move_is_told(compared: WordOrders) -> None:
    told = compared.out_of_reach["nsubj"]
    assert 0 < told.share < 0.5 and told.count > compared.before["subjects before verbs"].count
    assert (
        f"- nsubj of heads that no grammar orders, which stay: {told.share:.1%} of {told.count:,}" in compared.markdown
    )


def test_languages_have_names_and_no_codes() -> None:
    nothing = WordOrders(("en", "fr"), {}, {}, {}, {}, {})
    assert nothing.markdown.startswith("| | English | English in the order of French | French itself | difference |")
    assert (
        f"\n- \\* more than {NEAR:.2f} from French itself, or – no occasion there to compare with\n" in nothing.markdown
    )
    assert WordOrders(("tlh", "fr"), {}, {}, {}, {}, {}).titles[0] == "tlh"


def test_table_data_and_figure_lie_together(compared: WordOrders, tmp_path: Path) -> None:
    table = compared.save(tmp_path)
    assert table.read_text(encoding="utf-8") == compared.markdown
    data = json.loads((tmp_path / "word-order-verbfinal.json").read_text())
    assert data["shares"]["Pocket English"]["SVO"]["share"] == compared.before["SVO"].share
    assert {path.suffix for path in tmp_path.iterdir()} == {".md", ".json", ".png", ".svg"}
    assert ElementTree.parse(table.with_suffix(".svg")).getroot().tag.endswith("svg")
    again = compared.save(tmp_path / "again")
    for kind in (".json", ".png", ".svg"):
        assert table.with_suffix(kind).read_bytes() == again.with_suffix(kind).read_bytes()


def test_a_tenth_is_near_and_more_is_marked() -> None:
    after = {"near": Share(1_000, 0.1), "far": Share(9, 0.11), "below": Share(9, 0.0)}
    own = {"near": Share(8, 0.0), "far": Share(8, 0.0), "below": Share(8, 0.2)}
    table = WordOrders(("en", "fr"), {}, after, own, {"words": 12_345}, {}).markdown.splitlines()
    assert table[2:7] == [
        "| near | – | 0.10 (1,000) | 0.00 (8) | +0.10 |",
        "| far | – | 0.11 (9) | 0.00 (8) | +0.11 * |",
        "| below | – | 0.00 (9) | 0.20 (8) | -0.20 * |",
        "",
        "- words: 12,345",
    ]


COLUMNS = {
    "English": {"adjectives after nouns": 0.02, "SVO": 1.0, "OVS": 0.0},
    "French": {"adjectives after nouns": 0.75, "SVO": 1.0, "OVS": 0.0, "numerals before nouns": 0.9},
}


def test_markers_stand_at_their_shares_in_the_rows_of_their_preferences() -> None:
    (panel,) = drawn_shares(COLUMNS, "Word order").axes
    rows = [label.get_text() for label in panel.get_yticklabels()]
    assert rows == ["adjectives after nouns", "SVO", "numerals before nouns"]  # nobody has OVS
    for place, (language, (colour, marker)) in enumerate(zip(COLUMNS, LOOKS, strict=False)):
        shares = COLUMNS[language]
        lift = BETWEEN * (place - 0.5)
        expected = sorted((100 * shares[row], y + lift) for y, row in enumerate(rows) if row in shares)
        assert points(panel, marker, colour) == [pytest.approx(point) for point in expected]


def test_it_can_be_read_and_its_rows_are_as_high_among_many() -> None:
    heights = []
    for count, languages in ((3, 2), (24, len(LOOKS))):
        columns = {f"language {n}": {f"preference {row}": 0.1 * n for row in range(count)} for n in range(languages)}
        figure = drawn_shares(columns, "Word order of languages " * 6)
        legible(figure)
        (panel,) = figure.axes
        heights.append(laid_out(figure)[0] / count)
        low, high = panel.get_xlim()
        assert low < 0 and low + high == 100, "0 and 100 lie as far from their ends"
        assert panel.get_ylim() == (count - 0.5, -0.5), "the first row is the uppermost"
        assert panel.get_xlabel() == "share of orderable heads, %"
        assert figure.get_suptitle().startswith("Word order")
        entries = {name: looked(entry) for name, entry in legend(figure).items()}
        assert entries == {name: (*look, "full", "None") for name, look in zip(columns, LOOKS, strict=False)}
        y = {round(y - row, 6) for line in panel.lines for row, y in enumerate(coordinates(line)[1])}
        assert len(y) == languages and sum(y) == pytest.approx(0)
    assert heights[0] == pytest.approx(heights[1], rel=0.3)
