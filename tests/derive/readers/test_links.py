from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calque.derive.readers.parallel import Gold, GoldPair, read_gold, read_links

LENGTHS = [(3, 3), (2, 4)]
FIRST = GoldPair(frozenset({(0, 0)}), frozenset({(0, 0), (1, 2)}))
SECOND = GoldPair(frozenset({(1, 3)}), frozenset({(1, 3)}))


def read(path, text, lengths=LENGTHS):
    path.write_text(text, newline="")
    return read_gold(path, lengths)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1 1 1 S\n1 2 -99 S\n1 2 3 P\n2 2 4 S\n", "a:2: the link 2 -99, counted from 1"),
        ("1 1 1 S\n1 2 3 P\n2 2 4 S\n2 3 4 P\n", "counted from 1, is outside sentences of 2 and"),
        ("1 1 1 S\n1 2 3 P\n2 2 4 S\n2 1 0 S\n", "a:4: the link 1 0, counted from 1"),
    ],
)
def test_links_outside_their_sentences_are_reported(tmp_path, text, said):
    gold = read(tmp_path / "a", text)
    assert gold.pairs == (FIRST, SECOND)
    assert gold.counts == {"links outside their sentences": 1}
    assert len(gold.outside) == 1 and said in gold.outside[0]


@st.composite
def golds(draw):
    lengths = draw(st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=1, max_size=5))
    pairs = []
    for n, m in lengths:
        links = draw(st.frozensets(st.tuples(st.integers(0, n - 1), st.integers(0, m - 1)), min_size=1))
        sure = draw(st.frozensets(st.sampled_from(sorted(links))))
        pairs.append(GoldPair(sure, links))
    return lengths, pairs


@settings(max_examples=100)
@given(golds(), st.sampled_from([0, 1, 7]))
def test_written_links_are_read_back(tmp_path_factory, made, first):
    lengths, pairs = made
    path = tmp_path_factory.getbasetemp() / "gold"
    marked = [[(i, j, (i, j) in pair.sure) for i, j in sorted(pair.possible)] for pair in pairs]
    wpt = [f"{n + first} {i + 1} {j + 1} {'SP'[not s]}\n" for n, row in enumerate(marked) for i, j, s in row]
    assert read(path, "".join(wpt), lengths) == Gold(tuple(pairs), (), {})
    path.write_text("".join(f"{' '.join(f'{i}-{j}' for i, j, _ in row)}\n" for row in marked))
    assert read_links(path, Counter(), lengths) == [sorted(pair.possible) for pair in pairs]
