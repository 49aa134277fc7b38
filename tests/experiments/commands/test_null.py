from pathlib import Path

import pytest

from calque.experiments.commands.study import null

COMMITTED = Path(__file__).parents[3] / "experiments" / "records"


@pytest.mark.slow
def test_committed_records_of_three_seeds_say_what_one_seed_would_have_said(capsys):
    null("objectives_pocket", COMMITTED)
    said = capsys.readouterr().out
    assert "By test items alone, two seeds of one objective are called different in " in said
    assert (
        said.rstrip().splitlines()[2:-2]
        == (COMMITTED / "objectives_pocket" / "null.md").read_text().splitlines()[2:-2]
    )
