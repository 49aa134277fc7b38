"""The study of graded word order: transfer as the order moves away from the source's."""

from calque.derive.order import Invert
from calque.derive.reorder import PocketTreebank, Reorder
from calque.derive.script import Transliterate
from calque.derive.transform import compose
from calque.experiments.studies.objectives import MASKS
from calque.experiments.studies.pocket import small_grid
from calque.experiments.study import Study
from calque.pretrain.objectives.align_mlm import AlignMLM
from calque.pretrain.objectives.mlm import MLM

TIME = "20 minutes"
SETTINGS = (0.25, 0.5, 0.75, 1.0)


def order_dial() -> Study:
    """Pocket English gradually inverted, or gradually made verb-final."""
    small = small_grid()
    english, verbfinal = PocketTreebank("english"), PocketTreebank("verbfinal")
    inverted = [Invert(p) for p in SETTINGS]
    # At 0 the order is drawn from English's own distribution, which is not quite the original order.
    reordered = [Reorder(verbfinal, english, weight) for weight in (0.0, *SETTINGS)]
    return small.changed(
        name="order_dial",
        transforms=(Transliterate(), *(compose(Transliterate(), order) for order in (*inverted, *reordered))),
        objectives=(MLM(MASKS), AlignMLM(mask_rate=MASKS)),
        tasks={task: small.tasks[task] for task in ("pos", "ner")},
    )
