"""What `calque bench` needs is checked before anything is measured."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from calque.experiments.cli import app
from calque.experiments.commands import bench


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither text nor encoder, and the libraries of the benchmarks are there."""
    for name in ("CALQUE_DATA", "CALQUE_ENCODER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(bench, "LIBRARIES", {"step": "no_such_library"})


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["stp"], "did you mean step?"),
        (["mask", "step"], "no_such_library"),
        (["mask", "derive"], "CALQUE_DATA"),
        (["mask", "gpu"], "needs a GPU"),
    ],
)
def test_a_benchmark_that_lacks_something_is_refused_at_once(names: list[str], expected: str, tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["bench", *names, "--out", str(tmp_path / "out.json")])
    assert result.exit_code == 2
    assert expected in result.output
    assert not list(tmp_path.iterdir())
