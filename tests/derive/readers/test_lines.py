import gzip
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from calque.derive.readers.lines import Lines, cut_file


@given(
    lines=st.lists(st.text("ab ", max_size=9), min_size=1, max_size=30),
    size=st.integers(1, 60),
    whole=st.booleans(),
)
def test_blocks_make_up_the_file_and_end_with_a_record(lines, size, whole, tmp_path_factory):
    data = "\n".join([*lines, ""] if whole else [*lines, "end"]).encode()
    folder = tmp_path_factory.mktemp("blocks")
    plain, packed = folder / "text", folder / "text.gz"
    plain.write_bytes(data)
    packed.write_bytes(gzip.compress(data))
    made = list(cut_file(plain, "text", size))
    assert sum(chunk.length for chunk in made) == len(data)
    found = [numbered for chunk in made for numbered in chunk.numbered(Counter())]
    assert found == list(Lines(plain))
    again = [each for chunk in cut_file(packed, "text", size) for each in chunk.numbered(Counter())]
    assert [(place.line, line) for place, line in again] == [(place.line, line) for place, line in found]
