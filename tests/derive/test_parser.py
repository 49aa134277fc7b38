from collections import Counter
from dataclasses import dataclass, replace

import pytest

from calque.derive.parser import LONGEST, SHARD, ParsedTrees, StanzaParser
from calque.derive.sentence import Sentence
from calque.derive.sources.files import Files


@pytest.mark.slow
def test_sentences_that_stop_stanza_do_not_affect_others(stanza_models):
    parser = StanzaParser(stanza_models)
    too_long = ["word"] * (LONGEST + 1)
    odd = ["20 000", " ", "_", "#", "\u00a0x", "\t1", "🙂", "ⵣ"]
    first, empty, *failed, strange, last = parser.trees(
        [["It", "rains"], [], ["a", ""], too_long, odd, ["Now"]]
    )
    assert failed == ["ValueError", f"more than {LONGEST} words"] and empty == Sentence(())
    assert strange.words == tuple(odd) and strange.heads
    assert last.words == ("Now",) and last.heads
    assert [first] == parser.trees([["It", "rains"]])


def chain(words):
    n = len(words)
    return Sentence(tuple(words), ("NOUN",) * n, tuple(range(-1, n - 1)), ("root", *["dep"] * (n - 1))[:n])


@dataclass(frozen=True)
class Chains(StanzaParser):
    """A parser of chains, which cannot parse Paris and logs the number of sentences in each call."""

    name: str = "chains"

    def fingerprint(self, trees=False):
        return self.name

    def trees(self, sentences):
        with (self.folder / "calls").open("a") as file:
            file.write(f"{len(sentences)}\n")
        return ["ValueError" if "Paris" in words else chain(words) for words in sentences]

    @property
    def calls(self):
        path = self.folder / "calls"
        return [int(line) for line in path.read_text().splitlines()] if path.exists() else []


@pytest.fixture
def parser(tmp_path):
    (tmp_path / "parser").mkdir()
    return Chains(tmp_path / "parser")


def read(source):
    sentences, counts = [], Counter()
    for chunk in source.chunks():
        found, left_out = source.sentences(chunk)
        sentences += found
        counts += left_out
    return sentences, counts


class Dies(Chains):
    def trees(self, sentences):
        if self.calls:
            raise KeyboardInterrupt
        return super().trees(sentences)


def test_killed_parse_continues_with_the_next_shard(parser, tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("".join(f"Number {i} rains.\n" for i in range(2 * SHARD + 1)))
    dies = replace(Files((text,)), trees=ParsedTrees(Dies(parser.folder), tmp_path / "cache"))
    with pytest.raises(KeyboardInterrupt):
        read(dies)
    assert parser.calls == [SHARD]
    sentences, _ = read(replace(dies, trees=ParsedTrees(parser, tmp_path / "cache")))
    assert parser.calls == [SHARD, SHARD, 1]
    assert sentences == [chain(("Number", str(i), "rains", ".")) for i in range(2 * SHARD + 1)]
