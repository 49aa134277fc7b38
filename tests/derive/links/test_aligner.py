"""What got no links, counted."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calque.derive.errors import BadInput
from calque.derive.links.aligner import LeftOut, line_of, write_lines
from calque.derive.readers.links import read_linked, read_links, read_scored


def test_reasons_are_counted_and_the_first_lines_named() -> None:
    left_out = LeftOut()
    for line in range(1, 9):
        left_out.add("pairs", line)
    left_out.add("words", 3, 20)
    left_out.add("words", 3, 2)
    assert left_out.described() == ["8 pairs (line 1, 2, 3, 4, 5 …)", "22 words (line 3)"]
    assert left_out.counts == {"pairs": 8, "words": 22}
    for line in range(1, 6):  # all that are named are all
        left_out.add("lines", line)
    assert left_out.described()[-1] == "5 lines (line 1, 2, 3, 4, 5)"


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


def test_lines_are_pharaohs() -> None:
    assert line_of([(0, 0), (1, 2)]) == "0-0 1-2"
    assert line_of({(0, 0): 0.98, (1, 2): 1 / 3}) == "0-0:0.98 1-2:0.333333"
    assert line_of([]) == ""


def test_links_without_a_score_have_1(tmp_path: Path) -> None:
    (tmp_path / "links").write_text("2-1:0.5 0-0\n\n")
    assert list(read_scored(tmp_path / "links")) == [{(0, 0): 1.0, (2, 1): 0.5}, {}]


@pytest.mark.parametrize("text", ["0_0", "0-", "-1-0", "0-0:", "0-0:much", "0-0:nan", "1-2-3", "0p0"])
def test_what_is_no_link_is_told_with_its_line(text: str, tmp_path: Path) -> None:
    path = tmp_path / "links"
    path.write_text(f"0-0\n{text}\n")
    with pytest.raises(BadInput, match=rf"{path}:2: '{text}' "):
        list(read_links(path))


def test_a_cut_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "links").write_text("0-0\n1-")
    with pytest.raises(BadInput, match="truncated"):
        list(read_links(tmp_path / "links"))


def test_nothing_is_left_of_a_file_that_was_not_finished(tmp_path: Path) -> None:
    def broken() -> object:
        yield [(0, 0)]
        raise RuntimeError

    with pytest.raises(RuntimeError):
        write_lines(tmp_path / "links", map(line_of, broken()))  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())


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
