import random
from pathlib import Path

import pytest

from calque.analysis.aligners import pair_encoder
from calque.analysis.aligners.methods import OT
from calque.analysis.aligners.pair_encoder import EncoderAligner
from calque.derive.links.aligner import Pair
from tests.analysis.aligners.conftest import LENGTH, opened

LAYER = 2


def test_links_do_not_depend_on_the_neighbours_and_keep_their_order(
    roberta: Path, sentence_pairs: list[Pair], monkeypatch: pytest.MonkeyPatch
) -> None:
    aligner = EncoderAligner.open(roberta, OT, LAYER)
    before = list(aligner.align(sentence_pairs))
    shuffled = list(range(len(sentence_pairs)))
    random.Random(0).shuffle(shuffled)
    after = list(aligner.align([sentence_pairs[i] for i in shuffled]))
    assert after == [before[i] for i in shuffled]
    monkeypatch.setattr(pair_encoder, "WINDOW", 7)
    monkeypatch.setattr(pair_encoder, "CELLS", 100)
    assert list(aligner.align(sentence_pairs)) == before


def test_what_has_no_links_is_counted_with_its_line(bert: Path, roberta: Path) -> None:
    long = tuple(["the"] * 1000)
    pairs: list[Pair] = [
        ((), ("the",)),
        (("the",), ()),
        (("the", "\u200b"), ("the",)),
        (long, ("the", "the")),
        ((), ()),
    ]
    aligner = EncoderAligner.open(bert, OT, LAYER)
    found = list(aligner.align(pairs))
    assert [bool(links) for links in found] == [False, False, True, True, False]
    assert found[2] == [(0, 0)]
    assert all(i < LENGTH - 2 for i, _ in found[3])
    assert aligner.left_out.described() == [
        "3 sentence pairs with an empty side (line 1, 2, 5)",
        "1 words that the tokenizer drops (line 3)",
        f"{1000 - (LENGTH - 2):,} words beyond the {LENGTH} ids that the model takes (line 4)",
    ]
    joint = opened(roberta, OT, LAYER, True)
    assert all(list(joint.align([(long, long), (("the",), long), (long, ("the",))])))
    room = LENGTH - 3  # <s> S </s> T </s>
    beyond = [2000 - room, 1001 - room, 1001 - room]
    (said,) = joint.left_out.described()
    assert said == f"{sum(beyond):,} words beyond the {LENGTH} ids that the model takes (line 1, 2, 3)"


LAYER = 2
