"""Score word links against gold links (AER); read the quality of XLM-Align's self-labels."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice, starmap
from pathlib import Path
from typing import Any

from calque.analysis.aligners import (
    OT,
    LinkReading,
    Method,
    PairEncoder,
    PairIds,
    encoded_pairs,
    open_encoder,
)
from calque.analysis.records.aer import LinkCounts, score
from calque.analysis.records.record import AER, LABELS, Items, MeasuredModel, Measurement, Record
from calque.derive.errors import BadInput
from calque.derive.languages import SOURCE, Bitext, Languages
from calque.derive.readers.parallel import Gold, GoldPair, Link, Pair, TwoFiles, read_gold
from calque.derive.vocabulary import open_vocabulary
from calque.pretrain.batch import MARKS
from calque.pretrain.model import has_languages, row_length
from calque.pretrain.run import read_metrics

SETS = ("de-en", "en-fr", "ro-en", "en-hi")  # in XLM-Align's Table 2
PAIRS = 500  # number of sentence pairs to align
# Names of statistics on self-labels in metrics.jsonl and in records
REPORTED = {"label precision": "precision", "label recall": "recall", "labelled": "share"}


@dataclass(frozen=True)
class GoldSet:
    """Sentence pairs with their gold links."""

    name: str
    pairs: tuple[Pair, ...]
    gold: Gold


def gold_set(folder: Path, name: str) -> GoldSet:
    """Open a gold set: for de-en, `folder`/de-en contains `test.de`, `test.en` and `alignv2.txt` in WPT
    format. Raises BadInput if the files are malformed or do not match."""
    home, (first, _, second) = folder / name, name.partition("-")
    files = home / f"test.{first}", home / f"test.{second}"
    pairs = tuple(TwoFiles(*files))
    for line, (source, target) in enumerate(pairs, start=1):
        if not (source and target):
            raise BadInput("the line has no words", files[bool(source)], line)
    return GoldSet(name, pairs, read_gold(home / "alignv2.txt", lengths(pairs)))


def lengths(pairs: Iterable[Pair]) -> list[Link]:
    """Return the number of source and target words in each pair."""
    return [(len(source), len(target)) for source, target in pairs]


def gold_links(model: MeasuredModel, gold: GoldSet, methods: Sequence[Method]) -> Measurement:
    """Measure the AER of each method at every layer, with each sentence encoded alone, and its parts by
    pair."""
    encoder, vocabulary = open_encoder(model.checkpoint, model.device), open_vocabulary(model.checkpoint)
    layers = range(encoder.config.num_hidden_layers + 1)
    readings = [LinkReading(method, layer) for layer in layers for method in methods]
    encoders, pairs = [PairEncoder(encoder, vocabulary.specials)], list(encoded_pairs(vocabulary, gold.pairs))
    return _layer_links(model, gold.name, encoders, pairs, gold.gold.pairs, readings, items=True)


def pair_links(model: MeasuredModel, languages: Languages, language: str) -> Measurement:
    """Measure the AER of optimal transport between the source and a derived language at every layer, with the
    sides encoded separately and in a single row, on up to PAIRS random sentence pairs."""
    encoder, bitext = open_encoder(model.checkpoint, model.device), languages.bitext(SOURCE, language)
    if not bitext.gold:
        raise BadInput(f"there are no gold links between {SOURCE} and {language}", languages.folder)
    length, order = row_length(encoder.config), bitext.order(model.seed)[::-1].tolist()
    fitting = (number for number in order if sum(map(len, bitext.ids(number))) <= length - MARKS)
    numbers = list(islice(fitting, PAIRS))
    if not numbers:
        what = f"no pair of {SOURCE} and {language} sentences fits into a row of {length:,} ids"
        raise BadInput(what, languages.folder)
    pairs, gold = zip(*(_gold_pair(bitext, number) for number in numbers), strict=True)
    named = has_languages(encoder.config.type_vocab_size)
    types = (bitext.first.number, bitext.second.number) if named else (0, 0)
    encoders = [PairEncoder(encoder, languages.specials, types, joint) for joint in (False, True)]
    readings = [LinkReading(OT, layer) for layer in range(encoder.config.num_hidden_layers + 1)]
    records = _layer_links(model, "", encoders, pairs, gold, readings).records
    return Measurement(tuple(replace(record, aligner="", links=None) for record in records))


def _gold_pair(bitext: Bitext, number: int) -> tuple[PairIds, GoldPair]:
    (source, target), (a, b) = bitext.ids(number), bitext.lines[number]
    pieces, others = bitext.first.corpus.pieces[a], bitext.second.corpus.pieces[b]
    links = frozenset((i, j) for i, j in bitext.links(number).tolist())
    return ((source, pieces), (target, others)), GoldPair(links, links)


def _layer_links(
    model: MeasuredModel,
    gold_set: str,
    encoders: Sequence[PairEncoder],
    pairs: Sequence[PairIds],
    gold: Sequence[GoldPair],
    readings: Sequence[LinkReading],
    items: bool = False,
) -> Measurement:
    records, exclusions = list[Record](), Counter[str]()
    for encoder in encoders:
        columns = zip(*encoder.links(pairs, readings), strict=True)
        for reading, links in zip(readings, columns, strict=True):
            counts = list(starmap(score, zip(gold, links, strict=True)))
            hits = [pair.found_sure + pair.found_possible for pair in counts]
            parts = Items.over(hits, [pair.predicted + pair.sure for pair in counts]) if items else None
            total, method = sum(counts, LinkCounts()), reading.method.name
            if total.aer is None:
                raise BadInput(f"{gold_set} has no sure or predicted links, so the error rate is undefined")
            about: dict[str, Any] = {"layer": reading.layer, "joint": encoder.joint, "items": parts}
            about |= {"gold_set": gold_set, "aligner": method, "links": total}
            records.append(model.record(AER, "aer", total.aer, total.sure, **about))
        suffix = f" ({'joint' if encoder.joint else 'apart'})" if len(encoders) > 1 else ""
        for reason, count in encoder.left_out.items():
            exclusions[f"{reason}{suffix}"] += count
    return Measurement(tuple(sorted(records, key=lambda r: (r.layer or 0, r.joint))), exclusions)


def self_labels(model: MeasuredModel, metrics: Path, before: int = 0) -> Measurement:
    """Read the quality of self-labels from metrics.jsonl, whose rows are means since the previous row."""
    records, last = [], 0
    for row in (row for row in read_metrics(metrics) if "loss" in row):
        steps, last = row["step"] - last, row["step"]
        for name, value in row.get("reported", {}).items():
            if name in REPORTED:
                records.append(model.record(LABELS, REPORTED[name], value, steps, step=before + last))
    return Measurement(tuple(records))
