from collections.abc import Iterator
from itertools import islice

from calque.derive.pocket.language import CHUNK, Pocket
from calque.derive.sentence import Sentence

POCKET = Pocket(600)
SENTENCES = tuple(POCKET.sentences(8_000))


def ancestors(sentence: Sentence, i: int) -> Iterator[int]:
    for _ in range(len(sentence)):
        i = sentence.heads[i]
        if i < 0:
            return
        yield i
    raise AssertionError(f"a cycle in {sentence}")


def test_trees_have_one_root_no_cycle_and_no_crossing() -> None:
    for sentence in SENTENCES:
        assert sentence.heads.count(-1) == 1
        assert sentence.relations[sentence.heads.index(-1)] == "root"
        for i, head in enumerate(sentence.heads):
            list(ancestors(sentence, i))
            if head >= 0:
                for between in range(min(i, head) + 1, max(i, head)):
                    assert head in ancestors(sentence, between), sentence


def test_chunks_are_the_stream_whoever_makes_them() -> None:
    stream = list(POCKET.sentences(2 * CHUNK + 10, stream=4))
    assert list(POCKET.chunk(4, 1)) == stream[CHUNK : 2 * CHUNK]
    assert list(islice(POCKET.chunk(4, 2), 10)) == stream[2 * CHUNK :]
    assert list(POCKET.sentences(50, stream=5)) != stream[:50]
    assert list(Pocket(600, seed=1).sentences(50, stream=4)) != stream[:50]
