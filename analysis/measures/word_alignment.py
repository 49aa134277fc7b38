"""Measure the AER of word aligners on gold sets and between derived languages, and the quality of XLM-Align's
self-labels."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product
from pathlib import Path

import numpy as np

from calque.analysis.aligners.encoder import Encoder, SubWords
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
Words = tuple[list[tuple[int, ...]], list[tuple[int, ...]]]  # the ids of each word, for source and target


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
    encoder: Encoder,
    pieces: SubWords,
    pairs: Sequence[Pair],
    gold: Gold,
    readings: Sequence[LinkReading],
    types: Mapping[bool, int],
) -> tuple[list[EncoderScore], Counter[str]]:
    """Score every reading of an encoder, and count exclusions. `types` gives the target's token type, by
    whether both sides are encoded in a single row."""
    scores, exclusions = list[EncoderScore](), Counter[str]()
    for joint, token_type in types.items():
        encoded = PairEncoder(encoder, (pieces.before, pieces.after), (0, token_type), joint, pieces)
        columns = score_each(gold.pairs, encoded.links(pairs, readings), len(readings))
        for reading, counts in zip(readings, columns, strict=True):
            scores.append(EncoderScore(reading.method.name, reading.layer, joint, counts))
        for reason, count in encoded.left_out.counts.items():
            exclusions[f"{reason} ({'joint' if joint else 'apart'})" if len(types) > 1 else reason] += count
    return scores, exclusions


def alone_and_joint(
    folder: Path,
    pairs: Sequence[Pair],
    gold: Gold,
    types: Mapping[bool, int],
    device: str,
    everywhere: Sequence[Method],
) -> tuple[list[EncoderScore], Counter[str]]:
    """Score METHODS at a model's main layer, and the methods in `everywhere` at every layer."""
    encoder, pieces = Encoder(folder, device=device), SubWords(folder)
    readings = []
    for layer in range(encoder.layers + 1):
        methods = (*METHODS, *everywhere) if layer == main_layer(encoder.layers) else everywhere
        readings += [LinkReading(method, layer) for method in dict.fromkeys(methods)]
    scores, exclusions = encoder_scores(encoder, pieces, pairs, gold, readings, types)
    return sorted(scores, key=lambda score: (score.layer, score.joint)), exclusions


def gold_links(model: MeasuredModel, gold: GoldSet, methods: Sequence[Method]) -> Measurement:
    """Measure the AER on a gold set at every layer, encoding sentences separately. Each sentence pair is an
    item."""
    encoder, pieces = Encoder(model.checkpoint, device=model.device), SubWords(model.checkpoint)
    readings = [LinkReading(method, layer) for method in methods for layer in range(encoder.layers + 1)]
    scores, exclusions = encoder_scores(encoder, pieces, gold.pairs, gold.gold, readings, {False: 0})
    records = (link_record(model, gold.name, s.method, s.total, layer=s.layer, items=s.items) for s in scores)
    return Measurement(tuple(records), exclusions)


def pair_links(model: MeasuredModel, languages: Languages, language: str) -> Measurement:
    """Measure the AER of optimal transport between the source and a derived language at every layer, with the
    two sides encoded separately and in a single row."""
    encoder, records = Encoder(model.checkpoint, device=model.device), list[Record]()
    around = [languages.specials.start], [languages.specials.end]
    bitext = languages.bitext(SOURCE, language)
    if not bitext.gold:
        raise BadInput(f"there are no gold links between {SOURCE} and {language}", languages.folder)
    words, gold, order = list[Words](), list[GoldPair](), bitext.order(model.seed)[::-1].tolist()
    fitting = (number for number in order if sum(map(len, bitext.ids(number))) <= encoder.length - MARKS)
    for number in islice(fitting, PAIRS):
        words.append(_words(bitext, number))
        links = frozenset((i, j) for i, j in bitext.links(number).tolist())
        gold.append(GoldPair(links, links))
    if not words:
        room = f"a row of {encoder.length:,} ids"
        raise BadInput(f"no pair of {SOURCE} and {language} sentences fits into {room}", languages.folder)
    types = (bitext.first.number, bitext.second.number) if has_languages(encoder.token_types) else (0, 0)
    readings, columns = [LinkReading(OT, layer) for layer in range(encoder.layers + 1)], {}
    for joint in (False, True):
        encoded = PairEncoder(encoder, around, types, joint)
        columns[joint] = score_each(gold, encoded.piece_links(words, readings), len(readings))
    for layer, joint in product(range(encoder.layers + 1), columns):
        score = sum(columns[joint][layer], LinkCounts())
        assert score.aer is not None  # gold links exist, as every sentence contains words
        about = {"language": language, "layer": layer, "joint": joint}
        records.append(model.record(AER, "aer", score.aer, score.sure, **about))
    return Measurement(tuple(records))


def _words(bitext: Bitext, number: int) -> Words:
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
