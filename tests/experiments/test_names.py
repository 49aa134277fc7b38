"""Words to objects, and back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from derive.errors import BadInput
from derive.order import Invert, Permute
from derive.script import By, Cognates, Transliterate
from derive.transform import Transform, compose
from experiments import names
from pretrain.mixture import Mixture, Phase
from pretrain.objective import GOLD, GROWN, Objective
from pretrain.objectives.after import After
from pretrain.objectives.align_mlm import align_mlm
from pretrain.objectives.dict_mlm import DictMLM
from pretrain.objectives.link import Link
from pretrain.objectives.mlm import MLM
from pretrain.objectives.ppa import PPA
from pretrain.objectives.prealign import PreAlign
from pretrain.objectives.weam import WEAM
from pretrain.objectives.word_aligned import WordAligned
from pretrain.objectives.xlm import xlm
from pretrain.objectives.xlm_align import DWA, xlm_align

shares = st.integers(1, 999).map(lambda tenths: tenths / 1000)
scripts = (
    st.builds(Transliterate, overlap=st.just(0.0) | shares, script=st.integers(1, 9))
    | st.builds(Transliterate, overlap=shares, script=st.integers(1, 9), by=st.sampled_from(get_args(By)))
    | st.builds(Cognates, share=st.just(0.0) | shares)
)
orders = st.just(Invert()) | st.builds(Invert, p=shares) | st.just(Permute())
transforms = scripts | orders | st.builds(compose, scripts, orders) | st.builds(compose, scripts, orders, orders)


some = st.lists(shares, min_size=2, max_size=5).map(tuple)


@st.composite
def mixtures(draw: st.DrawFn) -> Mixture:
    """Shares in whole tenths of a percent, which names have exactly."""
    rest = {"text": draw(st.just(()) | some), "pairs": draw(st.none() | shares)}
    if draw(st.booleans()):
        return Mixture(exponent=draw(st.none() | shares), **rest)
    ends = [*sorted(draw(st.sets(shares, max_size=2))), 1.0]
    first = [draw(shares) for _ in ends]
    return Mixture(tuple(Phase((one, 1 - one), end) for one, end in zip(first, ends, strict=True)), **rest)


@given(mixtures())
def test_a_mixture_is_written_as_it_names_itself(mixture: Mixture) -> None:
    read = names.mixture(mixture.name)
    assert read.name == mixture.name
    assert replace(read, phases=()) == replace(mixture, phases=())
    assert [phase.until for phase in read.phases] == [phase.until for phase in mixture.phases]
    for ours, theirs in zip(mixture.phases, read.phases, strict=True):
        assert theirs.shares == pytest.approx(ours.shares)


@given(transforms)
def test_a_transform_is_written_as_it_names_itself(transform: Transform) -> None:
    assert names.transform(transform.name) == transform


aligning = st.builds(
    DWA,
    parallel_fraction=shares,
    tlm=st.booleans(),
    queries=st.sampled_from(["masked", "unmasked", "all-aligned"]),
    labels=st.sampled_from(["self", "gold", "estimated"]),
    label_layer=st.none() | st.integers(1, 12),
    first=st.sampled_from(["columns", "rows"]),
    filtering=st.booleans(),
    layer=st.none() | st.integers(1, 12),
).map(xlm_align) | st.just(xlm_align(DWA(queries="none")))


@given(
    st.sampled_from([MLM(), xlm(), DictMLM(), DictMLM(side="label"), align_mlm()])
    | shares.map(xlm)
    | shares.map(Link)
    | st.builds(PreAlign, portion=shares, anchors=st.sampled_from(["first", "both"]))
    | st.sampled_from([1, 2.5, 100]).map(align_mlm)
    | aligning
    | st.builds(WEAM, parallel_fraction=shares, links=st.sampled_from([GOLD, GROWN]))
    | st.builds(WordAligned, parallel_fraction=shares, links=st.sampled_from([GOLD, "intersect"]), frozen=st.booleans())
    | st.builds(
        PPA,
        parallel_fraction=shares,
        queue=st.integers(1, 99_999),
        momentum=shares,
        beside=st.sampled_from(["TLM", "MLM", ""]),
    )
    | st.builds(After, aligning | st.just(MLM()), st.sampled_from([MLM(), align_mlm(), align_mlm(25)]), shares)
)
def test_an_objective_is_written_as_it_names_itself(objective: Objective) -> None:
    assert names.objective(objective.name) == objective


READ_DATA = (
    "wikipedia_small",
    "word_alignment",
    "xlm_align_small",
    "xtreme_small",
    "xtreme_curve",
    "xtreme_continued",
    "xtreme",
)


@pytest.mark.parametrize("name", [name for name in names.STUDIES if name not in READ_DATA])
def test_a_study_is_written_as_it_names_itself(name: str) -> None:
    made = names.study(name)
    assert made.name == name
    assert made.mistakes() == []
    assert names.study_doc(name)


def test_the_last_part_comes_first() -> None:
    assert names.transform("trans.inv") == compose(Transliterate(), Invert())


@pytest.mark.parametrize(
    ("kind", "name", "known"),
    [
        (names.transform, "trnas", "trans, "),
        (names.transform, "", "inv"),
        (names.transform, "trans-x", "perm"),
        (names.transform, "Trans", "did you mean trans?"),
        (names.study, "Pockt", "did you mean pocket?"),
        (names.objective, "ALIGNMLM", "did you mean ALIGN-MLM?"),
        (names.objective, "mlm", "MLM, XLM"),
        (names.objective, "ALIGN-MLM-", "DICT-MLM-label"),
        (names.study, "pockt", "did you mean pocket? there are pocket, classroom, control, objectives_pocket, "),
        (names.study, "/pocket", "classroom"),
    ],
)
def test_an_unknown_name_is_refused_with_those_that_there_are(
    kind: Callable[[str], object], name: str, known: str
) -> None:
    with pytest.raises(BadInput, match=f"is called '{name}'") as caught:
        kind(name)
    assert known in str(caught.value)


def test_a_part_that_is_missing_is_refused() -> None:
    with pytest.raises(BadInput, match="no transform is called ''"):
        names.transform("trans.")


@pytest.mark.parametrize("name", ["LINK-0", "LINK-after-MLM-for-0", "ALIGN-MLM-0", "MLM-after-LINK-0", "PPA-queue0"])
def test_an_objective_of_which_a_part_would_do_nothing_is_refused(name: str) -> None:
    with pytest.raises(BadInput, match=r"objective '.*': .* not 0"):
        names.objective(name)


@pytest.mark.parametrize("name", ["trans-101", "inv-250", "XLM-0", "XLM-200"])
def test_a_fraction_above_all_or_of_none_is_refused(name: str) -> None:
    kind = names.objective if name.startswith("XLM") else names.transform
    with pytest.raises(BadInput, match=f"'{name}': .*(fraction|probability)"):
        kind(name)
