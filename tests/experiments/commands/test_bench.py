"""What `calque bench` needs is checked before anything is measured."""

import json
import subprocess
from importlib.util import find_spec
from pathlib import Path

import pytest
from torch import cuda
from typer.testing import CliRunner

from calque.experiments.cli import app

INSTALLED = pytest.mark.skipif(bool(find_spec("accelerate")), reason="accelerate is installed")
CARD = pytest.mark.skipif(cuda.is_available(), reason="there is a GPU")


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with one commit."""
    path = tmp_path / "checkout"
    path.mkdir()
    (path / "code.py").write_text("", encoding="utf-8")
    as_one = ["-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "-q"], ["add", "."], [*as_one, "commit", "-q", "-m", "one"]):
        subprocess.run(["git", "-C", str(path), *words], check=True)
    monkeypatch.setattr("calque.experiments.runs.CHECKOUT", path)
    monkeypatch.setattr("calque.experiments.runs.COMMITTED", path)
    return path


def test_a_committed_record_is_of_a_commit(checkout: Path, tmp_path: Path) -> None:
    words = ["bench", "mask", "--rounds", "1", "--out"]
    assert CliRunner().invoke(app, [*words, str(checkout / "record.json")]).exit_code == 0
    commit = json.loads((checkout / "record.json").read_text(encoding="utf-8"))["commit"]
    assert not commit.endswith("dirty")
    (checkout / "code.py").write_text("x = 1", encoding="utf-8")
    result = CliRunner().invoke(app, [*words, str(checkout / "other.json")])
    assert result.exit_code == 2 and f"{commit}-dirty" in result.output.replace("\n", "")
    assert not (checkout / "other.json").exists()
    assert CliRunner().invoke(app, [*words, str(tmp_path / "mine.json")]).exit_code == 0


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
