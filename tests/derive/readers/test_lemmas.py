"""The LEMMA column of CoNLL-U."""

from pathlib import Path

import pytest

from derive.errors import BadInput
from derive.readers.conllu import read_lemmas

TEXT = """# text = Dogs don't
1\tDogs\tdog\tNOUN\t_\t_\t2\tnsubj\t_\t_
2-3\tdon't\t_\t_\t_\t_\t_\t_\t_\t_
2\tdo\tdo\tAUX\t_\t_\t0\troot\t_\t_
3\tn't\t_\tPART\t_\t_\t2\tadvmod\t_\t_
3.1\tbark\tbark\tVERB\t_\t_\t_\t_\t_\t_

"""


def test_words_come_with_their_lemmas(tmp_path: Path) -> None:
    path = tmp_path / "a.conllu"
    path.write_text(TEXT)
    assert list(read_lemmas(path)) == [("Dogs", "dog"), ("do", "do")]  # neither tokens nor nodes, nor without a lemma
    path.write_text(TEXT + "1\tno columns\n")
    with pytest.raises(BadInput, match=r"a\.conllu:8: 2 columns between tabs; expected 10"):
        list(read_lemmas(path))


def test_real_treebanks_have_lemmas(calque_data: Path) -> None:
    path = next((calque_data / "ud").rglob("*en_ewt*dev*.conllu"), None)
    if path is None:
        pytest.skip("no English treebank among the data")
    found = dict(read_lemmas(path))
    assert {found["was"], found["is"]} == {"be"}
