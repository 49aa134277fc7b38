"""AER of every layer of an encoder on a gold set, with each sentence pair's part in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from analysis.aligners.encoder import Encoder
from analysis.aligners.methods import Method
from analysis.aligners.pair_encoder import PairEncoder, Reading, Side
from analysis.aligners.subwords import SubWords
from analysis.measures.aer import score
from analysis.measures.gold import GoldSet
from analysis.records.items import Items
from analysis.records.record import LinkCounts


@dataclass(frozen=True)
class LayerScore:
    """What links read by `method` from a layer are worth; `items` are |A and S| + |A and P| of |A| + |S|, by pair."""

    method: str
    layer: int
    score: LinkCounts
    items: Items


def layer_scores(
    folder: Path, gold: GoldSet, methods: Sequence[Method], device: str = "cpu"
) -> tuple[list[LayerScore], Counter[str]]:
    """Every layer of a model by every method, each sentence encoded alone, and what was left out.

    The model sees each sentence once.

    Raises:
        BadInput: there is no model or no tokenizer that can be used.
    """
    encoder, pieces = Encoder(folder, device=device), SubWords(folder)
    readings = [Reading(method, layer) for method in methods for layer in range(encoder.layers + 1)]
    seen = PairEncoder(encoder, Side(pieces), Side(pieces), (pieces.before, pieces.after), length=pieces.longest)
    columns: list[list[LinkCounts]] = [[] for _ in readings]
    for known, row in zip(gold.gold.pairs, seen.links(gold.pairs, readings), strict=True):
        for column, links in zip(columns, row, strict=True):
            column.append(score(known, links))
    made = []
    for reading, counts in zip(readings, columns, strict=True):
        right = (one.found_sure + one.found_possible for one in counts)
        items = Items.over(right, (one.predicted + one.sure for one in counts))
        made.append(LayerScore(reading.method.name, reading.layer, sum(counts, LinkCounts()), items))
    return made, seen.left_out.counts
