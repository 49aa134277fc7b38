"""Links in derived languages: AER of hidden states, layer by layer, and how good XLM-Align's self-made labels are. The
gold alignment is known from the derivation, and every gold link is sure, so the error rate is 1 - F1."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from analysis.aligners.encoder import Encoder
from analysis.aligners.methods import OT
from analysis.aligners.pair_encoder import LinkReading, PairEncoder
from analysis.measures.aer import score_each
from analysis.records.record import AER, LABELS, LinkCounts, MeasuredModel, Measurement, Record
from derive.errors import BadInput
from derive.language import SOURCE, Bitext
from derive.languages import Languages
from derive.readers.links import GoldLinks
from pretrain.architecture import has_languages
from pretrain.batch import MARKS
from pretrain.run import read_metrics

PAIRS = 500  # sentence pairs that are aligned
REPORTED = {"label precision": "precision", "label recall": "recall", "labelled": "share"}
"""The names of labels' numbers in metrics.jsonl, and in records."""
Words = tuple[list[tuple[int, ...]], list[tuple[int, ...]]]  # the ids of each word of either side of a pair


def pair_links(model: MeasuredModel, languages: Languages, pairs: Sequence[tuple[str, str]]) -> Measurement:
    """AER by optimal transport for every layer of a checkpoint, the embeddings as layer 0, on ordered language pairs.
    Sides are encoded each alone and, as in XLM-Align's pretraining, as one row (joint). The sentence pairs are the
    `PAIRS` that pretraining with this seed would use as parallel text last, so that a model has seen none of them side
    by side unless all sentences were parallel."""
    encoder, records = Encoder(model.checkpoint, device=model.device), list[Record]()
    for first, second in pairs:
        bitext = languages.bitext(first, second)
        if not bitext.gold:
            raise BadInput(f"nobody knows which words of {first} and {second} belong together", languages.folder)
        words: list[Words] = []
        links: list[np.ndarray] = []
        for number in bitext.order(model.seed)[::-1].tolist():
            if len(words) == PAIRS:
                break
            ids = bitext.ids(number)
            if sum(map(len, ids)) <= encoder.length - MARKS:
                words.append(_words(bitext, number, ids))
                links.append(bitext.links(number))
        if not words:
            raise BadInput(
                f"no sentence of {first} fits into a row of {encoder.length:,} ids with its image", languages.folder
            )
        about = {"language": second, "first": "" if first == SOURCE else first}
        numbers = bitext.first.number, bitext.second.number
        types = numbers if has_languages(encoder.token_types) else (0, 0)
        for (layer, joint), score in _scores(encoder, languages, words, links, types).items():
            assert score.aer is not None  # every sentence has words, so there are gold links
            records.append(model.record(AER, "aer", score.aer, score.sure, layer=layer, joint=joint, **about))
    return Measurement(tuple(records))


def _words(bitext: Bitext, number: int, ids: tuple[np.ndarray, np.ndarray]) -> Words:
    """The ids of each word of either side of a pair; linked words have equally many."""
    a, b = bitext.lines[number]
    first, second = bitext.first.corpus.line_pieces(a), bitext.second.corpus.line_pieces(b)
    together = len(first) == len(second)
    if together:
        links = bitext.links(number)
        together = np.array_equal(first[links[:, 0]], second[links[:, 1]])
    if not together:
        source, derived = bitext.names
        raise BadInput(f"line {b + 1:,} of {derived} is no image of line {a + 1:,} of {source}")
    return cut(ids[0], first), cut(ids[1], second)


def cut(ids: np.ndarray, pieces: np.ndarray) -> list[tuple[int, ...]]:
    """A line's ids as a tuple for each word, from the number of ids of each."""
    return [tuple(word.tolist()) for word in np.split(ids, np.cumsum(pieces)[:-1])]


def _scores(
    encoder: Encoder, languages: Languages, words: Sequence[Words], links: Sequence[np.ndarray], types: tuple[int, int]
) -> dict[tuple[int, bool], LinkCounts]:
    """The counts of every layer, sides alone and joint, over sentence pairs as the ids of each word; `types` are the
    token types of the sides."""
    linked = [frozenset((i, j) for i, j in pair.tolist()) for pair in links]
    gold = [GoldLinks(each, each) for each in linked]
    readings = [LinkReading(OT, layer) for layer in range(encoder.layers + 1)]
    around = [languages.specials.start], [languages.specials.end]
    columns = {}
    for joint in (False, True):
        encoded = PairEncoder(encoder, around, types, joint)
        columns[joint] = score_each(gold, encoded.piece_links(words, readings), len(readings))
    return {
        (reading.layer, joint): sum(counts[reading.layer], LinkCounts())
        for reading in readings
        for joint, counts in columns.items()
    }


def self_labels(model: MeasuredModel, metrics: Path, before: int = 0) -> Measurement:
    """Precision and recall of XLM-Align's self-made labels, and the share of ids that have one, from metrics.jsonl.
    Each is a mean over the steps since the row before; an objective without labels has none. `before` are the steps of
    the model that the run started from."""
    records, last = [], 0
    for row in read_metrics(metrics):
        if "loss" not in row:
            continue
        at, steps, last = before + row["step"], row["step"] - last, row["step"]
        records += [
            model.record(LABELS, REPORTED[name], value, steps, step=at)
            for name, value in row.get("reported", {}).items()
            if name in REPORTED
        ]
    return Measurement(tuple(records))
