"""AER of word aligners on a gold set: the diagonal, fast_align, and encoders, layer by layer."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from analysis.aligners.encoder import Encoder, main_layer
from analysis.aligners.methods import METHODS, Method
from analysis.aligners.pair_encoder import LinkReading, PairEncoder
from analysis.aligners.subwords import SubWords
from analysis.measures.aer import GoldSet, score_all, score_each
from analysis.records.record import AER, Items, LinkCounts, MeasuredModel, Measurement, Record
from derive.errors import BadInput
from derive.links.aligner import Links, Pair
from derive.links.fast_align import FastAlign
from derive.links.symmetrise import SYMMETRISATIONS
from derive.readers.links import Gold


@dataclass(frozen=True)
class EncoderScore:
    """The counts, pair by pair, of the links that `method` reads from a layer; `joint` as in `PairEncoder`."""

    method: str
    layer: int
    joint: bool
    counts: Sequence[LinkCounts]

    @property
    def total(self) -> LinkCounts:
        return sum(self.counts, LinkCounts())

    @property
    def items(self) -> Items:
        """|A and S| + |A and P| of |A| + |S|, by pair."""
        hits = (one.found_sure + one.found_possible for one in self.counts)
        return Items.over(hits, (one.predicted + one.sure for one in self.counts))


def link_record(model: MeasuredModel, gold_set: str, aligner: str, score: LinkCounts, **fields: object) -> Record:
    """The error rate of an aligner."""
    if score.aer is None:
        raise BadInput(f"no sure link in the gold set {gold_set} and none predicted: there is no error rate")
    about = {"gold_set": gold_set, "aligner": aligner, "links": score, **fields}
    return model.record(AER, "aer", score.aer, score.sure, **about)


def diagonal_score(pairs: Sequence[Pair], gold: Gold) -> LinkCounts:
    """Each target word linked to the source word in the same relative place of its sentence."""
    sizes = ((len(source), len(target)) for source, target in pairs)
    return score_all(gold.pairs, ([((2 * j + 1) * n // (2 * m), j) for j in range(m)] for n, m in sizes))


def fast_align_scores(
    pairs: Sequence[Pair], gold: Gold, corpus: Sequence[Pair]
) -> tuple[dict[str, LinkCounts], Counter[str]]:
    """fast_align trained on `corpus`: scores by direction and by symmetrisation, and exclusions."""
    models = [FastAlign.train(corpus, reverse=turned) for turned in (False, True)]
    ways: dict[str, list[Links]] = {
        way: list(model.align(pairs)) for way, model in zip(("forward", "reverse"), models, strict=True)
    }
    both = list(zip(*ways.values(), strict=True))
    ways |= {name: [method(*links) for links in both] for name, method in SYMMETRISATIONS.items()}
    exclusions = Counter[str]()
    for model in models:
        exclusions += model.left_out.counts + model.unlearnt.counts
    return {way: score_all(gold.pairs, links) for way, links in ways.items()}, exclusions


def encoder_scores(
    encoder: Encoder,
    pieces: SubWords,
    pairs: Sequence[Pair],
    gold: Gold,
    readings: Sequence[LinkReading],
    types: Mapping[bool, int],
) -> tuple[list[EncoderScore], dict[bool, Counter[str]]]:
    """Every reading of an encoder, and exclusions, each side alone (False) or both in one row (True). `types` are the
    target's token types in either case. The model sees each pair once in either."""
    scores, exclusions = list[EncoderScore](), dict[bool, Counter[str]]()
    for joint, token_type in types.items():
        encoded = PairEncoder.of_words(encoder, pieces, token_type, joint)
        columns = score_each(gold.pairs, encoded.links(pairs, readings), len(readings))
        for reading, counts in zip(readings, columns, strict=True):
            scores.append(EncoderScore(reading.method.name, reading.layer, joint, counts))
        exclusions[joint] = encoded.left_out.counts
    return scores, exclusions


def alone_and_joint(
    folder: Path,
    pairs: Sequence[Pair],
    gold: Gold,
    types: Mapping[bool, int],
    device: str,
    everywhere: Sequence[Method],
) -> tuple[list[EncoderScore], Counter[str]]:
    """Every layer of a model by the methods `everywhere`, the main one by METHODS too; each side alone, and both in one
    row. `types` are the target's token types in either case."""
    encoder, pieces = Encoder(folder, device=device), SubWords(folder)
    readings = []
    for layer in range(encoder.layers + 1):
        methods = (*METHODS, *everywhere) if layer == main_layer(encoder.layers) else everywhere
        readings += [LinkReading(method, layer) for method in dict.fromkeys(methods)]
    scores, by_way = encoder_scores(encoder, pieces, pairs, gold, readings, types)
    exclusions = Counter[str]()
    for joint, counts in by_way.items():
        exclusions.update({f"{reason} ({'joint' if joint else 'apart'})": n for reason, n in counts.items()})
    return sorted(scores, key=lambda score: (score.layer, score.joint)), exclusions


def gold_links(model: MeasuredModel, gold: GoldSet, methods: Sequence[Method]) -> Measurement:
    """AER of every layer on a gold set by some methods, each sentence encoded alone, with items by sentence pair."""
    encoder, pieces = Encoder(model.checkpoint, device=model.device), SubWords(model.checkpoint)
    readings = [LinkReading(method, layer) for method in methods for layer in range(encoder.layers + 1)]
    scores, exclusions = encoder_scores(encoder, pieces, gold.pairs, gold.gold, readings, {False: 0})
    records = (
        link_record(model, gold.name, score.method, score.total, layer=score.layer, items=score.items)
        for score in scores
    )
    return Measurement(tuple(records), exclusions[False])
