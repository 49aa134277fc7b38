import dataclasses
import hashlib
import json
from collections.abc import Iterable

import pytest

from calque.derive.example import Example
from calque.derive.pocket.language import Pocket
from calque.derive.sentence import Sentence

SENTENCES = {
    "english": "4c9ffc941e6a3d3dc43a9934638fea11",
    "romance": "3ef3bdcca9335fa1aa75393e88f0ba48",
    "verbfinal": "4762deb5238633b7d98d29dfd14dbc07",
    "verbinitial": "4be0d940d0cbcb3b1f0c4c49057f831f",
}
PAIRS = "31a6224cf0d86d58cab7e06ec65b9cfe"


def digest(made: Iterable[Sentence | Example]) -> str:
    """The first half of the SHA-256 of all columns, but for those that Pocket English leaves empty."""
    total = hashlib.sha256()
    for one in made:
        total.update(json.dumps(dataclasses.asdict(one, dict_factory=filled)).encode())
    return total.hexdigest()[:32]


def filled(columns: list[tuple[str, object]]) -> dict[str, object]:
    assert not any(value for name, value in columns if name in ("glued", "sources", "id"))
    return {name: value for name, value in columns if name not in ("glued", "sources", "id")}


@pytest.mark.parametrize("order", SENTENCES)
def test_sentences_are_those_that_records_were_made_with(order: str) -> None:
    assert digest(Pocket(600, order=order).sentences(1_000)) == SENTENCES[order]


def test_pairs_are_those_that_records_were_made_with() -> None:
    assert digest(Pocket(600).pairs(1_500)) == PAIRS


def test_a_larger_language_with_a_seed_of_its_own_is_the_one_that_it_was() -> None:
    assert (
        digest(Pocket(2_000, seed=3, zipf=1.2).sentences(200, stream=2)) == "6d4d1948f76c77195bc9065f30270b84"
    )
