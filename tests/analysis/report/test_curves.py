"""Training curves as data of the page: quantities, thinning and escapes."""

import json
import math
import re
from typing import Any

from calque.analysis.report.curves import POINTS, Curves, curves_html
from tests.analysis.paged import ATTACK, PROBES, ROWS


def data_of(html: str) -> dict[str, Any]:
    (text,) = re.findall(r'<script type="application/json">(.*?)</script>', html)
    found: dict[str, Any] = json.loads(text)
    return found


def test_every_quantity_of_every_run_is_a_line() -> None:
    runs = [Curves("MLM, seed 0", "MLM", "#0072b2", [*ROWS, *PROBES]), Curves("XLM, seed 0", "XLM", "#009e73", ROWS)]
    data = data_of(curves_html(runs))
    assert data["runs"] == [["MLM, seed 0", "MLM"], ["XLM, seed 0", "XLM"]]
    assert [name for name, _ in data["panels"]] == ["loss: mlm", "gradient norm", "tokens/s", "alignment@1, all"]
    panels = dict(data["panels"])
    assert [run for run, _, _ in panels["loss: mlm"]] == [0, 1]
    assert [run for run, _, _ in panels["alignment@1, all"]] == [0]
    ((_, steps, values),) = panels["alignment@1, all"]
    assert (data["steps"][steps], values) == ([100, 300], [0.2, 0.6])


def test_long_curves_keep_their_ends_and_share_their_steps() -> None:
    data = data_of(curves_html([Curves(f"seed {seed}", "MLM", "#0072b2", ROWS) for seed in range(3)]))
    (steps,) = data["steps"]
    assert len(steps) == POINTS and (steps[0], steps[-1]) == (1, 499) and steps == sorted(set(steps))


def test_numbers_that_are_not_finite_are_gaps() -> None:
    rows = [{"step": 1, "loss": {"mlm": math.nan}}, {"step": 2, "loss": {"mlm": 2.0}}]
    (panel,) = data_of(curves_html([Curves("r", "g", "#0072b2", rows)]))["panels"]
    assert panel == ["loss: mlm", [[0, 0, [None, 2.0]]]]


def test_names_end_no_script_and_runs_without_rows_draw_nothing() -> None:
    html = curves_html([Curves(ATTACK, ATTACK, "#0072b2", PROBES)])
    assert ATTACK not in html and data_of(html)["runs"] == [[ATTACK, ATTACK]]
    assert curves_html([]) == curves_html([Curves("r", "g", "#0072b2", [])]) == ""
