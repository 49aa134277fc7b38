"""The search for the setting of `everyday` (docs/everyday.md)."""

from dataclasses import replace

from calque.derive.script import Transliterate
from calque.derive.sources.everyday import everyday as everyday_english
from calque.experiments.measures import Alignment
from calque.experiments.studies.everyday import TAGGING, everyday
from calque.experiments.studies.objectives import MASKS
from calque.experiments.study import Study
from calque.experiments.tasks import CrossLingualTask
from calque.pretrain.objectives.mlm import MLM

TIME = "1 core hour"


def everyday_search() -> Study:
    """Which setting lets MLM align real sentences under Trans? On seeds that `everyday` does not use, tested on dev."""
    source = everyday_english(types=2_000)
    assert source.pos
    return everyday().changed(
        name="everyday_search",
        source=replace(source, pos=replace(source.pos, test=source.pos.dev)),
        transforms=(Transliterate(),),
        objectives=(MLM(MASKS),),
        seeds=(100,),
        tasks={"pos": CrossLingualTask(TAGGING)},
        measures=(Alignment(),),
        claims=None,
    )
