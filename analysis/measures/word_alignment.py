"""AER of word aligners on a gold set: the diagonal, fast_align, and encoders, layer by layer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from analysis.aligners.encoder import Encoder, main_layer
from analysis.aligners.methods import METHODS, OT, RELEASED, Method
from analysis.aligners.pair_encoder import PairEncoder, Reading, Side
from analysis.aligners.subwords import SubWords
from analysis.measures.aer import score_all, score_each
from analysis.records.record import LinkCounts
from derive.links.aligner import Links, Pair
from derive.links.fast_align import FastAlign
from derive.links.symmetrise import SYMMETRISATIONS
from derive.readers.gold import Gold


@dataclass(frozen=True)
class EncoderScore:
    """What links read by `method` from `layer` of an encoder of `layers` are worth; `joint` as in `PairEncoder`."""

    method: str
    layer: int
    layers: int
    joint: bool
    score: LinkCounts


def diagonal_score(pairs: Sequence[Pair], gold: Gold) -> LinkCounts:
    """Each target word linked to the source word in the same relative place of its sentence."""
    sizes = ((len(source), len(target)) for source, target in pairs)
    return score_all(gold.pairs, ([((2 * j + 1) * n // (2 * m), j) for j in range(m)] for n, m in sizes))


def fast_align_scores(
    pairs: Sequence[Pair], gold: Gold, corpus: Sequence[Pair]
) -> tuple[dict[str, LinkCounts], Counter[str]]:
    """fast_align trained on `corpus`: scores by direction and by symmetrisation, and what was left out.

    Raises:
        BadInput: the corpus has no pair to learn from.
    """
    models = [FastAlign.train(corpus, reverse=turned) for turned in (False, True)]
    forward, reverse = (list(model.align(pairs)) for model in models)
    ways: dict[str, list[Links]] = {"forward": forward, "reverse": reverse}
    for name, method in SYMMETRISATIONS.items():
        ways[name] = [method(*both) for both in zip(forward, reverse, strict=True)]
    left_out: Counter[str] = Counter()
    for model in models:
        left_out += model.left_out.counts + model.unlearnt.counts
    return {way: score_all(gold.pairs, links) for way, links in ways.items()}, left_out


def encoder_scores(
    folder: Path,
    pairs: Sequence[Pair],
    gold: Gold,
    kinds: tuple[int, int],
    device: str = "cpu",
    everywhere: Sequence[Method] = (OT, RELEASED),
) -> tuple[list[EncoderScore], Counter[str]]:
    """Every layer of a model by the methods `everywhere`, the main one by METHODS too, and what was left out.

    Each side alone, and both in one row; `kinds` are the target's token types in either case. The model is loaded once
    and sees each pair once in either case.

    Raises:
        BadInput: there is no model or no tokenizer that can be used.
    """
    encoder, pieces = Encoder(folder, device=device), SubWords(folder)
    readings = [
        Reading(method, layer)
        for layer in range(encoder.layers + 1)
        for method in dict.fromkeys((*METHODS, *everywhere) if layer == main_layer(encoder.layers) else everywhere)
    ]
    left_out: Counter[str] = Counter()

    def scored(joint: bool) -> Iterator[EncoderScore]:
        sides = Side(pieces), Side(pieces, kinds[joint])
        seen = PairEncoder(encoder, *sides, (pieces.before, pieces.after), joint, pieces.longest)
        scores = score_each(gold.pairs, seen.links(pairs, readings), len(readings))
        for reading, score in zip(readings, scores, strict=True):
            yield EncoderScore(reading.method.name, reading.layer, encoder.layers, joint, score)
        way = "joint" if joint else "apart"
        left_out.update({f"{what} ({way})": count for what, count in seen.left_out.counts.items()})

    rows = [*scored(False), *scored(True)]
    return sorted(rows, key=lambda row: (row.layer, row.joint)), left_out
