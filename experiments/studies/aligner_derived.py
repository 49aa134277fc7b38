"""Aligner training on exact links: English text in the words and the word order of French and German."""

from pathlib import Path

from calque.derive.reorder import Reorder, TreebankFiles
from calque.derive.sources.files import Files
from calque.derive.transform import Transform, compose
from calque.derive.words import Translate
from calque.experiments.languages import DerivedLanguages
from calque.experiments.studies.aligner import aligner
from calque.experiments.studies.given import ewt, pud, real_data_and_encoder
from calque.experiments.study import Study
from calque.pretrain.mixture import Mixture, shares
from calque.pretrain.objectives.aligner_training import AlignerTraining

TIME = "20 minutes"
NEEDS = "CALQUE_DATA, CALQUE_ENCODER"


def aligner_derived() -> Study:
    """Aligner training from CALQUE_ENCODER's model on derived French and German, without parallel text; three seeds.

    EWT's sentences are translated word by word with published dictionaries of 5,000 entries and reordered as treebanks
    are.
    """
    return derived_by("aligner_derived", "dict/en-{code}/yacle.train.freq.5k.en-{code}.tsv")


def derived_by(name: str, dictionary: str) -> Study:
    """The study with the dictionary of each language at a place below CALQUE_DATA, which has `{code}` for its code."""
    data, encoder = real_data_and_encoder(name, "xlm_align_small")
    english, sequoia = TreebankFiles("en", ewt(data).train), "UD_French-Sequoia/fr_sequoia-ud-train.conllu"

    def derivation(code: str, trees: Path) -> Transform:
        words = Translate(data / dictionary.format(code=code), code)
        return compose(words, Reorder(TreebankFiles(code, (trees,)), english))

    return aligner().changed(
        name=name,
        languages=DerivedLanguages(
            source=Files(text=ewt(data).train),
            transforms=(derivation("fr", data / "ud" / sequoia), derivation("de", pud(data, "de"))),
            vocabulary=encoder,
        ),
        mixtures=(shares(1, 1, 1),),
        mixture=Mixture(held_out=0.01),
        objectives=(AlignerTraining(labels="gold"),),
    )
