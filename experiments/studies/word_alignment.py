"""Word alignment on real gold sets, as in Table 2 and Figure 2 of XLM-Align, at a small scale."""

import os

from calque.derive.natural.files import BitextFiles
from calque.experiments.studies.given import captions, real_data
from calque.experiments.studies.objectives import MASKS
from calque.experiments.study import Study
from calque.experiments.study.gold import EncoderLinks, GoldPairs
from calque.pretrain.config import ModelConfig, TrainConfig
from calque.pretrain.objectives.mlm import MLM
from calque.pretrain.objectives.xlm import XLM
from calque.pretrain.objectives.xlm_align import XLMAlign


def word_alignment() -> Study:
    """fast_align and small encoders on four gold sets."""
    from calque.pretrain.hub import model_folder

    data, encoder = real_data("word_alignment", "word_alignment"), os.environ.get("CALQUE_ENCODER")
    manythings = data / "parallel" / "manythings"
    return Study(
        name="word_alignment",
        paper="links",
        languages=GoldPairs(
            gold=data / "align",
            text={
                "de-en": (
                    BitextFiles(manythings / "deu-eng.tsv", columns=(1, 0)),
                    captions(data, "de", "en"),
                ),
                "en-fr": (BitextFiles(manythings / "fra-eng.tsv"), captions(data, "en", "fr")),
            },
            vocabulary=4_000,
        ),
        measures=(EncoderLinks(),),
        objectives=(MLM(MASKS), XLM(1.0, MASKS), XLMAlign(parallel_fraction=1.0, mask_rate=MASKS)),
        encoder=model_folder(encoder) if encoder else None,
        model=ModelConfig(
            layers=2, heads=4, hidden=64, ffn=256, length=96, dropout=0.0, initializer_range=0.1
        ),
        train=TrainConfig(
            steps=1_200,
            batch=24,
            learning_rate=4e-3,
            warmup=200,
            log_every=100,
            probe_every=0,
            save_every=400,
        ),
    )
