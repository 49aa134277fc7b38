"""What a model said, in the files that XTREME's evaluation reads."""

import json

from analysis.tasks.classification import NLI, Paraphrase
from analysis.tasks.questions import XQuAD
from analysis.tasks.tagging import POS
from derive.example import Example


def test_tags_stand_in_lines_with_a_blank_one_after_each_sentence() -> None:
    name, text = POS().submission("de", [], [("DET", "NOUN"), ("VERB",)], "xtreme")
    assert (name, text) == ("udpos/test-de.tsv", "DET\nNOUN\n\nVERB\n\n")


def test_tags_of_syntactic_words_are_no_submission() -> None:
    assert POS().submission("de", [], [("DET",)]) == ("pos/test-de.tsv", "DET\n\n")


def test_labels_stand_in_lines() -> None:
    assert NLI().submission("fr", [], [("neutral",), ("entailment",)]) == (
        "xnli/test-fr.tsv",
        "neutral\nentailment\n",
    )
    assert Paraphrase().submission("zh", [], [("1",)])[0] == "pawsx/test-zh.tsv"


def test_answers_stand_by_their_ids() -> None:
    examples = [Example((), id="q1"), Example((), id="q2")]
    name, text = XQuAD().submission("zh", examples, [("北京",), ("",)])
    assert name == "xquad/test-zh.json" and json.loads(text) == {"q1": "北京", "q2": ""}
