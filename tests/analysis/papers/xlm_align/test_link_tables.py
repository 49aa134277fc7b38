"""Tables of word alignment: every choice with its layers, and layers beside published ones."""

from dataclasses import replace

import pytest
from tests.analysis.papers.xlm_align.test_layer_figure import row, run

from calque.analysis.papers.xlm_align.links import Systems, choices_table
from calque.analysis.records.record import Record
from calque.analysis.results.results import Results

SETS = ("de-en", "en-fr")
RIGHT = {
    "argmax": {"de-en": (10, 50, 60), "en-fr": (20, 60, 40)},
    "argmax-products": {"de-en": (10, 40, 30), "en-fr": (20, 70, 80)},
    "xlm-align": {"de-en": (10, 30, 20), "en-fr": (20, 50, 30)},
}
"""Right links of 100 by aligner, set and layer; joint rows have 5 fewer."""


@pytest.fixture(scope="module")
def systems() -> Systems:
    records: list[Record] = [
        row(gold, aligner, "given", right - 5 * joint, layer=layer, joint=joint)
        for aligner, by_set in RIGHT.items()
        for gold, by_layer in by_set.items()
        for layer, right in enumerate(by_layer)
        for joint in (False, True)
    ]
    records += [row("en-fr", "argmax", "ours", 90, layer=1), row("en-fr", "diagonal", "", 35)]
    runs = [replace(run(one), layers=2, main_layer=1) if one.layer is not None else run(one) for one in records]
    return Systems(Results(dict.fromkeys(runs), records), SETS)


def test_choices_are_those_of_an_encoder_that_was_read_by_all_best_first(systems: Systems) -> None:
    table = choices_table(systems)
    assert table.header == ("encoder", "aligner", "way", "layer", "en-de", "en-fr")
    assert table.rows == (
        ("given", "argmax-products", "apart", "1 (2)", "60.00 (70.00)", "30.00 (20.00)"),
        ("given", "argmax", "apart", "1 (1)", "50.00 (50.00)", "40.00 (40.00)"),
        ("given", "xlm-align", "apart", "1 (1)", "70.00 (70.00)", "50.00 (50.00)"),
        ("given", "argmax-products", "joint", "1 (2)", "65.00 (75.00)", "35.00 (25.00)"),
        ("given", "argmax", "joint", "1 (1)", "55.00 (55.00)", "45.00 (45.00)"),
        ("given", "xlm-align", "joint", "1 (1)", "75.00 (75.00)", "55.00 (55.00)"),
    )
    on_german = choices_table(systems, "de-en")
    assert [cells[1:4] for cells in on_german.rows[:2]] == [
        ("argmax", "apart", "1 (2)"),
        ("argmax-products", "apart", "1 (1)"),
    ]
