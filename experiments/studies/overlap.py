"""The study of shared vocabulary: which words, or stems of words, are shared, and how many."""

from calque.derive.script import Cognates, Transliterate
from calque.experiments.studies.objectives import MASKS
from calque.experiments.studies.pocket import small_grid
from calque.experiments.study import Study
from calque.pretrain.objectives.align_mlm import AlignMLM
from calque.pretrain.objectives.mlm import MLM

TIME = "1.75 hours"
QUARTERS = tuple(Transliterate(0.25, by=by) for by in ("uniform", "most-frequent", "least-frequent"))
CLASSES = (Transliterate(by="function", overlap=1.0), Transliterate(by="names", overlap=1.0))
CONTENT = Transliterate(by="content", overlap=0.5)  # about the same share of sub-words as all function words
STEMS = tuple(Cognates(share) for share in (0.25, 0.5, 1.0))


def overlap() -> Study:
    """Pocket English with languages that share types, a class of words, or stems; three seeds."""
    small = small_grid()
    return small.changed(
        name="overlap",
        transforms=(Transliterate(), *QUARTERS, *CLASSES, CONTENT, *STEMS),
        objectives=(MLM(MASKS), AlignMLM(mask_rate=MASKS)),
        seeds=(0, 1, 2),
        vocabulary=500,  # splits three words in ten: a vocabulary of whole words has no stems to share
        tasks={task: small.tasks[task] for task in ("pos", "ner")},
    )
