"""Alignment by an encoder's hidden states, no parallel text needed: one reading of links, as an aligner."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from analysis.aligners.encoder import Precision, main_layer
from analysis.aligners.methods import DEFAULT, Method
from analysis.aligners.pair_encoder import PairEncoder, Reading
from derive.links.aligner import Aligner, LeftOut, Links, Pair, Scored
from pretrain.saved_model import read_config


class EncoderAligner(Aligner):
    """Links from the similarity of the hidden states of sub-words."""

    def __init__(self, encoder: PairEncoder, reading: Reading) -> None:
        self.encoder, self.reading = encoder, reading

    @classmethod
    def open(
        cls,
        folder: Path,
        method: Method = DEFAULT,
        layer: int | None = None,
        *,
        joint: bool = False,
        device: str = "cpu",
        precision: Precision = "float32",
    ) -> EncoderAligner:
        """A model with the tokenizer that lies beside it; without `layer`, that of two thirds of its depth.

        Raises:
            BadInput: either is missing or damaged, they do not fit each other, or the model has no such layer.
        """
        if layer is None:
            layer = main_layer(getattr(read_config(folder).get_text_config(), "num_hidden_layers", 0))
        seen = PairEncoder.open(folder, layer, joint=joint, device=device, precision=precision)
        return cls(seen, Reading(method, layer))

    @property
    def name(self) -> str:
        return f"{self.reading.method.name}, layer {self.reading.layer}{', joint' * self.encoder.joint}"

    @property
    def left_out(self) -> LeftOut:
        """What got no links, and why."""
        return self.encoder.left_out

    def align(self, pairs: Iterable[Pair]) -> Iterator[Links]:
        return map(list, self.align_scored(pairs))

    def align_scored(self, pairs: Iterable[Pair]) -> Iterator[Scored]:
        """Links as in `align`, each with the largest score of the sub-word links that it comes from."""
        return (links for (links,) in self.encoder.links(pairs, [self.reading]))

    def matrix(self, pair: Pair) -> np.ndarray:
        """The scores between the words of one pair, NaN where there are none."""
        return self.encoder.matrix(pair, self.reading)
