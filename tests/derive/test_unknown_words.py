from pathlib import Path

import numpy as np
import pytest

from calque.derive.build import derive_languages
from calque.derive.dictionary import DictionaryConfig, read_dictionary
from calque.derive.languages import Languages
from calque.derive.script import Transliterate
from calque.derive.sources.files import Files
from calque.derive.transforms import transform
from calque.derive.types import OURS
from calque.derive.vocabulary import Vocabulary

TEXT = """ = Lobster <unk> =\x20
\x20
 The <unk> lobster sat on the <unk> @-@ shaped rock . It ate <unk> and 1 @,@ 000 <unk> .\x20
 <unk> slept .\x20
"""


def put(path: Path, text: str = TEXT) -> Path:
    path.write_text(text, "utf-8")
    return path


@pytest.fixture(scope="module")
def derived(tmp_path_factory: pytest.TempPathFactory) -> Languages:
    folder = tmp_path_factory.mktemp("unknown")
    source, transforms = (
        Files((put(folder / "wiki.tokens", TEXT * 30),)),
        (Transliterate(), transform("trans.inv")),
    )
    derive_languages(source, transforms, 300, DictionaryConfig(fraction=1.0), folder / "made", folder)
    return Languages.open(folder / "made", ["trans", "trans.inv"])


def test_derived_languages_share_the_unknown_type_and_learn_no_letter_of_it(derived: Languages) -> None:
    types = Vocabulary.load(derived.folder / "vocabulary")
    assert types.counts[OURS.unknown] == 5 * 30
    assert not any(types.counts[list(types.encode(letter))].any() for letter in "<>")
    assert "unk" not in "".join(types.text([i]) for i in types.types)
    for language in derived.languages:
        assert (language.ids(np.asarray(language.corpus.tokens)) == OURS.unknown).sum() == 5 * 30
    source, inverted = (derived[name].corpus for name in ("source", "trans.inv"))
    assert source[2].tolist()[0] == inverted[2].tolist()[-2] == OURS.unknown  # the final mark stays last
    for name in ("trans", "trans.inv"):
        assert OURS.unknown not in read_dictionary(derived.folder / name / "dictionary.tsv")
