"""Aligner training on exact links of text in the words of lexicons that come from parallel text."""

from calque.experiments.studies.aligner_derived import derived_by
from calque.experiments.study import Study

TIME = "20 minutes"
NEEDS = "CALQUE_DATA, CALQUE_ENCODER"


def aligner_lexicon() -> Study:
    """`aligner_derived` with lexicons of several translations per word, from fast_align's links of parallel text.

    `calque lexicon` makes them; they are expected at `lexicons/en-fr.tsv` and `en-de.tsv` below CALQUE_DATA.
    """
    return derived_by("aligner_lexicon", "lexicons/en-{code}.tsv")
