import pytest

from calque.analysis.tasks.finetune import FinetuneConfig
from calque.experiments.studies import given

TABLE = """
[pos]
languages = { fr = "French", de = "German" }
train = "ud/train.conllu"
dev = ["ud/a.conllu", "ud/b.conllu or ud/c.conllu"]
tests = "ud/{name}/{code}.conllu"
files = { held_out = 7 }
finetune = { epochs = 3 }

[nli]
languages = "fr de"
train = "train.tsv"
tests = "first-{code}.tsv or second-{code}.tsv"
"""


@pytest.fixture
def table(tmp_path):
    (tmp_path / "tasks.toml").write_text(TABLE)
    return tmp_path / "tasks.toml"


def test_tasks_from_a_table(table, tmp_path):
    usual = FinetuneConfig(epochs=5, batch=9)
    tasks = given.tasks_of(table, tmp_path, usual)
    assert list(tasks) == ["pos", "nli"]
    pos, nli = tasks["pos"], tasks["nli"]
    assert (pos.finetune, nli.finetune) == (FinetuneConfig(epochs=3, batch=9), usual)
    assert pos.files and nli.files
    assert pos.files.train == (tmp_path / "ud/train.conllu",)
    assert pos.files.dev == (tmp_path / "ud/a.conllu", tmp_path / "ud/c.conllu")
    assert pos.files.held_out == 7
    assert pos.tests == {"fr": (tmp_path / "ud/French/fr.conllu",), "de": (tmp_path / "ud/German/de.conllu",)}
    assert nli.tests == {name: (tmp_path / f"second-{name}.tsv",) for name in ("fr", "de")}
    assert nli.files.test == ()
