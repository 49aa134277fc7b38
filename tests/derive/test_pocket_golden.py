"""Pocket languages to the last byte: committed records are of models that read just these sentences."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterable

import pytest

from derive.example import Example
from derive.pocket.language import Pocket
from derive.sentence import Sentence

SENTENCES = {
    "english": "0572980934869cfaf5bc21abec1d9062",
    "romance": "879d1c56517670d499a8ca5904a4a7cc",
    "verbfinal": "0a8dbf2c704d5860e552960cdb7a113d",
    "verbinitial": "13896f3a2cd47802d8ba251458aaf3d1",
}
PAIRS = "5772f40f4f40b394478be01199389651"


def digest(made: Iterable[Sentence | Example]) -> str:
    """The first half of the SHA-256 of all columns."""
    total = hashlib.sha256()
    for one in made:
        total.update(json.dumps(dataclasses.asdict(one)).encode())
    return total.hexdigest()[:32]


@pytest.mark.parametrize("order", SENTENCES)
def test_sentences_are_those_that_records_were_made_with(order: str) -> None:
    assert digest(Pocket(600, order=order).sentences(1_000)) == SENTENCES[order]


def test_pairs_are_those_that_records_were_made_with() -> None:
    assert digest(Pocket(600).pairs(1_500)) == PAIRS


def test_a_larger_language_with_a_seed_of_its_own_is_the_one_that_it_was() -> None:
    assert digest(Pocket(2_000, seed=3, zipf=1.2).sentences(200, stream=2)) == "5a60ac9ed56868418e0cab3eb2612653"
