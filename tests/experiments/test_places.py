"""Folders: what a result was made from is in its path."""

from __future__ import annotations

from pathlib import Path

from experiments.override import override
from experiments.places import Places
from experiments.study import Study


def test_the_tree(tiny: Study) -> None:
    places, cell = Places(Path("runs"), tiny), tiny.cells[1]
    home = Path("runs/pocket")
    assert places.home == home
    assert places.report == home / "report"
    assert places.data == home / f"data-{tiny.data_fingerprint}"
    assert places.run(cell) == home / "trans.inv" / "ALIGN-MLM" / f"seed-0-{tiny.run_fingerprint(cell)}"
    assert places.evaluation(cell).parent == places.run(cell)


def test_an_evaluation_moves_with_its_values_and_the_run_stays(tiny: Study) -> None:
    here, there = (Places(Path("r"), made) for made in (tiny, override(tiny, ["finetune.pos.epochs=2"])))
    cell = tiny.cells[0]
    assert here.run(cell) == there.run(cell)
    assert here.evaluation(cell) != there.evaluation(cell)


def test_no_two_cells_share_a_folder(tiny: Study) -> None:
    made = override(tiny, ["seeds=0,1", "transforms=trans,trans.inv"])
    places = Places(Path("r"), made)
    assert len({places.run(cell) for cell in made.cells}) == len(made.cells)
