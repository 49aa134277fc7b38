"""Transforms that merge and split words."""

from dataclasses import dataclass

from calque.derive.transforms import Rewrite


@dataclass(frozen=True)
class Merge(Rewrite):
    """Joins each determiner to the next word: *the house* becomes *housethe*."""

    short_name = "merge"

    def rewritten(self, sentence, number):
        words, waiting = [], []
        for place, (word, tag) in enumerate(zip(sentence.words, sentence.tags, strict=True)):
            if tag == "DET" and place < len(sentence) - 1:
                waiting.append(place)
                continue
            ending = "".join(sentence.words[index] for index in waiting)
            words.append((word + ending, (place, *waiting)))
            waiting = []
        return words


@dataclass(frozen=True)
class Cut(Rewrite):
    """Splits an *s* from each noun that ends in it: *boxes* becomes *boxe s*."""

    short_name = "cut"

    def rewritten(self, sentence, number):
        words = []
        for place, (word, tag) in enumerate(zip(sentence.words, sentence.tags, strict=True)):
            parts = (word[:-1], "s") if tag == "NOUN" and word[3:].endswith("s") else (word,)
            words += [(part, (place,)) for part in parts]
        return words
