"""Word frequencies in a corpus, counted chunk by chunk in bounded memory."""

from collections import Counter
from collections.abc import Iterable

DISTINCT = 1 << 18  # maximum number of words counted, at about a kilobyte each
LONGEST_LEARNT = 1_000  # maximum length of words to learn from, in characters: BPE takes quadratic time


def add_up(counts: Iterable[Counter[str]]) -> tuple[Counter[str], int]:
    """Return each word's total count, and the number of occurrences of words that were dropped for being too
    long or, to save memory, too rare (words with the same count are dropped together)."""
    words, forgotten = Counter[str](), 0
    for part in counts:
        forgotten += sum(part.pop(word) for word in list(part) if len(word) > LONGEST_LEARNT)
        words.update(part)
        before, least = words.total(), 1
        while len(words) > DISTINCT:
            for word in [word for word, count in words.items() if count <= least]:
                del words[word]
            least += 1
        forgotten += before - words.total()
    return words, forgotten


def most_frequent(words: Counter[str], types: int) -> list[str]:
    """Return the `types` most frequent words; words with the same count are sorted alphabetically."""
    return sorted(words, key=lambda word: (-words[word], word))[:types]
