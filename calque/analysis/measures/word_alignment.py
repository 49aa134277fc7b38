"""Score word links against gold links (AER); read the quality of XLM-Align's self-labels."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, starmap
from pathlib import Path

from calque.analysis.aligners import (
    METHODS,
    OT,
    LinkReading,
    Method,
    PairEncoder,
    PairIds,
    encoded_pairs,
    open_encoder,
)
from calque.analysis.records.aer import LinkCounts, score, score_all
from calque.analysis.records.record import AER, LABELS, Items, MeasuredModel, Measurement, Record
from calque.derive.errors import BadInput
from calque.derive.languages import SOURCE, Bitext, Languages
from calque.derive.readers.parallel import Gold, GoldPair, Link, Links, Pair, TwoFiles, read_gold
from calque.derive.vocabulary import open_vocabulary
from calque.derive.word_links import SYMMETRISATIONS, FastAlign
from calque.pretrain.batch import MARKS
from calque.pretrain.model import has_languages, main_layer, row_length
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


def link_record(
    model: MeasuredModel, gold_set: str, aligner: str, score: LinkCounts, **fields: object
) -> Record:
    """Return a record of an error rate. Raises BadInput if it is undefined."""
    if score.aer is None:
        raise BadInput(f"{gold_set} has no sure or predicted links, so the error rate is undefined")
    about = {"gold_set": gold_set, "aligner": aligner, "links": score, **fields}
    return model.record(AER, "aer", score.aer, score.sure, **about)


def diagonal_score(pairs: Sequence[Pair], gold: Gold) -> LinkCounts:
    """Score links from each target word to the source word at the same relative position."""
    links = ([((2 * j + 1) * n // (2 * m), j) for j in range(m)] for n, m in lengths(pairs))
    return score_all(gold.pairs, links)


def fast_align_scores(
    pairs: Sequence[Pair], gold: Gold, corpus: Sequence[Pair]
) -> tuple[dict[str, LinkCounts], Counter[str]]:
    """Train fast_align; return its scores by direction and symmetrisation, and the counts of exclusions."""
    links, exclusions = dict[str, list[Links]](), Counter[str]()
    for direction in ("forward", "reverse"):
        model = FastAlign.train(corpus, reverse=direction == "reverse")
        links[direction] = list(model.align(pairs))
        exclusions += model.left_out + model.unlearnt
    both = list(zip(*links.values(), strict=True))
    links |= {name: list(starmap(method, both)) for name, method in SYMMETRISATIONS.items()}
    return {name: score_all(gold.pairs, predicted) for name, predicted in links.items()}, exclusions


def alone_and_joint(
    model: MeasuredModel,
    gold: GoldSet,
    types: Mapping[bool, int],
    everywhere: Sequence[Method],
    at_main: Sequence[Method] = METHODS,
    items: bool = False,
) -> Measurement:
    """Measure the AER of the methods `at_main` at the main layer, and of `everywhere` at every layer. `types`
    are the target's token types, by whether sides share a row. `items` adds each pair's part."""
    encoder = open_encoder(model.checkpoint, model.device)
    vocabulary, readings = open_vocabulary(model.checkpoint), list[LinkReading]()
    layers = encoder.config.num_hidden_layers
    for layer in range(layers + 1):
        methods = at_main if layer == main_layer(layers) else ()
        readings += [LinkReading(method, layer) for method in dict.fromkeys((*methods, *everywhere))]
    specials = vocabulary.specials
    encoders = [PairEncoder(encoder, specials, (0, target), joint) for joint, target in types.items()]
    pairs = list(encoded_pairs(vocabulary, gold.pairs))
    return _layer_links(model, gold.name, encoders, pairs, gold.gold.pairs, readings, items)


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
            about = {"layer": reading.layer, "joint": encoder.joint, "items": parts}
            total = sum(counts, LinkCounts())
            records.append(link_record(model, gold_set, reading.method.name, total, **about))
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
