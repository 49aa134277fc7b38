import json
from pathlib import Path

import pytest

from calque.analysis.records import json_rows
from calque.analysis.records.record import RECORDS, RUNS
from calque.derive.errors import BadInput
from calque.experiments.commands.study import null
from tests.analysis.runs import runs
from tests.analysis.toy import toy_records

COMMITTED = Path(__file__).parents[3] / "experiments" / "records"


def write(folder: Path, seeds: int) -> Path:
    folder.mkdir(parents=True)
    records = toy_records(seeds)
    json_rows.write(folder / RECORDS, records)
    json_rows.write(folder / RUNS, runs(records))
    return folder


def test_committed_records_of_three_seeds_say_what_one_seed_would_have_said(
    capsys: pytest.CaptureFixture[str],
) -> None:
    null("objectives_pocket", COMMITTED)
    said = capsys.readouterr().out
    assert "By test items alone, two seeds of one objective are called different in " in said
    assert (
        said.rstrip().splitlines()[2:-2]
        == (COMMITTED / "objectives_pocket" / "null.md").read_text().splitlines()[2:-2]
    )


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"value": 7.0}, "value should be from 0 to 1 for ZS"),
        ({"value": -3.5}, "value should be from 0 to 1 for ZS"),
        ({"count": -5}, "count should be 0 or more: -5"),
        ({"items": {"hits": "0*4", "of": "0*4"}}, "items should have a denominator"),
        (
            {"items": {"hits": "1 2", "of": "3"}},
            "expected one JSON object per line, a Record: `hits` lists 2 items, and `of` 1",
        ),
        ({"value": 0.5, "items": {"hits": "1 2", "of": "3 9"}}, r"value should match its items, 0\.25: 0\.5"),
        ({"null": {"chance": 0.1, "low": 0.2, "high": 0.1, "shuffles": 40}}, "null should have shuffles"),
    ],
)
def test_a_number_that_nothing_measured_is_refused_with_its_line(
    changed: dict[str, object], said: str, tmp_path: Path
) -> None:
    path = write(tmp_path / "toy", 2) / RECORDS
    first, second, *others = path.read_text(encoding="utf-8").splitlines()
    path.write_text(
        "\n".join([first, json.dumps(json.loads(second) | changed), *others, ""]), encoding="utf-8"
    )
    with pytest.raises(BadInput, match=rf"records\.jsonl:2: {said}"):
        null("toy", tmp_path)
