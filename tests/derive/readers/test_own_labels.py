"""Labels of your own for words, texts and pairs of texts, and hostile files in place of them."""

import json
from collections import Counter
from pathlib import Path

import pytest

from calque.derive.sources.files import READERS, TaskFiles, written

ROWS = {
    "text_labels": [("It rains.", "weather"), ("He eats. She drinks.", "-1"), ("She eats.", "food")],
    "pair_labels": [("It rains.", "It is wet.", "2"), ("He eats.", "He sings.", "-"), ("A.", "B.", "far")],
}
NAMES = {"text_labels": ("text", "label"), "pair_labels": ("sentence1", "sentence2", "label")}


@pytest.mark.parametrize("task", ROWS)
def test_rows_are_the_same_as_tsv_with_or_without_a_header_and_as_json(task: str, tmp_path: Path) -> None:
    tsv = "".join("\t".join(row) + "\n" for row in ROWS[task])
    forms = [tsv, "\t".join(NAMES[task]) + "\n" + tsv, "\ufeff" + tsv.replace("\n", "\r\n"), tsv.removesuffix("\n")]
    forms.append("".join(json.dumps(dict(zip(NAMES[task], row, strict=True))) + "\n" for row in ROWS[task]))
    for form in forms:
        (tmp_path / "rows").write_text(form, "utf-8")
        counts: Counter[str] = Counter()
        examples = list(READERS[task](tmp_path / "rows", counts))
        assert [example.label for example in examples] == [label for *_, label in ROWS[task]] and not +counts
        assert [len(example.texts) for example in examples] == [len(NAMES[task]) - 1] * 3
        assert [len(example.texts[0]) for example in written(task)(tmp_path / "rows", counts)] == [1, 1, 1]
    assert {
        len(split) for split in TaskFiles((tmp_path / "rows",), held_out=1).load(READERS[task]).examples.values()
    } == {1}
