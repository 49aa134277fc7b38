"""What got no links, counted."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque.derive.errors import BadInput
from calque.derive.links.aligner import line_of, write_lines
from calque.derive.readers.links import read_linked, read_links, read_scored

LINKS = st.lists(st.lists(st.tuples(st.integers(0, 99), st.integers(0, 99)), unique=True).map(sorted), min_size=1)


@given(LINKS)
def test_what_is_written_is_read(tmp_path_factory: pytest.TempPathFactory, pairs: list[list[tuple[int, int]]]) -> None:
    path = tmp_path_factory.mktemp("links") / "links"
    write_lines(path, map(line_of, pairs))
    assert list(read_links(path)) == pairs
    scored = [{link: (i + 1) / 64 for i, link in enumerate(links)} for links in pairs]
    write_lines(path, map(line_of, scored))
    assert list(read_scored(path)) == scored
    assert list(read_links(path)) == pairs


def test_a_cut_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "links").write_text("0-0\n1-")
    with pytest.raises(BadInput, match="truncated"):
        list(read_links(tmp_path / "links"))


def test_pairs_have_the_links_of_their_lines(tmp_path: Path) -> None:
    pairs = [(("a", "b"), ("x",)), (("c",), ("y", "z"))]
    path = tmp_path / "links"
    path.write_text("1-0:0.5\n\n")
    assert list(read_linked(pairs, path)) == [(pairs[0], {(1, 0): 0.5}), (pairs[1], {})]
    for text, said in (
        ("1-0\n1-1\n", "links:2: 1-1 is outside sentences of 1 and 2 words"),
        ("0-0\n", "links: has only 1 lines; sentence pair 2 has none"),
        ("0-0\n0-0\n\n", "links: more lines of links than the 2 sentence pairs"),
    ):
        path.write_text(text)
        with pytest.raises(BadInput, match=said):
            list(read_linked(pairs, path))
