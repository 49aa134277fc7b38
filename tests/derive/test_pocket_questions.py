"""Questions: one answer, which neither its place, nor its type, nor the words of its sentence give away."""

from functools import cache

import pytest

from calque.derive.example import Example
from calque.derive.pocket.language import Pocket
from calque.derive.pocket.lexicon import Lexicon
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


def facts(sentence: Sentence) -> tuple[str, ...]:
    """Who, to whom, where, what (a participle or past form is enough: a context has one tense), and whether denied."""
    words = dict(zip(sentence.relations, sentence.words, strict=True))
    passive = "obl:agent" in words
    agent, patient = ("obl:agent", "nsubj:pass") if passive else ("nsubj", "obj")
    return words[agent], words[patient], words.get("obl", ""), words["root"], str("never" in sentence.words)


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
