"""Pairs and questions that data sets, exports and tools really produce: the right value or one clear refusal."""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from calque.derive.artefact import Artefact
from calque.derive.errors import BadInput
from calque.derive.example import Example
from calque.derive.readers import nli, squad
from calque.derive.readers.squad import read_questions
from calque.derive.sources import files as sources
from calque.derive.sources.files import TaskFiles, written
from calque.derive.task_data import KIND, TaskFolder, write_natural_task

Asked = Callable[..., dict[str, object]]
Write = Callable[..., Path]


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


@pytest.mark.parametrize("side", ["NS", " NS ", "ns", "", "  ", "<range>", "#N/A", "#NAME?"])
@pytest.mark.parametrize("task", ["paraphrase", "nli"])
def test_a_pair_with_a_missing_side_is_left_out_and_counted(tmp_path: Path, side: str, task: str) -> None:
    path = file(tmp_path / "a.tsv", f"One .\tTwo .\t1\nOne .\t{side}\t0\n{side}\tTwo .\t0\nOne .\tNS one .\t0\n")
    counts: Counter[str] = Counter()
    files = TaskFiles((path,), (path,), (path,))
    texts = [
        [s.text for text in example.texts for s in text]
        for example in files.read_tested((path,), written(task), counts)
    ]
    assert texts == [["One .", "Two ."], ["One .", "NS one ."]]
    assert counts == {nli.MISSING: 2}
    assert files.load(written(task)).left_out == {split: {nli.MISSING: 2} for split in ("train", "dev", "test")}


def test_a_file_in_which_most_pairs_lack_a_side_is_refused(tmp_path: Path) -> None:
    path = pairs(tmp_path / "a.tsv", 5, {1: "", 2: "NS", 4: ""})
    with pytest.raises(BadInput) as refused:
        list(nli.read_nli(path))
    assert str(refused.value).startswith(refusal(path, 3)) and "3 of 5" in str(refused.value)


def test_of_parallel_test_sets_the_same_lines_are_drawn_whichever_are_missing(tmp_path: Path) -> None:
    missing = dict.fromkeys(range(0, 40, 3), "NS")
    whole, translated = pairs(tmp_path / "en.tsv", 40), pairs(tmp_path / "de.tsv", 40, missing, "de")
    files = TaskFiles((whole,), (whole,), (whole,), tested=15)
    counts: Counter[str] = Counter()
    english = numbers(files.read_tested((whole,), written("paraphrase"), Counter()))
    german = numbers(files.read_tested((translated,), written("paraphrase"), counts))
    assert german == [i for i in english if i not in missing]
    assert counts == {"over the limit": 25, nli.MISSING: 15 - len(german)} and len(german) < 15


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
    train = Artefact.open(made, KIND).facts["splits"]["train"]
    by_language = train.pop("languages")
    assert train == {"examples": 25, "left out": {nli.MISSING: 2, sources.NO_TRANSLATION: 3}}
    assert by_language["de"] == {"examples": 25, "left out": {nli.MISSING: 3, sources.NO_TRANSLATION: 2}}
    assert by_language["fr"] == {"examples": 25, "left out": {nli.MISSING: 2, sources.NO_TRANSLATION: 3}}


def test_parallel_test_sets_stay_parallel(tmp_path: Path) -> None:
    """Of the drawn lines, what one of them lacks is asked in none; sets of another size are no translations of them."""
    own = pairs(tmp_path / "en.tsv", 30)
    tests = {
        "de": (pairs(tmp_path / "de.tsv", 30, dict.fromkeys(range(0, 30, 4), "NS"), "de"),),
        "fr": (pairs(tmp_path / "fr.tsv", 30, dict.fromkeys(range(0, 30, 3), ""), "fr"),),
        "zh": (pairs(tmp_path / "zh.tsv", 31, {1: "NS"}, "zh"),),
    }
    files = TaskFiles((own,), (own,), (own,), tested=20)
    drawn = numbers(files.read_tested((own,), written("paraphrase"), Counter()))
    folder = TaskFolder.open(write_natural_task("paraphrase", files, tests, tmp_path / "made"))
    expected = [i for i in drawn if i % 4 and i % 3]
    assert 0 < len(expected) < len(drawn) == 20
    assert numbers(list(folder.examples("test"))) == expected
    assert [numbers(list(folder.examples("test", name))) for name in ("de", "fr")] == [expected] * 2
    assert numbers(list(folder.examples("dev"))) == drawn
    by_language = Artefact.open(tmp_path / "made", KIND).facts["splits"]["test"]["languages"]
    own_missing = sum(i % 4 == 0 for i in drawn)
    counted = {"over the limit": 10, nli.MISSING: own_missing, sources.NO_TRANSLATION: 20 - own_missing - len(expected)}
    assert by_language["de"] == {"examples": len(expected), "left out": counted}
    assert sources.NO_TRANSLATION not in by_language["zh"]["left out"]


def test_real_placeholders(calque_data: Path) -> None:
    folder = calque_data / "nli" / "pawsx"
    for language, lacking in {"de": 68, "es": 38, "fr": 8, "ja": 20, "ko": 36, "zh": 16, "en": 0}.items():
        path, counts = folder / f"dev-{language}.tsv", Counter[str]()
        files = TaskFiles((path,), (path,), (path,))
        examples = files.read_tested((path,), written("paraphrase"), counts)
        assert (len(examples), counts[nli.MISSING]) == (2_000 - lacking, lacking)
        assert not any(text[0].words == ("NS",) for example in examples for text in example.texts)


def test_pairs_between_commas_are_refused(tmp_path: Path) -> None:
    path = file(tmp_path / "a.csv", "premise,hypothesis,label\nA,B,0\n")
    with pytest.raises(BadInput, match=r"a\.csv:1: 1 tab-separated columns; expected premise, hypothesis, label"):
        list(written("nli")(path, Counter()))


# Questions: answers that were removed or never there, and rows as data sets are exported.

CONTEXT = "It opened in 1931."


def question(name: str, *answers: tuple[str, int], **more: object) -> dict[str, object]:
    listed = [{"text": text, "answer_start": start} for text, start in answers]
    return {"id": name, "question": "When?", "answers": listed, **more}


def exported(name: str, *answers: tuple[str, int], **more: object) -> dict[str, object]:
    columns = {"text": [text for text, _ in answers], "answer_start": [start for _, start in answers]}
    return {"id": name, "title": "t", "context": CONTEXT, "question": "When?", "answers": columns, **more}


def articles(path: Path, *questions: dict[str, object]) -> Path:
    return file(path, json.dumps({"data": [{"paragraphs": [{"context": CONTEXT, "qas": questions}]}]}))


def rows(path: Path, *questions: dict[str, object]) -> Path:
    return file(path, "".join(f"{json.dumps(row)}\n" for row in questions))


def rows_with_context_first(path: Path, *questions: dict[str, object]) -> Path:
    return rows(path, *({"context": row["context"], **row} for row in questions))


def data(path: Path, *questions: dict[str, object]) -> Path:
    return file(path, json.dumps({"data": questions}, indent=2))


def answers(path: Path) -> tuple[dict[str, list[str]], dict[str, int]]:
    counts: Counter[str] = Counter()
    found = {}
    for example in written("qa")(path, counts):
        (context,) = example.texts[1]
        found[example.id] = [" ".join(context.words[span.start : span.end]) for span in context.spans]
    return found, counts


@pytest.mark.parametrize(
    ("write", "asked"), [(articles, question), (rows, exported), (rows_with_context_first, exported), (data, exported)]
)
def test_questions_without_an_answer_are_left_out_and_counted(tmp_path: Path, write: Write, asked: Asked) -> None:
    path = write(
        tmp_path / "a.json",
        asked("1", ("1931", 13)),
        asked("2", ("", 0)),
        asked("3"),
        asked("4", ("", 0), ("1931", 13)),
        asked("5", is_impossible=True, plausible_answers=[{"text": "1931", "answer_start": 13}]),
    )
    counted = {squad.UNANSWERABLE: 2, squad.REMOVED: 1, "empty answers of questions that have others": 1}
    assert answers(path) == ({"1": ["1931"], "4": ["1931"]}, counted)
    with pytest.raises(BadInput) as refused:
        answers(write(path, asked("1", ("", 0)), asked("2", ("", -1))))
    assert str(refused.value).startswith(refusal(path)) and "2 questions" in str(refused.value)


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (exported("1", ("1931", -1)), "-1"),
        (exported("1", ("1932", 13)), "'1932'"),
        (exported("1") | {"answers": {"text": ["1931"], "answer_start": []}}, "answer_start"),
        (exported("1") | {"answers": {"text": "1931", "answer_start": 13}}, "answer_start"),
        (exported("1") | {"answers": {"text": ["1931"], "answer_start": [13.0]}}, "13.0"),
        (exported("1") | {"answers": None}, "answers"),
        (exported("1", ("1931", 13)) | {"context": "\0"}, "context"),
    ],
)
def test_rows_that_cannot_be_read_are_refused_with_their_line(
    tmp_path: Path, made: dict[str, object], said: str
) -> None:
    path = rows(tmp_path / "a.jsonl", exported("0", ("1931", 13)), made)
    with pytest.raises(BadInput) as refused:
        answers(path)
    assert str(refused.value).startswith(refusal(path, 2)) and said in str(refused.value)


def test_a_row_of_questions_may_begin_with_its_context(tmp_path: Path) -> None:
    row = '{"context": "It opened in 1931 .", "id": "q", "question": "When ?", %s"answers": %s}\n'
    answers = '{"text": ["1931"], "answer_start": [13]}'
    assert [one.id for one in read_questions(file(tmp_path / "a.jsonl", row % ("", answers)))] == ["q"]
    path = file(tmp_path / "b.jsonl", row % ('"is_impossible": "true", ', answers))
    with pytest.raises(BadInput, match="'true'") as refused:
        list(read_questions(path))
    assert str(refused.value).startswith(refusal(path, 1))
