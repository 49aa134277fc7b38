"""`--sweep KEY=V1,V2`: a study run with several values of a setting."""

from collections.abc import Sequence
from itertools import product
from math import prod

from calque.derive.errors import BadInput
from calque.experiments.settings.override import override
from calque.experiments.study import Study

MOST = 100  # maximum number of variants of a study
Swept = tuple[tuple[str, tuple[str, ...]], ...]  # each swept setting's key, with its values as text
Variant = tuple[dict[str, str], Study]  # a study, and its values of the swept settings


def read_sweep(options: Sequence[str]) -> Swept:
    """Parse options such as `dictionary.fraction=0.01,0.1,0.5`, or `objectives=MLM,XLM;MLM,ALIGN-MLM`."""
    swept = []
    for option in options:
        key, equals, text = option.partition("=")
        parts = text.split(";" if ";" in text else ",")
        values = tuple(part.strip() for part in parts if part.strip())
        if not equals or len(values) < 2 or len(set(values)) < len(values):
            expected = "key=value,value with two or more different values"
            raise BadInput(f"--sweep {option}: expected {expected}")
        swept.append((key.strip(), values))
    if len(dict(swept)) < len(swept):
        raise BadInput("--sweep names a setting twice; list all values of a setting in one option")
    if (number := prod(len(values) for _, values in swept)) > MOST:
        raise BadInput(f"--sweep makes {number:,} variants of the study; at most {MOST} are allowed")
    return tuple(swept)


def variants(study: Study, swept: Swept) -> list[Variant]:
    """Return a study's variants, one for each combination of swept values; without a sweep, the study."""
    keys, values = [key for key, _ in swept], [values for _, values in swept]
    combinations = [dict(zip(keys, combination, strict=True)) for combination in product(*values)]
    return [
        (settings, override(study, list(map("=".join, settings.items())), "--sweep") if settings else study)
        for settings in combinations
    ]
