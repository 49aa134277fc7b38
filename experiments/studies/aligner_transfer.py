"""What aligner training changes besides alignment: retrieval and zero-shot parts of speech."""

from calque.experiments.studies.aligner import aligner
from calque.experiments.studies.given import real_data
from calque.experiments.studies.xlm_align_small import gold_and_retrieval, xlm_align_small
from calque.experiments.study import Study

TIME = "40 minutes"
NEEDS = "CALQUE_DATA, CALQUE_ENCODER"


def aligner_transfer() -> Study:
    """CALQUE_ENCODER's model before and after aligner training, in retrieval and in tagging; three seeds.

    The measures and the task are those of `xlm_align_small`.
    """
    changed = aligner()
    return changed.changed(
        name="aligner_transfer",
        objectives=changed.objectives[:1],
        measures=gold_and_retrieval(real_data("aligner_transfer", "xlm_align_small"))[1:],
        tasks=xlm_align_small().tasks,
    )
