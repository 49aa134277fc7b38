"""Tables of mixtures: our numbers, and the paper's beside them."""

from analysis.papers.language_imbalance.tables import imbalance_findings, imbalance_tables
from analysis.report.table import MISSING, OURS, PUBLISHED
from tests.analysis.mixed import LOSSES, mixed


def test_efficiency_has_a_row_for_each_mixture_and_objective() -> None:
    (name, table), _ = imbalance_tables(mixed(), "toy")
    assert name == "token-efficiency"
    ours = [row for row in table.rows if row[3] == OURS]
    assert len(ours) == 2 * len(LOSSES)
    assert ours[2][:6] == ("2", "90/10", "MLM", OURS, "2", "0")
    assert ours[2][6:8] == ("2.500", "2.750 ± 0.027")
    assert ours[2][8] == "1.41", "of the main language, whose seeds do not differ"
    assert ours[2][9].startswith("4.76 [4.6")
    assert ours[2][10].startswith("2.83 [2.7")
    assert table.published == {len(ours), len(ours) + 1}
    assert [row for row in table.rows if row[3] == PUBLISHED] == [
        ("2", "50/50", "autoregressive", PUBLISHED, *[MISSING] * 5, "0.89", MISSING),
        ("2", "90/10", "autoregressive", PUBLISHED, *[MISSING] * 5, "2.08", MISSING),
    ]


def test_ends_of_curves_are_marked() -> None:
    (_, table), _ = imbalance_tables(mixed({"90-10": 4.5, "50-50": 1.5}), "toy")
    assert [row[9].split()[0] for row in table.rows if row[2] == "MLM"] == ["≤2.00", "≥8.00"]


def test_transfer_has_every_direction() -> None:
    _, (name, table) = imbalance_tables(mixed(), "toy")
    assert name == "transfer"
    row = next(row for row in table.rows if row[:3] == ("3", "90/5/5", "MLM"))
    assert [cell.split()[0] for cell in row[3:]] == ["50.0", "40.0", "95.0", "95.0", "25.0", "12.5", "6.2"]
    assert next(row for row in table.rows if row[1] == "90/10")[-1] == MISSING, "one small language has no other"
    assert len(table.header) == 3 + 4 + 3


def test_findings_say_what_tables_show() -> None:
    said = list(imbalance_findings(mixed()))
    assert said[0].startswith("With MLM the token efficiency of the small languages is 4.76 [")
    assert "at 90/10 and 2.38 [" in said[0]
    assert "zero-shot POS from the main language to the small is 45.0 % at 90/10 and 25.0 at 50/50" in said[1]
