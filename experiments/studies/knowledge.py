"""The study of knowledge: facts that the source's text alone states, asked in the derived language."""

from dataclasses import replace

from derive.dictionary import DictionaryConfig
from derive.order import Invert
from derive.pocket.facts import Facts
from derive.pocket.language import Pocket
from derive.script import Transliterate
from derive.sources.pocket import PocketEnglish, Sizes
from derive.transform import compose
from experiments.studies.objectives import FROM_SCRATCH
from experiments.studies.pocket import small_grid
from experiments.study import Study


def knowledge() -> Study:
    """Facts of Pocket English under Trans and Trans+Inv, seven objectives, three seeds: an hour on two cores."""
    small = small_grid()
    return small.changed(
        name="knowledge",
        source=PocketEnglish(
            Pocket(types=300), 4_000, pos=Sizes(2_000, 300, 1_000), facts=Facts(subjects=24, values=4, mentions=80)
        ),
        transforms=(Transliterate(), compose(Transliterate(), Invert())),
        objectives=FROM_SCRATCH,
        seeds=(0, 1, 2),
        # Of a quarter of the types about four are answers: too few to tell seen answers from held-out ones.
        dictionary=DictionaryConfig(fraction=0.5),
        train=replace(small.train, steps=3_000, learning_rate=3e-3),
        tasks={"pos": small.tasks["pos"]},
    )
