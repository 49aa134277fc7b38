"""Questions: one answer, which neither its place, nor its type, nor the words of its sentence give away."""

import random
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from calque.derive.example import Example, read_examples, write_examples
from calque.derive.pocket.language import Pocket
from calque.derive.pocket.lexicon import Lexicon
from calque.derive.pocket.questions import ANSWER, KINDS
from calque.derive.sentence import Sentence, Span

ITEMS = 3_000
SIZES = pytest.mark.parametrize("types", [300, 1_000])


@cache
def asked(types: int) -> tuple[Example, ...]:
    return tuple(Pocket(types).questions(ITEMS))


def answer(example: Example) -> tuple[int, Span]:
    ((place, span),) = ((i, span) for i, sentence in enumerate(example.texts[1]) for span in sentence.spans)
    return place, span


def said(sentence: Sentence, span: Span) -> tuple[str, ...]:
    return sentence.words[span.start : span.end]


def candidates(sentence: Sentence, kind: str) -> list[Span]:
    """The places, or else the people, of a sentence."""
    spans = []
    for i, relation in enumerate(sentence.relations):
        if (relation == "obl") if kind == "place" else relation in ("nsubj", "obj", "nsubj:pass", "obl:agent"):
            determiner = i > 0 and sentence.relations[i - 1] == "det"
            spans.append(Span(i - determiner, i + 1, ANSWER))
    return spans


def facts(sentence: Sentence) -> tuple[str, ...]:
    """Who, to whom, where, what (a participle or past form is enough: a context has one tense), and whether denied."""
    words = dict(zip(sentence.relations, sentence.words, strict=True))
    passive = "obl:agent" in words
    agent, patient = ("obl:agent", "nsubj:pass") if passive else ("nsubj", "obj")
    return words[agent], words[patient], words.get("obl", ""), words["root"], str("never" in sentence.words)


@SIZES
def test_a_context_has_one_answer_and_others_that_it_could_be(types: int) -> None:
    assert {example.diagnostic for example in asked(types)} == set(KINDS)
    several = []
    for example in asked(types):
        (question,), context = example.texts
        assert 4 <= len(context) <= 6
        place, span = answer(example)
        assert span in candidates(context[place], example.diagnostic)
        others = {said(s, c) for s in context for c in candidates(s, example.diagnostic)} - {said(context[place], span)}
        several.append(len(others) > 1)
        assert others
        assert not (set(said(context[place], span)) - {"the"}) & set(question.words)
    assert np.mean(several) > 0.85


@SIZES
def test_only_the_answers_sentence_says_what_is_asked(types: int) -> None:
    """With the answer put into the question, it holds of the sentence that has it, and of no other."""
    column = {"subject": 1, "object": 0}
    for example in asked(types):
        (question,), context = example.texts
        place, span = answer(example)
        agent, patient, where, _, denied = facts(context[place])
        assert denied == "False"
        words = dict(zip(question.relations, question.words, strict=True))
        if example.diagnostic == "place":
            passive = "obl:agent" in words
            pair = (words["obl:agent"], words["nsubj:pass"]) if passive else (words["nsubj"], words["obj"])
            assert pair == (agent, patient) and said(context[place], span)[-1] == where
        else:
            known = (agent, patient)[column[example.diagnostic]]
            assert known in question.words and "who" in question.words
        for other in context[:place] + context[place + 1 :]:
            a, p, _, _, no = facts(other)
            asks = {"place": (a, p) == (agent, patient), "subject": p == patient, "object": a == agent}
            # The same verb has other forms in other voices: what is left is another verb, or denied.
            if asks[example.diagnostic] and no == "False":
                assert verb_of(other, types) != verb_of(context[place], types)


@cache
def lemmas(types: int) -> dict[str, str]:
    found: dict[str, str] = {}
    for topic in Lexicon(types, 0).topics:
        for lexeme in topic["soc"]:
            found |= dict.fromkeys(lexeme.forms, lexeme.lemma)
    return found


def verb_of(sentence: Sentence, types: int) -> str:
    return lemmas(types)[sentence.words[sentence.heads.index(-1)]]


@SIZES
def test_what_looks_like_the_question_is_seldom_the_answer(types: int) -> None:
    """In the sentence that shares most words (then neighbours) with the question, the first that it could ask for."""
    draw, right = random.Random(0), []
    for example in asked(types):
        (question,), context = example.texts
        place, span = answer(example)

        def shared(sentence: Sentence, question: Sentence = question) -> tuple[int, int]:
            pairs = [set(pairwise(words)) for words in (sentence.words, question.words)]
            return len(set(sentence.words) & set(question.words)), len(pairs[0] & pairs[1])

        best = max(draw.sample(range(len(context)), len(context)), key=lambda i: shared(context[i]))
        free = [
            candidate
            for candidate in candidates(context[best], example.diagnostic)
            if not (set(said(context[best], candidate)) - {"the"}) & set(question.words)
        ]
        right.append(bool(free) and said(context[best], free[0]) == said(context[place], span))
    assert np.mean(right) <= 0.40


def test_questions_are_read_as_they_were_written(tmp_path: Path) -> None:
    path = tmp_path / "qa.jsonl"
    write_examples(path, asked(300)[:50])
    assert tuple(read_examples(path)) == asked(300)[:50]
