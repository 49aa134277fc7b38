import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from calque.derive.corpus import Corpus, CorpusWriter, Ragged, ranges


def lists(ragged):
    return [item.tolist() for item in ragged]


@given(st.lists(st.lists(st.integers(0, 99), max_size=4), min_size=1), st.data())
def test_ragged_arrays_are_lists_of_arrays(items, data):
    place = st.integers(0, len(items) - 1)
    chosen, (first, last) = data.draw(st.lists(place)), sorted(data.draw(st.tuples(place, place)))
    values = np.array([value for item in items for value in item], np.uint16)
    ragged = Ragged.of(values, np.array(list(map(len, items)), np.uint16))
    assert lists(ragged) == [ragged[i].tolist() for i in range(len(ragged))] == items
    assert lists(ragged.take(np.array(chosen, np.int64))) == [items[i] for i in chosen]
    assert lists(ragged.between(first, last)) == items[first:last]
    assert ragged.item.tolist() == [i for i, item in enumerate(items) for _ in item]
    assert ranges(2, ragged.sizes).tolist() == [2 + i for item in items for i in range(len(item))]


def shard(lines):
    """A corpus of lines of words of ids whose words are in reverse order."""
    words = [word for line in lines for word in line]
    return Corpus.of(
        np.array([i for word in words for i in word], np.uint32),
        np.array([len(word) for word in words], np.uint16),
        np.array([len(line) for line in lines], np.int64),
        np.array([place for line in lines for place in reversed(range(len(line)))], np.uint16),
    )


lines_of_words = st.lists(
    st.lists(st.lists(st.integers(0, 999), min_size=1, max_size=3), max_size=4), min_size=1, max_size=6
).filter(any)


@settings(max_examples=100)
@given(st.lists(lines_of_words, min_size=1, max_size=3))
def test_lines_do_not_depend_on_shards(tmp_path_factory, shards):
    folder = tmp_path_factory.mktemp("corpora") / "corpus"
    writer = CorpusWriter(folder, 1000)
    for lines in shards:
        writer.append(shard(lines), writer.counts["sentences"])
    writer.finish()
    corpus = Corpus.open(folder)
    lines = [line for part in shards for line in part]
    assert len(corpus) == len(lines)
    assert lists(corpus.tokens) == [[i for word in line for i in word] for line in lines]
    assert lists(corpus.origin) == [list(range(len(line)))[::-1] for line in lines]
    assert corpus.pieces.values.tolist() == [len(word) for line in lines for word in line]
    assert corpus.source_line.tolist() == list(range(len(lines)))
