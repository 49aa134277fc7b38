"""Words as sub-words of any folder's tokenizer."""

import shutil
from pathlib import Path

import pytest
from tokenizers import Tokenizer
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


def copied(folder: Path, to: Path) -> Path:
    """A folder with the tokenizer of another and nothing else."""
    to.mkdir()
    shutil.copy(folder / "tokenizer.json", to)
    return to


def test_padding_truncation_and_added_types_that_were_saved(bert: Path, tmp_path: Path) -> None:
    """A tokenizer as it is saved by who trained with it: it pads and cuts, and knows more than its vocabulary."""
    tokenizer = Tokenizer.from_file(str(bert / "tokenizer.json"))
    tokenizer.enable_padding(length=7)
    tokenizer.enable_truncation(4)
    tokenizer.add_tokens(["qqq"])
    tokenizer.save(str(copied(bert, tmp_path / "set") / "tokenizer.json"))
    plain, as_saved = SubWords(bert), SubWords(tmp_path / "set")
    words = ["the", "thethethe", "a"]
    assert as_saved(words) == plain(words) and len(plain(words)[1]) > 4
    assert (as_saved.before, as_saved.after) == (plain.before, plain.after)
    assert as_saved.size == plain.size + 1
