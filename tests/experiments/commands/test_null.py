from pathlib import Path

import pytest

from calque.experiments.commands.study import null

COMMITTED = Path(__file__).parents[3] / "experiments" / "records"


@pytest.mark.slow
def test_null_of_committed_records(capsys):
    null("objectives_pocket", COMMITTED)
    said = capsys.readouterr().out
    assert "By test items alone, two seeds of one objective are called different in " in said
    assert (
        said.rstrip().splitlines()[2:-2]
        == (COMMITTED / "objectives_pocket" / "null.md").read_text().splitlines()[2:-2]
    )
