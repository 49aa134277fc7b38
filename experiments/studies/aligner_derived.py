"""Aligner training on exact links: English text in the words and the word order of French and German."""

from calque.derive.reorder import Reorder, TreebankFiles
from calque.derive.sources.files import Files
from calque.derive.transform import compose
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
    data, encoder = real_data_and_encoder("aligner_derived", "xlm_align_small")
    english = TreebankFiles("en", ewt(data).train)
    orders = {
        "fr": data / "ud" / "UD_French-Sequoia" / "fr_sequoia-ud-train.conllu",
        "de": pud(data, "de"),
    }
    return aligner().changed(
        name="aligner_derived",
        languages=DerivedLanguages(
            source=Files(text=ewt(data).train),
            transforms=tuple(
                compose(
                    Translate(data / "dict" / f"en-{code}" / f"yacle.train.freq.5k.en-{code}.tsv", code),
                    Reorder(TreebankFiles(code, (trees,)), english),
                )
                for code, trees in orders.items()
            ),
            vocabulary=encoder,
        ),
        mixtures=(shares(1, 1, 1),),
        mixture=Mixture(held_out=0.01),
        objectives=(AlignerTraining(labels="gold"),),
    )
