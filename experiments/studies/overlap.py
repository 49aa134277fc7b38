"""The study of what two languages share: which words, or stems of words, and how many."""

from calque.derive.script import Cognates, Transliterate
from calque.experiments.studies.objectives import MASKS
from calque.experiments.studies.pocket import small_grid
from calque.experiments.study import Study
from calque.pretrain.objectives.align_mlm import AlignMLM
from calque.pretrain.objectives.mlm import MLM

TIME = "1.75 hours"
NEEDS = ""
QUARTERS = tuple(Transliterate(0.25, by=by) for by in ("uniform", "most-frequent", "least-frequent"))
CLASSES = (Transliterate(by="function", overlap=1.0), Transliterate(by="names", overlap=1.0))
CONTENT = Transliterate(by="content", overlap=0.5)  # about as many sub-words of a text as all function words
STEMS = tuple(Cognates(share) for share in (0.25, 0.5, 1.0))


def overlap() -> Study:
    """Pocket English beside languages that share some types, words of a class, or stems; three seeds, two cores."""
    small = small_grid()
    return small.changed(
        name="overlap",
        transforms=(Transliterate(), *QUARTERS, *CLASSES, CONTENT, *STEMS),
        objectives=(MLM(MASKS), AlignMLM(mask_rate=MASKS)),
        seeds=(0, 1, 2),
        vocabulary=500,  # cuts three words in ten into pieces: a vocabulary of whole words has no stems to share
        tasks={task: small.tasks[task] for task in ("pos", "ner")},
    )
