"""What aligner training changes besides alignment: retrieval and zero-shot parts of speech."""

from calque.experiments.measures import Retrieval
from calque.experiments.studies.aligner import aligner
from calque.experiments.studies.given import real_data, same_sentences
from calque.experiments.studies.xlm_align_small import xlm_align_small
from calque.experiments.study import Study

TIME = "40 minutes"
NEEDS = "CALQUE_DATA, CALQUE_ENCODER"


def aligner_transfer() -> Study:
    """Retrieval and tagging before and after aligner training of CALQUE_ENCODER's model; three seeds.

    Retrieval and tagging are measured as in `xlm_align_small`.
    """
    labels = aligner()
    return labels.changed(
        name="aligner_transfer",
        objectives=labels.objectives[:1],
        measures=(Retrieval(same_sentences(real_data("aligner_transfer", "xlm_align_small"))),),
        tasks=xlm_align_small().tasks,
    )
