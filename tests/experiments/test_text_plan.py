"""The plan of a run's text: bytes an id, laws of shares and epochs, and tables that show all of it."""

from __future__ import annotations

import json
import math
import os
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from analysis.papers.published import corpora
from derive.corpus import CorpusWriter, Shard
from experiments.text_plan import (
    LETTERS,
    LINES,
    MEASURED,
    PACKED,
    WORDS,
    TextPlan,
    TextSizes,
    by_size,
    describe_text,
    readings,
    token_size,
)
from pretrain.mixture import Mixture, Phase

SIZES = TextSizes({"en": 4.27e9, "ru": 7.22e8, "he": 6.5e7}, {("en", "ru"): 11.49e6}, "a test")
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
        writer.append(Shard(ids, words, np.full(lines, 18), places, np.arange(lines)), 0)
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


TEXTS = st.dictionaries(st.text("abc", min_size=1, max_size=3), st.floats(1, 1e12), min_size=1, max_size=8)


def in_ids(sizes: dict[str, float]) -> dict[str, float]:
    """Of four bytes each."""
    return {name: size / 4 for name, size in sizes.items()}


@given(TEXTS, st.floats(0, 1), st.floats(1, 1e12))
def test_shares_sum_to_one_and_what_is_drawn_to_all_that_is(
    sizes: dict[str, float], exponent: float, drawn: float
) -> None:
    made = readings(sizes, in_ids(sizes), by_size(sizes, exponent), drawn)
    assert sum(one.share for one in made) == pytest.approx(1)
    assert sum(one.drawn for one in made) == pytest.approx(drawn)
    assert [one.name for one in made] == list(sizes)


@given(TEXTS, st.floats(1, 1e12))
def test_with_exponent_1_every_text_is_read_equally_often(sizes: dict[str, float], drawn: float) -> None:
    made = readings(sizes, in_ids(sizes), by_size(sizes, 1.0), drawn)
    assert [one.epochs for one in made] == pytest.approx([4 * drawn / sum(sizes.values())] * len(made))


@given(TEXTS, st.floats(0.05, 0.95))
def test_below_1_a_smaller_text_has_the_smaller_share_and_is_read_more_often(
    sizes: dict[str, float], exponent: float
) -> None:
    each = readings(sizes, in_ids(sizes), by_size(sizes, exponent), 1e9)
    made = sorted(each, key=lambda one: one.bytes)
    for small, large in pairwise(made):
        assert small.share <= large.share * (1 + 1e-9)
        assert small.epochs >= large.epochs * (1 - 1e-9)


def test_worked_out_by_hand() -> None:
    """16 and 1 bytes with exponent 0.5 weigh 4 and 1; of 100 ids, 80 are of 4 ids, and 20 of half an id."""
    sizes = {"large": 16.0, "small": 1.0}
    large, small = readings(sizes, {"large": 4.0, "small": 0.5}, by_size(sizes, 0.5), 100)
    assert (large.share, large.ids, large.epochs) == (0.8, 4.0, 20.0)
    assert (small.share, small.ids, small.epochs) == (0.2, 0.5, 40.0)


def test_a_text_without_a_byte_is_not_drawn() -> None:
    sizes = {"none": 0.0, "some": 8.0}
    none, some = readings(sizes, {"none": 0.0, "some": 2.0}, by_size(sizes, 0.0), 10)
    assert (none.share, none.drawn, some.share) == (0.0, 0.0, 1.0)
    assert none.epochs == math.inf


CODES = corpora("xlm_align")["CCNet"].gigabytes.keys()


def test_every_language_of_the_paper_has_one_script() -> None:
    written = Counter(language for languages in LETTERS.values() for language in languages.split())
    assert written.keys() == CODES
    assert set(written.values()) == {1}


def test_how_many_are_measured_and_how_many_assumed() -> None:
    assert Counter(token_size(code).basis for code in CODES) == {"measured": 19, "script": 50, "width": 18}


def test_an_assumed_size_is_the_mean_of_its_script_or_of_scripts_with_letters_as_wide() -> None:
    assert token_size("uk") == ((6.98 + 7.22) / 2, "script")
    assert token_size("mr") == (8.82, "script")
    two_bytes = pytest.approx(((6.98 + 7.22) / 2 + (5.94 + 6.06) / 2 + 6.44) / 3)
    assert token_size("he") == token_size("hy") == (two_bytes, "width")
    assert token_size("ta").bytes == pytest.approx((8.82 + 10.67) / 2)  # Devanagari and Thai, and no Chinese


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    """XLM-R's, of the encoder that CALQUE_ENCODER names."""
    if not (encoder := os.environ.get("CALQUE_ENCODER")):
        pytest.skip("CALQUE_ENCODER names no encoder")
    return Tokenizer.from_file(str(Path(encoder) / "tokenizer.json"))


@pytest.fixture(scope="module")
def texts(calque_data: Path) -> dict[str, list[str]]:
    """The text of each measured language: XNLI's dev set, XQuAD's paragraphs, treebanks' sentences."""
    found: dict[str, list[str]] = {language: [] for language in MEASURED}
    for path in sorted(calque_data.glob("nli/xnli/dev-*.tsv")):
        for line in path.read_text(encoding="utf-8").split("\n"):
            found[path.stem.removeprefix("dev-")] += line.split("\t")[:2] if line else []
    for path in sorted(calque_data.glob("qa/xquad/*.json")):
        articles = json.loads(path.read_text(encoding="utf-8"))["data"]
        found[path.suffixes[0][1:]] += [
            paragraph["context"] for article in articles for paragraph in article["paragraphs"]
        ]
    for path in sorted(calque_data.glob("ud/*/*.conllu")):
        language = path.name.partition("_")[0]
        if "PUD" in path.parent.name or language in ("ga", "ja", "ko", "tr"):
            lines = path.read_text(encoding="utf-8").split("\n")
            found[language] += [line[9:] for line in lines if line.startswith("# text = ")]
    return found


def test_measured_again(texts: dict[str, list[str]], tokenizer: Tokenizer) -> None:
    for language, lines in texts.items():
        part = lines[:: max(1, len(lines) // 800)]
        ids = sum(len(encoding.ids) for encoding in tokenizer.encode_batch(part, add_special_tokens=False))
        size = sum(len(line.encode()) + 1 for line in part)
        assert size / ids == pytest.approx(MEASURED[language], rel=0.04), language
