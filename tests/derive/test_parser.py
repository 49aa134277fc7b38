from pathlib import Path

import pytest

from calque.derive.parser import LONGEST, StanzaParser
from calque.derive.sentence import Sentence


@pytest.mark.slow
def test_a_sentence_that_stops_stanza_costs_no_other_its_tree(stanza_models: Path) -> None:
    parser = StanzaParser(stanza_models)
    too_long = ["word"] * (LONGEST + 1)
    odd = ["20 000", " ", "_", "#", "\u00a0x", "\t1", "🙂", "ⵣ"]
    first, empty, *failed, strange, last = parser.trees(
        [["It", "rains"], [], ["a", ""], too_long, odd, ["Now"]]
    )
    assert failed == ["ValueError", f"more than {LONGEST} words"] and empty == Sentence(())
    assert isinstance(strange, Sentence) and strange.words == tuple(odd) and strange.heads
    assert isinstance(last, Sentence) and last.words == ("Now",) and last.heads
    assert [first] == parser.trees([["It", "rains"]])
