"""Aligner training from a pretrained multilingual encoder, without gold links."""

from dataclasses import replace

from calque.analysis.aligners.methods import DEFAULT, SOFTMAX
from calque.derive.natural.files import TextFiles
from calque.experiments.studies.given import real_data
from calque.experiments.studies.xlm_align_small import bitexts, xlm_align_small
from calque.experiments.study import Study
from calque.experiments.study.aligner_training import LENGTH, RECIPE
from calque.experiments.study.gold import GoldLinks
from calque.pretrain.mixture import ALL_TOGETHER
from calque.pretrain.objectives.aligner_training import AlignerTraining


def aligner() -> Study:
    """Aligner training with three sources of labels, from the encoder named by CALQUE_ENCODER."""
    small, data = xlm_align_small(), real_data("aligner", "xlm_align_small")
    captions = data / "parallel" / "multi30k"
    return small.changed(
        name="aligner",
        texts={name: TextFiles((captions / f"train.{name}",)) for name in ("en", "fr", "de")},
        bitexts={
            pair: tuple(replace(files, words_in=pair, fewest=6) for files in parts)
            for pair, parts in bitexts(data).items()
        },
        objectives=(AlignerTraining(), AlignerTraining(labels="estimated"), AlignerTraining(labels="self")),
        seeds=(0, 1, 2),
        measures=(GoldLinks(data / "align", methods=(DEFAULT.name, SOFTMAX.name)),),
        tasks={},
        model=replace(small.model, length=LENGTH),
        train=RECIPE,
        head=None,
        mixture=ALL_TOGETHER,
    )
