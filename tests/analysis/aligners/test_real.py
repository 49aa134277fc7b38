from functools import lru_cache

import pytest

from calque.analysis.aligners import (
    BY_NAME,
    DEFAULT,
    OT,
    SOFTMAX,
    TRAINED,
    EncoderAligner,
    LinkReading,
    encoded_pairs,
)
from calque.analysis.measures.word_alignment import gold_set
from calque.analysis.records.aer import score_all

LAYER = 8
MEASURED = {"argmax-centred": 36.00, "argmax": 36.66, "ot": 35.79, "xlm-align": 36.76}


@lru_cache
def real_set(data, name):
    return gold_set(data / "align", name)


def test_error_rates_of_the_real_encoder(calque_data, calque_encoder):
    gold = real_set(calque_data, "en-hi")
    readings = [LinkReading(BY_NAME[name], LAYER) for name in MEASURED]
    aligner = EncoderAligner.open(calque_encoder, OT, LAYER)
    encoder = aligner.encoder
    if encoder.encoder.config.num_hidden_layers != 12 or encoder.encoder.config.vocab_size != 250_037:
        pytest.skip("these numbers are of another encoder")
    links = encoder.links(encoded_pairs(aligner.vocabulary, gold.pairs), readings)
    scores = [score_all(gold.gold.pairs, column) for column in zip(*links, strict=True)]
    rates = {one.method.name: 100 * (score.aer or 0) for one, score in zip(readings, scores, strict=True)}
    assert rates == pytest.approx(MEASURED, abs=0.25)  # processors round differently


def test_trained_reading_keeps_links_in_a_distant_script(calque_data, calque_encoder):
    """German in Cyrillic letters is as unlike the training text as the text of another pair of languages."""
    gold = real_set(calque_data, "de-en")
    letters = str.maketrans("abcdefghiklmnoprstuwz", "абцдефгхиклмнопрстувз")
    rewritten = [tuple(word.lower().translate(letters) for word in german) for german, _ in gold.pairs[:60]]
    pairs = [(german, rest) for german, (_, rest) in zip(rewritten, gold.pairs, strict=False)]
    readings = [LinkReading(one, LAYER) for one in (DEFAULT, SOFTMAX, TRAINED)]
    aligner = EncoderAligner.open(calque_encoder, DEFAULT, LAYER)
    links = aligner.encoder.links(encoded_pairs(aligner.vocabulary, pairs), readings)
    columns = zip(*links, strict=True)
    best, likely, both = (score_all(gold.gold.pairs[:60], column).aer or 0 for column in columns)
    assert both < best < likely


@pytest.mark.parametrize("rule", ["argmax", "itermax"])
def test_links_equal_simalign_in_equal_precision(rule, calque_data, calque_encoder):
    """With transformers 5, SimAlign computes in the precision of the stored weights unless told otherwise."""
    simalign = pytest.importorskip("simalign", reason="SimAlign is not installed")
    pairs = real_set(calque_data, "en-fr").pairs[:40]
    theirs = simalign.SentenceAligner(str(calque_encoder), "bpe", matching_methods=rule[0], layer=LAYER)
    theirs.embed_loader.emb_model.float()
    expected = [sorted(*theirs.get_word_aligns(list(a), list(b)).values()) for a, b in pairs]
    assert list(EncoderAligner.open(calque_encoder, BY_NAME[rule], LAYER).align(pairs)) == expected
