"""Words as sub-words of any folder's tokenizer."""

from __future__ import annotations

from pathlib import Path

import pytest
from transformers import PreTrainedTokenizerFast

from analysis.aligners import subwords
from analysis.aligners.subwords import SubWords
from derive.links.aligner import Pair
from derive.types import OURS


def test_text_like_special_tokens_is_text(roberta: Path) -> None:
    (pieces,) = SubWords(roberta)(["</s>"])
    assert len(pieces) > 1 and OURS.end not in pieces


def test_marks_are_those_that_the_tokenizer_sets(roberta: Path, bert: Path) -> None:
    ours, theirs = SubWords(roberta), SubWords(bert)
    assert (ours.before, ours.after) == ([OURS.start], [OURS.end])
    assert (theirs.before, theirs.after) == ([2], [3])
    assert ours.longest is None


@pytest.mark.parametrize("family", ["roberta", "bert"])
def test_a_word_has_one_encoding_after_a_space_however_often_it_is_asked_for(
    family: str, sentence_pairs: list[Pair], request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder: Path = request.getfixturevalue(family)
    tokenizer = PreTrainedTokenizerFast(tokenizer_file=str(folder / "tokenizer.json"))
    monkeypatch.setattr(subwords, "_ROOM", 5)  # words are forgotten, and encoded again
    pieces = SubWords(folder)
    for source, target in sentence_pairs[:20]:
        for words in (source, target, (*source, *source)):
            expected = [tokenizer(f" {word}", add_special_tokens=False).input_ids for word in words]
            assert pieces(words) == expected
            assert pieces.size == len(tokenizer)
