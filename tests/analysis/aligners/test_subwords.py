"""Words as sub-words of any folder's tokenizer."""

from pathlib import Path

import pytest
from transformers import PreTrainedTokenizerFast

from calque.analysis.aligners import subwords
from calque.analysis.aligners.subwords import SubWords
from calque.derive.links.aligner import Pair


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
