"""The plan of a run's text: estimates that agree with what would be written, and tables that show all of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from derive.corpus import CorpusWriter, Shard
from experiments.planning.text import LINES, PACKED, WORDS, TextPlan, TextSizes, describe_text
from pretrain.mixture import Mixture, Phase

SIZES = TextSizes({"en": 4.27e9, "ru": 7.22e8, "he": 6.5e7}, {"en-ru": 11.49e6}, "a test")
PLAN = TextPlan(SIZES, 1e9, Mixture(exponent=0.7, bitext_exponent=0.7, pairs=0.25))


def test_ids_follow_from_bytes_and_pairs_have_as_many_on_both_sides() -> None:
    english, russian, hebrew = PLAN.texts
    assert (english.ids, russian.ids) == pytest.approx((1e9, 1e8))
    assert hebrew.ids == pytest.approx(1e7, rel=0.01)
    assert PLAN.bitexts[0].ids == pytest.approx(2e6)  # a million of 4.27 bytes, and one of 7.22


def test_text_and_bitexts_share_what_is_drawn() -> None:
    assert sum(text.drawn for text in PLAN.texts) == pytest.approx(0.75e9)
    assert sum(bitext.drawn for bitext in PLAN.bitexts) == pytest.approx(0.25e9)


def test_shares_are_those_of_the_mixture_on_the_average() -> None:
    """A quarter of the steps 1:1:2, then 3:1:0."""
    mixture = Mixture((Phase((1, 1, 2), 0.25), Phase((3, 1, 0))), pairs=0.5)
    plan = TextPlan(SIZES, 1e9, mixture)
    assert [text.share for text in plan.texts] == pytest.approx([0.625, 0.25, 0.125])
    assert "shares of languages as the study says" in describe_text(plan)


def test_without_shares_everything_is_read_equally_often() -> None:
    plan = TextPlan(SIZES, 1e9, Mixture())
    each = [reading.epochs for reading in (*plan.texts, *plan.bitexts)]
    assert each == pytest.approx([each[0]] * 4)
    alone = TextPlan(TextSizes(SIZES.texts, {}, "a test"), 1e9, Mixture())
    assert alone.pairs == 0 and alone.bitexts == []


def test_of_half_a_text_as_much_is_read_twice_as_often() -> None:
    mixture = Mixture(exponent=0, pairs=0.5)
    whole, half = (TextPlan(SIZES, 1e9, replace(mixture, text=text)) for text in ((), (1.0, 0.5, 1.0)))
    assert [b.epochs / a.epochs for a, b in zip(whole.texts, half.texts, strict=True)] == pytest.approx([1, 2, 1])


def test_a_packed_id_takes_what_a_corpus_writes(tmp_path: Path) -> None:
    """30 ids a line, in 18 words."""
    words, lines = np.tile([2, 2, 1], (6, 100)).T.reshape(-1), 100
    with CorpusWriter(tmp_path / "corpus", 250_002) as writer:
        ids, places = np.zeros(int(words.sum())), np.tile(np.arange(18), lines)
        writer.append(Shard(ids, words, np.full(lines, 18), places), 0)
    size = sum(path.stat().st_size for path in (tmp_path / "corpus").glob("*.bin"))
    assert abs(WORDS - 18 / 30) + abs(LINES - 1 / 30) < 1e-9
    assert size - 16 == pytest.approx(PACKED * 3_000)  # two files have one number more than lines


def test_the_disk_has_what_is_drawn_of_a_text_and_all_of_one_that_is_short() -> None:
    drawn = sum(min(text.ids, text.drawn) for text in PLAN.texts)
    assert PLAN.packed(all_of_it=True) > PLAN.packed(all_of_it=False) == pytest.approx(PACKED * (drawn + 2e6))


def test_every_language_and_bitext_is_told() -> None:
    said = describe_text(PLAN)
    assert "text (a test): 5.1 GB, about 1.1 G ids, in 3 languages" in said
    assert "of 2 languages measured, of 0 that of their script, of 1 that of scripts with letters as wide" in said
    assert "drawn: 1.0 G ids, 25% of them of bitexts; shares of languages by ids to the power 0.7, of bitexts" in said
    for reading in (*PLAN.texts, *PLAN.bitexts):
        assert f"{reading.name:<5} {reading.bytes / 1e9:>7,.2f}" in said
    assert f"{PLAN.texts[0].share:.2%} {PLAN.texts[0].epochs:>6.2f}" in said
