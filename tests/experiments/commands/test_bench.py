"""What `calque bench` needs is checked before anything is measured."""

from importlib.util import find_spec
from pathlib import Path

import pytest
from torch import cuda
from typer.testing import CliRunner

from calque.experiments.cli import app

INSTALLED = pytest.mark.skipif(bool(find_spec("accelerate")), reason="accelerate is installed")
CARD = pytest.mark.skipif(cuda.is_available(), reason="there is a GPU")


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["stp"], "did you mean step?"),
        pytest.param(["mask", "step"], "accelerate", marks=INSTALLED),
        (["mask", "derive"], "CALQUE_DATA"),
        pytest.param(["mask", "gpu"], "needs a GPU", marks=CARD),
    ],
)
def test_a_benchmark_that_lacks_something_is_refused_at_once(
    names: list[str], expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CALQUE_DATA", raising=False)
    result = CliRunner().invoke(app, ["bench", *names, "--out", str(tmp_path / "out.json")])
    assert result.exit_code == 2
    assert expected in result.output
    assert not list(tmp_path.iterdir())
