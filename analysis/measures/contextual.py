"""Contextual alignment: AER between the hidden states of a sentence and of its derived sentence, layer by layer.

The gold alignment is known, for it was derived, and every gold link is sure, so the error rate is 1 - F1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

from analysis.aligners.encoder import Encoder
from analysis.aligners.methods import OT
from analysis.aligners.pair_encoder import PairEncoder, Reading, Side
from analysis.aligners.subwords import Pieces
from analysis.measures.aer import score_each
from analysis.measures.gold import DerivedPair, cut, derived_pairs
from analysis.records.record import AER, Record
from derive.errors import BadInput
from derive.languages import Languages
from derive.links.aligner import Links
from derive.readers.gold import GoldLinks
from pretrain.architecture import has_languages
from pretrain.pairs import MARKS

PAIRS = 500
"""Sentence pairs that are aligned."""
Words = tuple[list[tuple[int, ...]], list[tuple[int, ...]]]
"""The ids of each word of either side of a pair."""


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
    links = [pair.links for pair in pairs]
    about = Record(run, AER, "aer", 0.0, 0, language, step=step)
    return _scored(encoder, languages, [pair.words for pair in pairs], links, (0, 1), about)


def pair_records(
    checkpoint: Path,
    languages: Languages,
    pair: tuple[str, str],
    run: str,
    seed: int,
    step: int,
    device: str = "cpu",
) -> list[Record]:
    """The same of an ordered pair of a model's languages, whose alignment their derivations know.

    Raises:
        BadInput: the checkpoint is missing or damaged, no pair fits into a row, or the alignment is not known.
    """
    encoder, bitext = Encoder(checkpoint, device=device), languages.bitext(*pair)
    if not bitext.gold:
        raise BadInput(f"nobody knows which words of {pair[0]} and {pair[1]} belong together", languages.folder)
    words: list[Words] = []
    links: list[Links] = []
    for number in bitext.order(seed)[::-1].tolist():
        if len(words) == PAIRS:
            break
        ids, lines = bitext.ids(number), bitext.lines[number]
        if sum(map(len, ids)) <= encoder.length - MARKS:
            corpora = bitext.first.corpus, bitext.second.corpus
            first, second = (corpus.line_pieces(line) for corpus, line in zip(corpora, lines, strict=True))
            words.append((cut(ids[0], first), cut(ids[1], second)))
            links.append([(int(i), int(j)) for i, j in bitext.links(number)])
    if not words:
        raise BadInput(
            f"no sentence of {pair[0]} fits into a row of {encoder.length:,} ids with its image", languages.folder
        )
    behind = "" if pair[0] == languages.languages[0].name else pair[0]
    about = Record(run, AER, "aer", 0.0, 0, pair[1], step=step, first=behind)
    return _scored(encoder, languages, words, links, (bitext.first.number, bitext.second.number), about)


def _scored(
    encoder: Encoder,
    languages: Languages,
    words: Sequence[Words],
    links: Sequence[Links],
    numbers: tuple[int, int],
    about: Record,
) -> list[Record]:
    """AER of every layer, sides apart and joint, over sentence pairs as the ids of each word with their gold links.

    `numbers` are the token types of the sides, in models that tell languages apart; records are as `about` otherwise.
    """
    gold = [GoldLinks(frozenset(pair), frozenset(pair)) for pair in links]
    apart = has_languages(encoder.token_types)
    sides = Side(_no_words, numbers[0] if apart else 0), Side(_no_words, numbers[1] if apart else 0)
    readings = [Reading(OT, layer) for layer in range(encoder.layers + 1)]
    around = [languages.specials.start], [languages.specials.end]
    scores = []
    for joint in (False, True):
        seen = PairEncoder(encoder, *sides, around, joint)
        scores.append(score_each(gold, seen.piece_links(words, readings), len(readings)))
    records = []
    for layer, both in enumerate(zip(*scores, strict=True)):
        for joint, score in zip((False, True), both, strict=True):
            assert score.aer is not None  # every sentence has words, so there are gold links
            records.append(replace(about, value=score.aer, count=score.sure, layer=layer, joint=joint))
    return records


def _unseen(languages: Languages, seed: int, room: int) -> Iterator[DerivedPair]:
    """Sentence pairs of `room` ids at most, those first that would be parallel last."""
    order = languages.bitexts[0].order(seed)[::-1]
    fitting = derived_pairs(languages.folder, languages.others[0], order.tolist())
    return (pair for pair in fitting if len(pair.source) + len(pair.derived) <= room)


def _no_words(words: Sequence[str]) -> Pieces:
    raise TypeError("these pairs are ids already")
