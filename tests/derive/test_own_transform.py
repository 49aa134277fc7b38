import random
from dataclasses import dataclass
from pathlib import Path

import pytest

from calque.derive.errors import BadInput
from calque.derive.own_transform import check_own
from calque.derive.pocket.language import Pocket
from calque.derive.script import Transliterate
from calque.derive.sources.pocket import PocketEnglish
from calque.derive.transform import Transform, compose, draw

SOURCE = PocketEnglish(Pocket(types=300), size=20)
CALLS = [0]


def _count(sentence):
    CALLS[0] += 1
    return CALLS[0]


def _rotated(sentence, by):
    return sentence.reorder([(place + by) % len(sentence) for place in range(len(sentence))])


@dataclass(frozen=True)
class Own(Transform):
    how: str

    name = "own"

    def __call__(self, sentence, number=0):
        return HOW[self.how](sentence, number)


HOW = {
    "seeded": lambda sentence, number: _rotated(sentence, draw(0, number).randrange(3)),
    "random": lambda sentence, number: _rotated(sentence, random.randrange(len(sentence))),
    "counting": lambda sentence, number: _rotated(sentence, _count(sentence)),
    "hashed": lambda sentence, number: _rotated(sentence, hash(sentence.words) % len(sentence)),
    "repeats": lambda sentence, number: sentence.reorder([0] * len(sentence)),
    "loses": lambda sentence, number: sentence.reorder([*range(len(sentence) - 1)]),
    "divides": lambda sentence, number: sentence.reorder([1 // 0]),
}


def checked(transforms, cache, workers=1):
    check_own(SOURCE, transforms, cache, workers)


def test_deterministic_transforms_pass(tmp_path):
    checked([Own("seeded"), compose(Transliterate(), Own("seeded"))], tmp_path, workers=2)


@pytest.mark.parametrize("how", ["random", "counting"])
def test_nondeterministic_transforms_are_reported(how, tmp_path):
    with pytest.raises(BadInput, match="own is not a function of a sentence and its number"):
        checked([compose(Transliterate(), Own(how))], tmp_path)


@pytest.mark.parametrize("how", ["repeats", "loses", "divides"])
def test_errors_in_transforms_name_file_and_line(how, tmp_path):
    with pytest.raises(BadInput, match=rf"{Path(__file__).name}:\d+: .*sentence 0"):
        checked([Own(how)], tmp_path)
