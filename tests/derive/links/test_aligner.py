"""Links that are written are read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque.derive.links.aligner import line_of, write_lines
from calque.derive.readers.links import read_links

LINKS = st.lists(st.lists(st.tuples(st.integers(0, 99), st.integers(0, 99)), unique=True).map(sorted), min_size=1)


@given(LINKS)
def test_what_is_written_is_read(tmp_path_factory: pytest.TempPathFactory, pairs: list[list[tuple[int, int]]]) -> None:
    path = tmp_path_factory.getbasetemp() / "links"
    write_lines(path, map(line_of, pairs))
    assert list(read_links(path)) == pairs
