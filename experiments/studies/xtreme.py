"""XTREME's tasks at their papers' scale: whole training sets, the recipes' languages, XLM-Align's grid of settings."""

import os
from pathlib import Path

from calque.experiments.languages import NaturalLanguages
from calque.experiments.studies.given import tasks_of
from calque.experiments.study import Study
from calque.pretrain.config import ModelConfig

TIME = "not run"
NEEDS = "CALQUE_DATA, GPUs"


def xtreme() -> Study:
    """XTREME's seven tasks with XLM-Align's settings (Table 12), from XLM-R base or another encoder; needs GPUs."""
    data = Path(os.environ.get("CALQUE_DATA") or "data")
    encoder = os.environ.get("CALQUE_ENCODER")
    return Study(
        name="xtreme",
        paper="xtreme",
        languages=NaturalLanguages(types=250_002),
        start=Path(encoder) if encoder else data / "models" / "xlm-roberta-base",
        tasks=tasks_of(Path(__file__).with_suffix(".toml"), data),
        seeds=(0, 1, 2),
        measures=(),
        model=ModelConfig(layers=12, heads=12, hidden=768, ffn=3072, length=512),
    )
