"""`.ci/card`: its two studies accept its settings."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from calque.derive.readers.lines import read_lines
from calque.derive.sources.everyday import FOLDER, TEXT

CARD = Path(__file__).parents[2] / ".ci" / "card"


@pytest.mark.slow
def test_both_studies_accept_their_settings(tmp_path: Path) -> None:
    text = tmp_path / "easy.tokens"
    lines = [line for (_, line), _ in zip(read_lines(FOLDER / TEXT), range(4_000), strict=False)]
    text.write_text("\n".join(lines), encoding="utf-8")
    environment = {**os.environ, "PYTHON": sys.executable}
    command = [CARD, "plan", text, tmp_path / "runs"]
    plan = subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout
    assert "4 layers, width 256" in plan and "12 models" in plan
    assert "8 layers, width 512" in plan and "2 models" in plan
