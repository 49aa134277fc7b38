"""Measure the AER of word aligners on gold sets and between derived languages, and the quality of XLM-Align's
self-labels."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np

from calque.analysis.aligners.encoder import Encoder, PairIds, SubWords
from calque.analysis.aligners.methods import METHODS, OT, Method
from calque.analysis.aligners.pair_encoder import LinkReading, PairEncoder
from calque.analysis.measures.aer import GoldSet, score_all, score_each
from calque.analysis.records.record import AER, LABELS, Items, LinkCounts, MeasuredModel, Measurement, Record
from calque.derive.errors import BadInput
from calque.derive.language import SOURCE, Bitext
from calque.derive.languages import Languages
from calque.derive.links.aligner import Links, Pair
from calque.derive.links.fast_align import FastAlign
from calque.derive.links.symmetrise import SYMMETRISATIONS
from calque.derive.ragged import Ragged
from calque.derive.readers.links import Gold, GoldPair
from calque.pretrain.architecture import has_languages, main_layer
from calque.pretrain.batch import MARKS
from calque.pretrain.run import read_metrics

PAIRS = 500  # number of sentence pairs to align
# Names of statistics on self-labels in metrics.jsonl and in records
REPORTED = {"label precision": "precision", "label recall": "recall", "labelled": "share"}


@dataclass(frozen=True)
class EncoderScore:
    """A method's link counts for each sentence pair at a layer. `joint` means that both sides were encoded in
    a single row."""

    method: str
    layer: int
    joint: bool
    counts: Sequence[LinkCounts]

    @property
    def total(self) -> LinkCounts:
        return sum(self.counts, LinkCounts())

    @property
    def items(self) -> Items:
        hits = (counts.found_sure + counts.found_possible for counts in self.counts)
        return Items.over(hits, (counts.predicted + counts.sure for counts in self.counts))


def link_record(
    model: MeasuredModel, gold_set: str, aligner: str, score: LinkCounts, **fields: object
) -> Record:
    """Return a record of an aligner's error rate. Raises BadInput if the rate is undefined."""
    if score.aer is None:
        raise BadInput(f"{gold_set} has no sure or predicted links, so the error rate is undefined")
    about = {"gold_set": gold_set, "aligner": aligner, "links": score, **fields}
    return model.record(AER, "aer", score.aer, score.sure, **about)


def diagonal_score(pairs: Sequence[Pair], gold: Gold) -> LinkCounts:
    """Score the diagonal alignment, which links each target word to the source word at the same relative
    position."""
    sizes = ((len(source), len(target)) for source, target in pairs)
    return score_all(gold.pairs, ([((2 * j + 1) * n // (2 * m), j) for j in range(m)] for n, m in sizes))


def fast_align_scores(
    pairs: Sequence[Pair], gold: Gold, corpus: Sequence[Pair]
) -> tuple[dict[str, LinkCounts], Counter[str]]:
    """Train fast_align on `corpus`, and return its scores by direction and symmetrisation, with counts of
    exclusions."""
    ways, exclusions = dict[str, list[Links]](), Counter[str]()
    for way in ("forward", "reverse"):
        model = FastAlign.train(corpus, reverse=way == "reverse")
        ways[way] = list(model.align(pairs))
        exclusions += model.left_out.counts + model.unlearnt.counts
    both = list(zip(*ways.values(), strict=True))
    ways |= {name: [method(*links) for links in both] for name, method in SYMMETRISATIONS.items()}
    return {way: score_all(gold.pairs, links) for way, links in ways.items()}, exclusions


def encoder_scores(
    encoders: Sequence[PairEncoder],
    pairs: Sequence[PairIds],
    gold: Sequence[GoldPair],
    readings: Sequence[LinkReading],
) -> tuple[list[EncoderScore], Counter[str]]:
    """Score every reading of each encoder, and count exclusions."""
    scores, exclusions = list[EncoderScore](), Counter[str]()
    for encoder in encoders:
        columns = score_each(gold, encoder.links(pairs, readings), len(readings))
        for reading, counts in zip(readings, columns, strict=True):
            scores.append(EncoderScore(reading.method.name, reading.layer, encoder.joint, counts))
        way = f" ({'joint' if encoder.joint else 'apart'})" if len(encoders) > 1 else ""
        for reason, count in encoder.left_out.counts.items():
            exclusions[f"{reason}{way}"] += count
    return scores, exclusions


def _by_layer(scores: Sequence[EncoderScore]) -> list[EncoderScore]:
    return sorted(scores, key=lambda score: (score.layer, score.joint))


def alone_and_joint(
    folder: Path,
    pairs: Sequence[Pair],
    gold: Gold,
    types: Mapping[bool, int],
    device: str,
    everywhere: Sequence[Method],
) -> tuple[list[EncoderScore], Counter[str]]:
    """Score METHODS at a model's main layer, and the methods in `everywhere` at every layer. `types` gives
    the target's token type, by whether both sides are encoded in a single row."""
    encoder, pieces = Encoder(folder, device=device), SubWords(folder)
    readings = []
    for layer in range(encoder.layers + 1):
        methods = (*METHODS, *everywhere) if layer == main_layer(encoder.layers) else everywhere
        readings += [LinkReading(method, layer) for method in dict.fromkeys(methods)]
    encoders = [PairEncoder.of(encoder, pieces, (0, of_target), joint) for joint, of_target in types.items()]
    scores, exclusions = encoder_scores(encoders, list(pieces.of_pairs(pairs)), gold.pairs, readings)
    return _by_layer(scores), exclusions


def gold_links(model: MeasuredModel, gold: GoldSet, methods: Sequence[Method]) -> Measurement:
    """Measure the AER on a gold set at every layer, encoding sentences separately. Each sentence pair is an
    item."""
    encoder, pieces = Encoder(model.checkpoint, device=model.device), SubWords(model.checkpoint)
    readings = [LinkReading(method, layer) for method in methods for layer in range(encoder.layers + 1)]
    pairs = list(pieces.of_pairs(gold.pairs))
    scores, exclusions = encoder_scores([PairEncoder.of(encoder, pieces)], pairs, gold.gold.pairs, readings)
    records = (link_record(model, gold.name, s.method, s.total, layer=s.layer, items=s.items) for s in scores)
    return Measurement(tuple(records), exclusions)


def pair_links(model: MeasuredModel, languages: Languages, language: str) -> Measurement:
    """Measure the AER of optimal transport between the source and a derived language at every layer, with the
    two sides encoded separately and in a single row."""
    encoder, bitext = Encoder(model.checkpoint, device=model.device), languages.bitext(SOURCE, language)
    if not bitext.gold:
        raise BadInput(f"there are no gold links between {SOURCE} and {language}", languages.folder)
    words, gold = _gold_pairs(bitext, encoder.length - MARKS, model.seed)
    if not words:
        room = f"a row of {encoder.length:,} ids"
        raise BadInput(f"no pair of {SOURCE} and {language} sentences fits into {room}", languages.folder)
    types = (bitext.first.number, bitext.second.number) if has_languages(encoder.token_types) else (0, 0)
    around = [languages.specials.start], [languages.specials.end]
    encoders = [PairEncoder(encoder, around, types, joint) for joint in (False, True)]
    readings, records = [LinkReading(OT, layer) for layer in range(encoder.layers + 1)], list[Record]()
    for score in _by_layer(encoder_scores(encoders, words, gold, readings)[0]):
        total = score.total
        assert total.aer is not None  # gold links exist, as every sentence contains words
        about = {"language": language, "layer": score.layer, "joint": score.joint}
        records.append(model.record(AER, "aer", total.aer, total.sure, **about))
    return Measurement(tuple(records))


def _gold_pairs(bitext: Bitext, room: int, seed: int) -> tuple[list[PairIds], list[GoldPair]]:
    """Return up to PAIRS random sentence pairs that fit into a row with `room` ids, and their links."""
    words, gold, order = list[PairIds](), list[GoldPair](), bitext.order(seed)[::-1].tolist()
    fitting = (number for number in order if sum(map(len, bitext.ids(number))) <= room)
    for number in islice(fitting, PAIRS):
        words.append(_words(bitext, number))
        links = frozenset((i, j) for i, j in bitext.links(number).tolist())
        gold.append(GoldPair(links, links))
    return words, gold


def _words(bitext: Bitext, number: int) -> PairIds:
    (a, b), links, ids = bitext.lines[number], bitext.links(number), bitext.ids(number)
    first, second = bitext.first.corpus.pieces[a], bitext.second.corpus.pieces[b]
    same = len(first) == len(second) and np.array_equal(first[links[:, 0]], second[links[:, 1]])
    if same or bitext.rewritten:
        return cut(ids[0], first), cut(ids[1], second)
    source, derived = bitext.names
    raise BadInput(f"line {b + 1:,} in {derived} is not derived from line {a + 1:,} in {source}")


def cut(ids: np.ndarray, pieces: np.ndarray) -> list[tuple[int, ...]]:
    """Split a line's ids into one tuple per word; `pieces` is the number of ids in each word."""
    return [tuple(word.tolist()) for word in Ragged.of(ids, pieces)]


def self_labels(model: MeasuredModel, metrics: Path, before: int = 0) -> Measurement:
    """Read the precision, recall and coverage of XLM-Align's self-labels from metrics.jsonl. Each number is a
    mean over the steps since the previous row."""
    records, last = [], 0
    for row in (row for row in read_metrics(metrics) if "loss" in row):
        steps, last = row["step"] - last, row["step"]
        for name, value in row.get("reported", {}).items():
            if name in REPORTED:
                records.append(model.record(LABELS, REPORTED[name], value, steps, step=before + last))
    return Measurement(tuple(records))
