import csv
import gzip
from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from calque.derive.readers.lines import Lines, cut_file
from calque.derive.readers.tables import QUOTED, Table


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


fields, quoting = (
    st.text(st.sampled_from('ab" ,'), max_size=6),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
)


@settings(max_examples=500)
@given(st.lists(st.tuples(fields, fields), min_size=2, max_size=6), quoting)
def test_quoted_fields_are_read_as_unquoted_ones(tmp_path_factory, rows, quoting):
    path = tmp_path_factory.getbasetemp() / "rows.tsv"
    with path.open("w", newline="") as out:
        csv.writer(out, delimiter="\t", quoting=quoting, lineterminator="\n").writerows(rows)
    counts = Counter()
    assert [line for _, line in Table(path, counts)] == ["\t".join(row) for row in rows]
    marked = sum(quoting == csv.QUOTE_ALL or '"' in field for row in rows for field in row)
    assert +counts == +Counter({QUOTED: marked})
