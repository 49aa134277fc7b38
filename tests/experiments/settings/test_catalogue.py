"""Words to objects, and back."""

from collections.abc import Callable
from itertools import groupby
from typing import get_args

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from calque.derive.errors import BadInput
from calque.derive.forms import fraction
from calque.derive.order import Invert, Permute
from calque.derive.script import By, Cognates, Transliterate
from calque.derive.transform import Transform, compose
from calque.derive.transforms import transform as read_transform
from calque.experiments.settings import catalogue
from calque.pretrain.objective import GOLD, After, HeadOnly, Objective
from calque.pretrain.objectives import OBJECTIVES, parse
from calque.pretrain.objectives.align_mlm import AlignMLM
from calque.pretrain.objectives.dict_mlm import DictMLM
from calque.pretrain.objectives.link import Link
from calque.pretrain.objectives.mlm import MLM
from calque.pretrain.objectives.ppa import PPA
from calque.pretrain.objectives.prealign import PreAlign
from calque.pretrain.objectives.repel_mlm import RepelMLM
from calque.pretrain.objectives.rotate_mlm import RotateMLM
from calque.pretrain.objectives.weam import WEAM
from calque.pretrain.objectives.word_aligned import WordAligned
from calque.pretrain.objectives.xlm import XLM
from calque.pretrain.objectives.xlm_align import XLMAlign

shares = st.integers(1, 999).map(lambda tenths: tenths / 1000)
scripts = (
    st.builds(Transliterate, overlap=st.just(0.0) | shares, script=st.integers(1, 9))
    | st.builds(Transliterate, overlap=shares, script=st.integers(1, 9), by=st.sampled_from(get_args(By)))
    | st.builds(Cognates, share=st.just(0.0) | shares)
)
orders = st.just(Invert()) | st.builds(Invert, p=shares) | st.just(Permute())
transforms = (
    scripts | orders | st.builds(compose, scripts, orders) | st.builds(compose, scripts, orders, orders)
)


@given(transforms)
def test_a_transform_is_written_as_it_names_itself(transform: Transform) -> None:
    assert read_transform(transform.name) == transform


@st.composite
def objectives(draw: st.DrawFn, wrapped: bool = True) -> Objective:
    """Any objective of the list with any values that names have, maybe after another, maybe its head
    alone.
    """
    kind = draw(st.sampled_from(OBJECTIVES))
    values: dict[str, object] = {}
    for field, forms in groupby(kind.forms, key=lambda form: form.field):
        form = draw(st.none() | st.sampled_from(list(forms)))
        if form is not None:
            number = (
                st.integers(1, 99)
                if form.read is int
                else shares
                if form.read is fraction
                else st.floats(0.01, 99)
            )
            values[field] = form.value if form.read is None else draw(number)
    try:
        objective = kind(**values)
        if wrapped and draw(st.booleans()):
            objective = HeadOnly(objective)
        if wrapped and draw(st.booleans()):
            objective = After(objective, draw(objectives(wrapped=False)), draw(st.just(0.5) | shares))
    except ValueError:
        reject()  # such as XLM-Align without any part
    return objective


@given(objectives())
def test_an_objective_is_written_as_it_names_itself(objective: Objective) -> None:
    assert parse(objective.name) == objective


NAMES = {
    MLM(0.3): "MLM",
    XLM(): "XLM",
    XLM(0.1): "XLM-10",
    DictMLM(side="label"): "DICT-MLM-label",
    AlignMLM(100): "ALIGN-MLM-100",
    RepelMLM(): "REPEL-MLM",
    RotateMLM(0.25): "ROTATE-MLM-at-25",
    Link(0.125): "LINK-12.5",
    PreAlign(portion=0.25, anchors="both"): "PREALIGN-both-for-25",
    PreAlign().first: "PREALIGN-FIRST",
    WEAM(1.0, links=GOLD): "WEAM-100-gold",
    After(WordAligned(links=GOLD, frozen=True), MLM()): "WORD-ALIGNED-gold-frozen-after-MLM",
    PPA(0.1, queue=512, momentum=0.99, beside="MLM"): "PPA-10-queue512-momentum99-mlm",
    PPA(beside=""): "PPA-alone",
    HeadOnly(XLMAlign(queries="none")): "XLM-ALIGN-no-dwa-head",
    After(
        XLMAlign(1.0, 0.3, False, "unmasked", "estimated", 8, "rows", False, 7), AlignMLM(), 0.25
    ): "XLM-ALIGN-100-no-tlm-unmasked-label8-rows-unfiltered-dwa7-estimated-after-ALIGN-MLM-for-25",
}


READ_DATA = (
    "aligner",
    "wikipedia",
    "word_alignment",
    "xlm_align_small",
    "xtreme_small",
    "xtreme_continued",
)


@pytest.mark.parametrize(
    ("kind", "name", "known"),
    [
        (read_transform, "trnas", "did you mean trans?"),
        (read_transform, "", "inv"),
        (read_transform, "trans-x", "did you mean trans"),
        (read_transform, "Trans", "did you mean trans?"),
        (catalogue.study, "Pockt", "did you mean pocket?"),
        (parse, "ALIGNMLM", "did you mean ALIGN-MLM?"),
        (parse, "mlm", "did you mean MLM?"),
        (parse, "ALIGN-MLM-", "did you mean ALIGN-MLM? (-100)"),
        (catalogue.study, "xyzzy", "there are pocket, align_mlm, align_mlm_pocket, "),
        (catalogue.study, "/pocket", "did you mean pocket?"),
    ],
)
def test_an_unknown_name_is_refused_with_those_that_there_are(
    kind: Callable[[str], object], name: str, known: str
) -> None:
    with pytest.raises(BadInput, match=f"is called '{name}'") as caught:
        kind(name)
    assert known in str(caught.value)
