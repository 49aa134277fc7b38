"""What people are told of records: names of transforms, and distances by seed."""

from __future__ import annotations

import pytest

from analysis.records.record import ORDER, Record
from analysis.records.results import Measured, Results, parts, transform_name


@pytest.mark.parametrize(
    ("transform", "name"),
    [
        ("trans", "Trans"),
        ("trans.inv", "Trans + Inv"),
        ("trans.inv-25", "Trans + Inv 25 %"),
        ("trans-25.inv-12.5", "Trans 25 % shared + Inv 12.5 %"),
        ("trans.perm", "Trans + Perm"),
        ("trans.syn-fr", "Trans + Syn (fr)"),
        ("trans.syn-romance", "Trans + Syn (romance)"),
        ("trans.syn-verbfinal-25", "Trans + Syn (verbfinal, 25 %)"),
        ("trans.syn-verbfinal-0", "Trans + Syn (verbfinal, 0 %)"),
        ("trans.syn-fr-p50", "Trans + Syn (fr, 50 % of sentences)"),
        ("trans.syn-fr-12.5-p50-drop", "Trans + Syn (fr, 12.5 %, 50 % of sentences), large nodes dropped"),
        ("trans.swap", "Trans + swap"),
        ("verb-last", "verb-last"),
    ],
)
def test_transforms_have_names_for_people(transform: str, name: str) -> None:
    assert transform_name(transform) == name


def test_a_dot_inside_a_number_is_no_joint() -> None:
    assert parts("trans-12.5.syn-fr.inv-0.5") == ["trans-12.5", "syn-fr", "inv-0.5"]


def test_distances_are_those_of_the_order_not_of_its_alignment() -> None:
    records = [
        Record("toy", f"run-{seed}", "trans.inv", "MLM", seed, measure, "", metric, value, 10_000, 0)
        for seed in (0, 1)
        for measure, metric, value in ((ORDER, "kendall", 0.9), ("alignment", "all", 0.2))
    ]
    found = Results(records).distances("MLM", "trans.inv")
    assert {seed: measured.value for seed, measured in found.items()} == {0: 0.9, 1: 0.9}
    assert isinstance(found[0], Measured)
    assert Results(records).distances("MLM", "trans") == {}
