"""Word order: inversion, random permutation, and the distance between two orders."""

from bisect import bisect
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from calque.derive.fingerprint import ADDED, total
from calque.derive.forms import percent
from calque.derive.sentence import Sentence
from calque.derive.transform import Transform, check_share, draw

# English sentence-final punctuation; text in other scripts needs its own marks, such as 。 or ।.
FINAL_MARKS = (".", "!", "?")


@dataclass(frozen=True)
class Invert(Transform):
    """Reverses the order of the words in a fraction `p` of the sentences (ALIGN-MLM, appendix F). Final
    punctuation stays last; if there is none, punctuation at the start stays first, so that the transform is
    its own inverse."""

    short_name, full_name = "inv", "Inv"
    forms = (percent("p", "-", "of the sentences", "50", " {percent} %"),)
    examples = (("inv", ""), ("inv-50", "half of the sentences"))
    term = "Inv reverses the words of each sentence, but keeps final punctuation last."

    p: float = 1.0
    seed: int = 0
    marks: tuple[str, ...] = field(default=FINAL_MARKS, metadata=ADDED)

    def __post_init__(self) -> None:
        check_share(self.p, "sentences")

    def __call__(self, sentence: Sentence, number: int = 0) -> Sentence:
        if self.p < 1 and draw(self.seed, number).random() >= self.p:
            return sentence
        words, n = sentence.words, len(sentence)
        if n and words[-1] in self.marks:
            return sentence.reorder([*range(n - 2, -1, -1), n - 1])
        first = next((i for i, word in enumerate(words) if word not in self.marks), n)
        return sentence.reorder([*range(first), *range(n - 1, first - 1, -1)])


@dataclass(frozen=True)
class Permute(Transform):
    """Permutes words randomly: a control condition in which word order carries no information."""

    short_name, full_name = "perm", "Perm"
    examples = (("perm", ""),)
    term = "Perm permutes the words of each sentence randomly."

    seed: int = 0

    def __call__(self, sentence: Sentence, number: int = 0) -> Sentence:
        order = list(range(len(sentence)))
        draw(self.seed, number).shuffle(order)
        return sentence.reorder(order)


def kendall_distance(origin: Sequence[int]) -> float:
    """Return the fraction of word pairs whose order is reversed."""
    n = len(origin)
    places: list[int] = []
    inversions = 0
    for place in origin:
        rank = bisect(places, place)
        inversions += len(places) - rank
        places.insert(rank, place)
    return inversions / (n * (n - 1) / 2) if n > 1 else 0.0


def order_distance(origins: Iterable[Sequence[int]]) -> float:
    """Return the mean `kendall_distance` over sentences of at least two words, or 0."""
    distances = [kendall_distance(origin) for origin in origins if len(origin) > 1]
    return total(distances) / len(distances) if distances else 0.0
