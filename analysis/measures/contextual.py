"""Contextual alignment: AER between the hidden states of a sentence and of its derived sentence, layer by layer.

The gold alignment is known, for it was derived, and every gold link is sure, so the error rate is 1 - F1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from analysis.aligners.encoder import Encoder
from analysis.aligners.methods import OT
from analysis.aligners.pair_encoder import PairEncoder, Reading, Side
from analysis.aligners.subwords import Pieces
from analysis.measures.aer import score_each
from analysis.measures.gold import DerivedPair, derived_pairs
from analysis.records.record import AER, Record
from derive.errors import BadInput
from derive.languages import Languages
from derive.readers.gold import GoldLinks
from pretrain.architecture import has_languages
from pretrain.bitext import MARKS

PAIRS = 500
"""Sentence pairs that are aligned."""


def contextual_records(
    checkpoint: Path, data: Path, run: str, language: str, seed: int, step: int, device: str = "cpu"
) -> list[Record]:
    """AER by optimal transport for every layer of a checkpoint, the embeddings as layer 0, each over gold links.

    Sides are encoded each alone and, as in XLM-Align's pretraining, as one row (joint). The pairs are the `PAIRS` that
    pretraining with this seed would show as parallel last, so that a model has seen none of them side by side unless
    all sentences were parallel. `run` and `step` are those of the checkpoint.

    Raises:
        BadInput: the checkpoint or the data are missing or damaged, or no pair fits into a row.
    """
    encoder = Encoder(checkpoint, device=device)
    languages = Languages.open(data, [language])
    pairs = list(islice(_unseen(languages, seed, encoder.length - MARKS), PAIRS))
    if not pairs:
        raise BadInput(f"no sentence fits into a row of {encoder.length:,} ids with its image", data / language)
    gold = [GoldLinks(frozenset(pair.links), frozenset(pair.links)) for pair in pairs]
    sides = Side(_no_words), Side(_no_words, 1 if has_languages(encoder.token_types) else 0)
    readings = [Reading(OT, layer) for layer in range(encoder.layers + 1)]
    around = [languages.specials.start], [languages.specials.end]
    scores = []
    for joint in (False, True):
        seen = PairEncoder(encoder, *sides, around, joint)
        scores.append(score_each(gold, seen.piece_links((pair.words for pair in pairs), readings), len(readings)))
    records = []
    for layer, both in enumerate(zip(*scores, strict=True)):
        for joint, score in zip((False, True), both, strict=True):
            assert score.aer is not None  # every sentence has words, so there are gold links
            records.append(
                Record(run, AER, "aer", score.aer, score.sure, language, layer=layer, joint=joint, step=step)
            )
    return records


def _unseen(languages: Languages, seed: int, room: int) -> Iterator[DerivedPair]:
    """Sentence pairs of `room` ids at most, those first that would be parallel last."""
    order = languages.bitexts[0].order(seed)[::-1]
    fitting = derived_pairs(languages.folder, languages.others[0], order.tolist())
    return (pair for pair in fitting if len(pair.source) + len(pair.derived) <= room)


def _no_words(words: Sequence[str]) -> Pieces:
    raise TypeError("these pairs are ids already")
