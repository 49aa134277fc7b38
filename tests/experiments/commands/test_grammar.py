"""`calque grammar`, and another word order on the command line."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from calque.derive.pocket.language import Pocket
from calque.derive.reorder import treebank
from calque.derive.sentence import Sentence
from calque.derive.transforms import transform
from calque.experiments.cli import app
from tests.treebanks import write_treebank


@pytest.fixture(scope="module")
def ud(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as UD's: two small languages, one with a PUD treebank beside it."""
    folder = tmp_path_factory.mktemp("data")
    for name, order in (
        ("en_made-ud-train", "english"),
        ("ko_made-ud-test", "verbfinal"),
        ("ko_pud-ud-test", "english"),
    ):
        write_treebank(folder / "ud" / f"UD_{name}" / f"{name}.conllu", Pocket(order=order).sentences(300))
    verbless = Sentence(("go", "!"), ("VERB", "PUNCT"), (-1, 0), ("root", "punct"))
    write_treebank(folder / "ud" / "UD_xx_verbless" / "xx_verbless.conllu", [verbless])
    return folder


@pytest.fixture
def here(ud: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CALQUE_DATA", str(ud))
    return tmp_path


def run(*arguments: object) -> str:
    result = CliRunner().invoke(app, [str(one) for one in arguments])
    assert result.exit_code == 0, result.output
    return result.output


def test_compare_writes_the_table_and_the_figure(here: Path) -> None:
    said = run("grammar", "compare", "ko", "--out", "word-order")
    assert "| objects after verbs | 0.9" in said
    assert (here / "word-order" / "word-order-ko.png").exists()


def test_the_other_treebank_of_a_language_comes_before_pud(here: Path) -> None:
    assert [path.name for path in treebank("ko")] == ["ko_made-ud-test.conllu"]
    assert treebank("fr") == ()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["grammar", "compare", "fr"], "no word order is called 'fr'"),
        (["grammar", "compare", "ko", "--sentences", "none.conllu"], "no such file"),
        (["grammar", "compare", "xx"], "verbless.conllu: no order to learn: the treebank has no"),
        (["grammar", "compare", "*"], "no word order is called '*'"),
        (["show", "A word .", "syn:fr"], "no word order is called 'fr'"),
        (["show", "A word .", "syn:ko"], "needs a tree"),
        (["show", "A word .", "syn:ko", "--parser", "none"], "none"),
    ],
)
def test_bad_input_is_one_line(here: Path, arguments: list[str], said: str) -> None:
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 2
    assert said in result.output
    assert len(result.output.strip().splitlines()) == 1


@pytest.mark.parametrize(
    "name", ["syn-ko", "trans.syn-ko", "syn-ko-25", "syn-ko-p50", "syn-ko-12.5-p0.5", "syn-romance"]
)
def test_word_orders_are_written_as_they_name_themselves(here: Path, name: str) -> None:
    assert transform(name).name == name
    assert transform(name.replace("syn-", "syn:")).name == name
