"""Held-out text: both parts together are the whole, and no sentence is in both, in any language."""

from __future__ import annotations

import numpy as np
import pytest

from derive.build import derive_languages
from derive.dictionary import DictionaryConfig
from derive.errors import BadInput
from derive.held_out import all_but_last, only_last
from derive.languages import Languages
from derive.pocket.language import Pocket
from derive.reorder import PocketTreebank, Reorder
from derive.script import Transliterate
from derive.sources.pocket import PocketEnglish, Sizes
from derive.transform import compose

FEW = Sizes(10, 5, 5)
ORDER = Reorder(PocketTreebank("romance"), PocketTreebank("english"), oversize="drop")


@pytest.fixture(scope="module")
def languages(tmp_path_factory: pytest.TempPathFactory) -> Languages:
    """A new script, and one with sentences left out."""
    out = tmp_path_factory.mktemp("held") / "data"
    transforms = Transliterate(), compose(Transliterate(0.25), ORDER)
    source = PocketEnglish(Pocket(types=300), 400, FEW, FEW, FEW)
    derive_languages(source, transforms, 500, DictionaryConfig(), out, out.parent / "cache")
    return Languages.open(out, [transform.name for transform in transforms])


@pytest.mark.parametrize("share", [0.01, 0.3, 0.95])
def test_the_two_parts_are_the_whole(languages: Languages, share: float) -> None:
    parts = [all_but_last(languages, share), only_last(languages, share)]
    first = len(languages.languages[0].corpus) - round(share * len(languages.languages[0].corpus))
    for language in languages.languages:
        corpus, pieces = language.corpus, [part[language.name].corpus for part in parts]
        for name in ("tokens", "pieces", "origin"):
            both = np.concatenate([getattr(piece, name) for piece in pieces])
            assert np.array_equal(both, getattr(corpus, name)), name
        assert sum(map(len, pieces)) == len(corpus)
        lines = [piece[line].tolist() for piece in pieces for line in range(len(piece))]
        assert lines == [corpus[line].tolist() for line in range(len(corpus))]
        orders = [piece.order(line).tolist() for piece in pieces for line in range(len(piece))]
        assert orders == [corpus.order(line).tolist() for line in range(len(corpus))]
        assert pieces[0].source_line.max() < first
        assert np.array_equal(
            np.concatenate([pieces[0].source_line, pieces[1].source_line + first]), corpus.source_line
        )


def test_what_is_held_out_is_parallel_too(languages: Languages) -> None:
    held = only_last(languages, 0.3)
    for bitext in held.bitexts:
        for pair in (0, len(bitext) - 1):
            source, derived = bitext.ids(pair)
            targets = bitext.targets(pair)
            assert np.array_equal(bitext.second.table[source], derived[targets])


def test_nothing_is_held_out_where_none_is_asked_for(languages: Languages) -> None:
    assert all_but_last(languages, 0.0) is languages


@pytest.mark.parametrize(("share", "message"), [(0.999, "none is left"), (0.001, "none is held out")])
def test_a_part_without_a_sentence_is_refused(languages: Languages, share: float, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        only_last(languages, share)
