"""AER by layer is that of an aligner a layer, and sentence pairs add up to it."""

from __future__ import annotations

from pathlib import Path

from analysis.aligners.methods import METHODS
from analysis.aligners.similarity import EncoderAligner
from analysis.measures.aer import score_all
from analysis.measures.gold import GoldSet
from analysis.measures.link_layers import layer_scores
from derive.links.aligner import Pair
from derive.readers.links import Gold
from tests.analysis.aligners.conftest import bert, roberta, sentence_pairs
from tests.analysis.measures.test_word_alignment import gold

__all__ = ["bert", "gold", "roberta", "sentence_pairs"]  # fixtures


def test_every_layer_has_the_links_of_an_aligner_and_its_items_are_its_rate(
    roberta: Path, gold: Gold, sentence_pairs: list[Pair]
) -> None:
    methods = [method for method in METHODS if method.name in ("ot", "argmax")]
    scores, left_out = layer_scores(roberta, GoldSet("a-b", tuple(sentence_pairs), gold), methods)
    assert [(one.method, one.layer) for one in scores] == [
        (method.name, layer) for method in methods for layer in range(4)
    ]
    by_name = {method.name: method for method in methods}
    for one in scores:
        aligner = EncoderAligner.open(roberta, by_name[one.method], one.layer)
        assert one.score == score_all(gold.pairs, aligner.align(sentence_pairs))
        hits, of = one.items.numbers
        assert one.score.aer == 1 - sum(hits) / sum(of) and len(hits) == len(sentence_pairs)
    assert not left_out


def test_what_got_no_links_is_counted(bert: Path, gold: Gold) -> None:
    pairs: tuple[Pair, ...] = ((("the", "\u200b"), ("the",)),)
    one = Gold(gold.pairs[:1], (), gold.counts)
    _, left_out = layer_scores(bert, GoldSet("a-b", pairs, one), METHODS[:1])
    assert left_out == {"words that the tokenizer drops": 1}
