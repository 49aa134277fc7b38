import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from calque.analysis.measures.nulls import shuffled

KINDS = st.lists(st.sampled_from("abc"), min_size=1, max_size=30)


@given(kinds=KINDS, seed=st.integers(0, 99))
def test_items_are_shuffled_among_their_kind(kinds, seed):
    made = shuffled(kinds, 5, seed)
    assert np.array_equal(made, shuffled(kinds, 5, seed))
    for row in made:
        assert sorted(row) == list(range(len(kinds)))
        assert [kinds[i] for i in row] == kinds
