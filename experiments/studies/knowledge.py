"""Facts that only the source's text states, queried in the derived language."""

from dataclasses import replace

from calque.derive.dictionary import DictionaryConfig
from calque.derive.order import Invert
from calque.derive.pocket.facts import Facts
from calque.derive.pocket.language import Pocket
from calque.derive.script import Transliterate
from calque.derive.sources.pocket import PocketEnglish, Sizes
from calque.derive.transform import compose
from calque.experiments.studies.objectives import FROM_SCRATCH
from calque.experiments.studies.pocket import small_grid
from calque.experiments.study import Study


def knowledge() -> Study:
    """Facts about invented people, queried in the source and in the derived language."""
    small = small_grid()
    return small.changed(
        name="knowledge",
        source=PocketEnglish(
            Pocket(types=300),
            4_000,
            pos=Sizes(2_000, 300, 1_000),
            facts=Facts(subjects=24, values=4, mentions=80),
        ),
        transforms=(Transliterate(), compose(Transliterate(), Invert())),
        objectives=FROM_SCRATCH,
        seeds=(0, 1, 2),
        # A quarter of the types would include about four answers, too few to compare with held-out ones.
        dictionary=DictionaryConfig(fraction=0.5),
        train=replace(small.train, steps=3_000, learning_rate=3e-3),
        tasks={"pos": small.tasks["pos"]},
    )
