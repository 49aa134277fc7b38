"""Bytes an id: all languages of the paper have a script, and what is measured is measured again."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path

import pytest
from tokenizers import Tokenizer

from analysis.papers.published import corpora
from experiments.planning.token_sizes import LETTERS, MEASURED, token_size

CODES = corpora("xlm_align")["CCNet"].gigabytes.keys()


def test_every_language_of_the_paper_has_one_script() -> None:
    written = Counter(language for languages in LETTERS.values() for language in languages.split())
    assert written.keys() == CODES
    assert set(written.values()) == {1}


def test_how_many_are_measured_and_how_many_assumed() -> None:
    assert Counter(token_size(code).basis for code in CODES) == {"measured": 19, "script": 50, "width": 18}


def test_an_assumed_size_is_the_mean_of_its_script_or_of_scripts_with_letters_as_wide() -> None:
    assert token_size("uk") == ((6.98 + 7.22) / 2, "script")
    assert token_size("mr") == (8.82, "script")
    two_bytes = pytest.approx(((6.98 + 7.22) / 2 + (5.94 + 6.06) / 2 + 6.44) / 3)
    assert token_size("he") == token_size("hy") == (two_bytes, "width")
    assert token_size("ta").bytes == pytest.approx((8.82 + 10.67) / 2)  # Devanagari and Thai, and no Chinese


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    """XLM-R's, of the encoder that CALQUE_ENCODER names."""
    if not (encoder := os.environ.get("CALQUE_ENCODER")):
        pytest.skip("CALQUE_ENCODER names no encoder")
    return Tokenizer.from_file(str(Path(encoder) / "tokenizer.json"))


@pytest.fixture(scope="module")
def texts(calque_data: Path) -> dict[str, list[str]]:
    """The text of each measured language: XNLI's dev set, XQuAD's paragraphs, treebanks' sentences."""
    found: dict[str, list[str]] = {language: [] for language in MEASURED}
    for path in sorted(calque_data.glob("nli/xnli/dev-*.tsv")):
        for line in path.read_text(encoding="utf-8").split("\n"):
            found[path.stem.removeprefix("dev-")] += line.split("\t")[:2] if line else []
    for path in sorted(calque_data.glob("qa/xquad/*.json")):
        articles = json.loads(path.read_text(encoding="utf-8"))["data"]
        found[path.suffixes[0][1:]] += [
            paragraph["context"] for article in articles for paragraph in article["paragraphs"]
        ]
    for path in sorted(calque_data.glob("ud/*/*.conllu")):
        language = path.name.partition("_")[0]
        if "PUD" in path.parent.name or language in ("ga", "ja", "ko", "tr"):
            lines = path.read_text(encoding="utf-8").split("\n")
            found[language] += [line[9:] for line in lines if line.startswith("# text = ")]
    return found


def test_measured_again(texts: dict[str, list[str]], tokenizer: Tokenizer) -> None:
    for language, lines in texts.items():
        part = lines[:: max(1, len(lines) // 800)]
        ids = sum(len(encoding.ids) for encoding in tokenizer.encode_batch(part, add_special_tokens=False))
        size = sum(len(line.encode()) + 1 for line in part)
        assert size / ids == pytest.approx(MEASURED[language], rel=0.04), language
