"""The pocket study: everything on the embedded corpus, in minutes."""

from analysis.finetune import FinetuneConfig
from derive.order import Invert
from derive.pocket.language import Pocket
from derive.script import Transliterate
from derive.sources.pocket import PocketEnglish, Sizes
from derive.transform import compose
from experiments.study import Study
from pretrain.config import ModelConfig, TrainConfig
from pretrain.objectives.align_mlm import align_mlm
from pretrain.objectives.dict_mlm import DictMLM
from pretrain.objectives.mlm import MLM
from pretrain.objectives.xlm import xlm

MASKS = 0.3
"""Twice the usual share of masks, for every objective: nearly twice the signal from the same text."""


def pocket() -> Study:
    """Pocket English, Trans and Trans+Inv, four objectives, one seed: a quarter of an hour on two cores."""
    size = Sizes(train=2_000, dev=300, test=1_000)
    return Study(
        name="pocket",
        scale="Pocket English, 300 types; RoBERTa 1 layer, hidden 32",
        source=PocketEnglish(language=Pocket(types=300), size=40_000, pos=size, ner=size, nli=size),
        transforms=(Transliterate(), compose(Transliterate(), Invert())),
        objectives=(MLM(MASKS), xlm(share=MASKS), DictMLM(share=MASKS), align_mlm(share=MASKS)),
        seeds=(0,),
        vocabulary=700,
        model=ModelConfig(layers=1, heads=2, hidden=32, ffn=128, length=32, dropout=0.0, initializer_range=0.1),
        train=TrainConfig(
            steps=6_000, batch=64, learning_rate=8e-3, warmup=200, log_every=100, probe_every=500, save_every=1_000
        ),
        finetune={
            "pos": FinetuneConfig(learning_rate=2e-3, epochs=4, dropout=0.0),
            "ner": FinetuneConfig(learning_rate=2e-3, epochs=4, dropout=0.0),
            "nli": FinetuneConfig(learning_rate=2e-3, epochs=6, dropout=0.0),
        },
    )
