"""What a model said, in the files that XTREME's evaluation reads."""

from __future__ import annotations

import json

from analysis.tasks.nli import NLI
from analysis.tasks.paraphrase import Paraphrase
from analysis.tasks.pos import POS
from analysis.tasks.xquad import XQuAD
from derive.example import Example
from experiments.predictions import predictions


def test_tags_stand_in_lines_with_a_blank_one_after_each_sentence() -> None:
    name, text = predictions(POS(), "de", [], [("DET", "NOUN"), ("VERB",)], "xtreme")
    assert (name, text) == ("udpos/test-de.tsv", "DET\nNOUN\n\nVERB\n\n")


def test_tags_of_syntactic_words_are_no_submission() -> None:
    assert predictions(POS(), "de", [], [("DET",)]) == ("pos/test-de.tsv", "DET\n\n")


def test_labels_stand_in_lines() -> None:
    assert predictions(NLI(), "fr", [], [("neutral",), ("entailment",)]) == (
        "xnli/test-fr.tsv",
        "neutral\nentailment\n",
    )
    assert predictions(Paraphrase(), "zh", [], [("1",)])[0] == "pawsx/test-zh.tsv"


def test_answers_stand_by_their_ids() -> None:
    asked = [Example((), id="q1"), Example((), id="q2")]
    name, text = predictions(XQuAD(), "zh", asked, [("北京",), ("",)])
    assert name == "xquad/test-zh.json" and json.loads(text) == {"q1": "北京", "q2": ""}
