"""Labelled files that data sets, exports and tools really produce: each gives the right value or one clear refusal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from derive.artefact import Artefact
from derive.errors import BadInput
from derive.example import Example
from derive.natural_task import write_natural_task
from derive.readers.nli import MISSING, read_nli
from derive.sources.files import NO_TRANSLATION, WRITTEN, TaskFiles
from derive.task_data import KIND, TaskFolder


def file(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def refusal(path: Path, line: int | None = None) -> str:
    """What the one line of an error begins with."""
    return f"{path}: " if line is None else f"{path}:{line}: "


# Pairs: PAWS-X writes NS where a sentence has no translation, and its translated training files have blank sides.


def pairs(path: Path, size: int, missing: dict[int, str] | None = None, language: str = "en") -> Path:
    """Pairs `size`; of those whose number is in `missing` the second side is that text."""
    rows = [
        f"{i}\t{language} {i} one .\t{(missing or {}).get(i, f'{language} {i} two .')}\t{i % 2}" for i in range(size)
    ]
    return file(path, "\n".join(["id\tsentence1\tsentence2\tlabel", *rows, ""]))


def numbers(examples: Sequence[Example]) -> list[int]:
    return [int(example.texts[0][0].words[1]) for example in examples]


@pytest.mark.parametrize("side", ["NS", " NS ", "ns", "", "  "])
@pytest.mark.parametrize("task", ["paraphrase", "nli"])
def test_a_pair_with_a_missing_side_is_left_out_and_counted(tmp_path: Path, side: str, task: str) -> None:
    path = file(tmp_path / "a.tsv", f"One .\tTwo .\t1\nOne .\t{side}\t0\n{side}\tTwo .\t0\nOne .\tNS one .\t0\n")
    counts: Counter[str] = Counter()
    files = TaskFiles((path,), (path,), (path,))
    texts = [
        [s.text for text in example.texts for s in text]
        for example in files.read_tested((path,), WRITTEN[task], counts)
    ]
    assert texts == [["One .", "Two ."], ["One .", "NS one ."]]
    assert counts == {MISSING: 2}
    assert files.load(WRITTEN[task]).left_out == {split: {MISSING: 2} for split in ("train", "dev", "test")}


def test_a_file_in_which_most_pairs_lack_a_side_is_refused(tmp_path: Path) -> None:
    path = pairs(tmp_path / "a.tsv", 5, {1: "", 2: "NS", 4: ""})
    with pytest.raises(BadInput) as refused:
        list(read_nli(path))
    assert str(refused.value).startswith(refusal(path, 3)) and "3 of 5" in str(refused.value)


def test_of_parallel_test_sets_the_same_lines_are_drawn_whichever_are_missing(tmp_path: Path) -> None:
    missing = dict.fromkeys(range(0, 40, 3), "NS")
    whole, translated = pairs(tmp_path / "en.tsv", 40), pairs(tmp_path / "de.tsv", 40, missing, "de")
    files = TaskFiles((whole,), (whole,), (whole,), tested=15)
    counts: Counter[str] = Counter()
    english = numbers(files.read_tested((whole,), WRITTEN["paraphrase"], Counter()))
    german = numbers(files.read_tested((translated,), WRITTEN["paraphrase"], counts))
    assert german == [i for i in english if i not in missing]
    assert counts == {"over the limit": 25, MISSING: 15 - len(german)} and len(german) < 15


def test_what_one_translation_of_training_pairs_lacks_no_language_is_trained_on(tmp_path: Path) -> None:
    own = pairs(tmp_path / "en.tsv", 30, {2: "NS", 3: "NS"})
    others = {
        "de": (pairs(tmp_path / "de.tsv", 30, {3: "NS", 7: "NS", 8: "NS"}, "de"),),
        "fr": (pairs(tmp_path / "fr.tsv", 30, {8: "", 9: "ns"}, "fr"),),
    }
    files = TaskFiles((own,), (own,), (own,), held_out=0)
    made = tmp_path / "made"
    folder = TaskFolder.open(write_natural_task("paraphrase", files, {"de": others["de"]}, made, translations=others))
    expected = [i for i in range(30) if i not in (2, 3, 7, 8, 9)]
    assert numbers(list(folder.examples("train"))) == expected
    for name in others:
        examples = list(folder.examples("train", name))
        assert numbers(examples) == expected and {e.texts[1][0].words[0] for e in examples} == {name}
    facts = Artefact.open(made, KIND).facts
    assert facts["splits"]["train"] == {"examples": 25, "left out": {MISSING: 2, NO_TRANSLATION: 3}}
    assert facts["trains"]["de"] == {"examples": 25, "left out": {MISSING: 2, NO_TRANSLATION: 3}}
    assert facts["trains"]["fr"] == {"examples": 25, "left out": {MISSING: 2, NO_TRANSLATION: 3}}
    assert facts["tests"]["de"] == {"examples": 27, "left out": {MISSING: 3}}


def test_real_placeholders(calque_data: Path) -> None:
    folder = calque_data / "nli" / "pawsx"
    for language, lacking in {"de": 68, "es": 38, "fr": 8, "ja": 20, "ko": 36, "zh": 16, "en": 0}.items():
        path, counts = folder / f"dev-{language}.tsv", Counter[str]()
        files = TaskFiles((path,), (path,), (path,))
        examples = files.read_tested((path,), WRITTEN["paraphrase"], counts)
        assert (len(examples), counts[MISSING]) == (2_000 - lacking, lacking)
        assert not any(text[0].words == ("NS",) for example in examples for text in example.texts)
