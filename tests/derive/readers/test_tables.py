import csv
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calque.derive.readers.tables import QUOTED, Table

Rows = list[tuple[str, ...]]


fields, quoting = (
    st.text(st.sampled_from('ab" ,'), max_size=6),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
)


@settings(max_examples=500)
@given(st.lists(st.tuples(fields, fields), min_size=2, max_size=6), quoting)
def test_quoted_fields_are_read_as_unquoted_ones(
    tmp_path_factory: pytest.TempPathFactory, rows: Rows, quoting: int
) -> None:
    path = tmp_path_factory.getbasetemp() / "rows.tsv"
    with path.open("w", encoding="utf-8", newline="") as out:
        csv.writer(out, delimiter="\t", quoting=quoting, lineterminator="\n").writerows(rows)
    counts = Counter[str]()
    assert [line for _, line in Table(path, counts)] == ["\t".join(row) for row in rows]
    marked = sum(quoting == csv.QUOTE_ALL or '"' in field for row in rows for field in row)
    assert +counts == +Counter({QUOTED: marked})
