"""Word frequencies in a corpus, counted chunk by chunk in bounded memory."""

from collections import Counter
from collections.abc import Iterable

DISTINCT = 1 << 18
"""Maximum number of distinct words to count; each takes about a kilobyte."""
LONGEST_LEARNT = 1_000
"""Maximum length, in characters, of the words used to learn a vocabulary; longer words are still encoded."""


def add_up(counts: Iterable[Counter[str]]) -> tuple[Counter[str], int]:
    """Return each word's total count, and the number of occurrences dropped to bound memory."""
    words = Counter[str]()
    forgotten = 0
    for part in counts:
        forgotten += forget_long(part)
        words.update(part)
        forgotten += forget_rare(words, DISTINCT)
    return words, forgotten


def forget_long(words: Counter[str]) -> int:
    """Drop words longer than `LONGEST_LEARNT`, on which BPE takes quadratic time; return the dropped
    occurrences."""
    long_words = [word for word in words if len(word) > LONGEST_LEARNT]
    return sum(map(words.pop, long_words))


def forget_rare(words: Counter[str], room: int) -> int:
    """Drop the rarest words, all words of equal count together, until at most `room` are left; return the
    dropped occurrences."""
    before, least = words.total(), 1
    while len(words) > room:
        for word in [word for word, count in words.items() if count <= least]:
            del words[word]
        least += 1
    return before - words.total()


def most_frequent(words: Counter[str], types: int) -> list[str]:
    """Return the `types` most frequent words; words of equal count are sorted alphabetically."""
    return sorted(words, key=lambda word: (-words[word], word))[:types]
