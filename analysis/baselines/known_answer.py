"""An answer that training has, from the sentence that is most like the question."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from analysis.baselines.baseline import Answer, Baseline, Learnt, Spell, words_of
from derive.example import Example

QUESTION, CONTEXT = 0, 1
"""Which text of an example is which."""


@dataclass(frozen=True)
class KnownAnswer(Baseline):
    """Of the strings of a context that are answers in the training examples, one of the sentence that is most alike.

    That is the sentence with most different words of the question, of equals the first; a string with a word of the
    question is not taken. Without any such string a single word that the question lacks will do, and so will any.
    """

    name: str = "overlap"
    title: str = "known answer, most shared words"

    def learn(self, examples: Iterable[tuple[Example, Answer]], spell: Spell) -> Learnt:
        known = {
            tuple(map(spell, sentence.words[span.start : span.end]))
            for example, _ in examples
            for sentence in example.texts[CONTEXT]
            for span in sentence.spans
        }
        longest = max(map(len, known), default=0)

        def answer(example: Example, spell: Spell) -> Answer:
            asked = set(words_of(example, spell, QUESTION))
            # A text that stays as it is written is cut at its answers: whoever is asked does not know where.
            texts = (
                sentence.text.split() if any(sentence.glued) else sentence.words for sentence in example.texts[CONTEXT]
            )
            sentences = [(words, tuple(map(spell, words))) for words in texts]
            alike = sorted(sentences, key=lambda sentence: -len(asked.intersection(sentence[1])))
            for which in (lambda words: words in known, lambda words: len(words) == 1):
                for words, spelled in alike:
                    for start, end in _strings(len(words), max(1, longest)):
                        if which(spelled[start:end]) and asked.isdisjoint(spelled[start:end]):
                            return (" ".join(words[start:end]),)
            return (alike[0][0][0],)

        return lambda asked, spell: [answer(example, spell) for example in asked]


def _strings(size: int, longest: int) -> Iterator[tuple[int, int]]:
    """Begins and ends of strings of a sentence of `size` words: from left to right, at each place the longest first."""
    for start in range(size):
        for end in range(min(start + longest, size), start, -1):
            yield start, end
