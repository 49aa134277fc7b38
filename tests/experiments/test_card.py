"""`.ci/card`: its studies accept its settings, and the same command continues a part that was cut off."""

import lzma
import os
import subprocess
import sys
from pathlib import Path

import pytest

from calque.derive.sources.everyday import FOLDER, TEXT

CARD = Path(__file__).parents[2] / ".ci" / "card"
TINY = (
    "vocabulary=800 transforms=trans.inv seeds=0 "
    "tasks.pos.finetune.epochs=1 tasks.pos.finetune.learning_rate=1e-3 "
    "model.layers=1 model.heads=2 model.hidden=16 model.ffn=32 model.length=32 model.initializer_range=0.1 "
    "train.steps=200 train.batch=8 train.warmup=10 train.learning_rate=1e-3 "
    "train.log_every=50 train.probe_every=200 train.save_every=50"
)


@pytest.fixture
def text(tmp_path: Path) -> Path:
    """Some sentences of Everyday English."""
    path = tmp_path / "easy.tokens"
    with lzma.open(FOLDER / TEXT, "rt", encoding="utf-8") as lines:
        path.write_text("".join(line for line, _ in zip(lines, range(4_000), strict=False)), encoding="utf-8")
    return path


def card(shares: str, *words: str | Path) -> str:
    environment = {**os.environ, "PYTHON": sys.executable, "SHARES": shares, "JOBS": "2"}
    return subprocess.run([CARD, *words], env=environment, check=True, capture_output=True, text=True).stdout


def test_both_studies_accept_their_settings(text: Path, tmp_path: Path) -> None:
    plan = card("", "plan", text, tmp_path / "runs")
    assert "RoBERTa of 4 layers, width 256" in plan and "12 models of 9,200 steps of 256 x 64 ids" in plan
    assert "RoBERTa of 8 layers, width 512" in plan and "2 models of 1,500 steps of 256 x 128 ids" in plan


@pytest.mark.slow
def test_a_part_that_is_cut_off_is_continued(text: Path, tmp_path: Path) -> None:
    words = ["evaluate", text, tmp_path / "runs", *(f"--set={setting}" for setting in TINY.split())]
    assert "wide: cut off after 1 s" in card("0 1 0", *words)
    card("0 8 0", *words)  # in the middle of something
    assert [line.split(" after")[0] for line in card("0 300 300", *words).splitlines()] == [
        "wide: finished",
        "deep: finished",
    ]
