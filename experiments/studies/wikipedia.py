"""The comparison of `everyday` on easy sentences of Wikipedia, with more types and a deeper model."""

import os
from dataclasses import replace
from pathlib import Path

from calque.derive.sources.everyday import everyday as everyday_english
from calque.experiments.studies.everyday import everyday
from calque.experiments.studies.given import real_data
from calque.experiments.study import Study

TIME = "not run"
NEEDS = "CALQUE_DATA, CALQUE_STANZA"


def wikipedia() -> Study:
    """Easy sentences of Wikipedia: the comparison of `everyday` with 4,096 types and four layers, three seeds."""
    data, stanza, base = real_data("wikipedia", "wikipedia"), os.environ.get("CALQUE_STANZA"), everyday()
    return base.changed(
        name="wikipedia",
        claims=None,
        source=replace(
            everyday_english(),
            text=(data / "wikipedia" / "wikipedia-1.txt",),
            parser=Path(stanza) if stanza else None,
        ),
        vocabulary=4_096,
        seeds=(0, 1, 2),
        model=replace(base.model, layers=4),
        train=replace(base.train, steps=10_000),
    )
