"""All pretraining objectives."""

import re

from calque.derive.errors import BadInput, shown, unknown
from calque.derive.forms import NUMBER, fraction
from calque.pretrain.objective import After, Objective
from calque.pretrain.objectives.dictionary import AlignMLM, PreAlign, RepelMLM, RotateMLM
from calque.pretrain.objectives.linked_words import WEAM, AlignerTraining, WordAligned
from calque.pretrain.objectives.mlm import MLM, DictMLM, Link
from calque.pretrain.objectives.xlm import PPA, XLM, XLMAlign

OBJECTIVES: list[type[Objective]] = [
    MLM,
    XLM,
    DictMLM,
    AlignMLM,
    XLMAlign,
    PreAlign,
    Link,
    WEAM,
    PPA,
    WordAligned,
    AlignerTraining,
    RepelMLM,
    RotateMLM,
]
"""All objectives, in the order used for lists and for colours in figures. Study files may add more."""
AFTER = "-after-"


def parse(name: str, mask_rate: float | None = None) -> Objective:
    """Return the objective with a command-line name and, if given, mask rate, or raise BadInput."""
    then, separator, start = name.rpartition(AFTER)
    try:
        if separator and (match := re.fullmatch(rf"(.+?)(?:-for-({NUMBER}))?", start)):
            first, portion = match.groups()
            return After(
                parse(then, mask_rate), parse(first, mask_rate), fraction(portion) if portion else 0.5
            )
        for kind in OBJECTIVES:
            if (values := kind.parse_fields(name)) is not None:
                masks = mask_rate is not None and "mask_rate" in kind.defaults()
                return kind(**{"mask_rate": mask_rate} if masks else {}, **values)
    except ValueError as error:
        raise BadInput(f"objective {shown(name)}: {error}") from error
    raise BadInput(unknown("objective", name, [*(kind.short_name for kind in OBJECTIVES), "A-after-B"]))
