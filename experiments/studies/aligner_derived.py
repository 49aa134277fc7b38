"""Aligner training on exact links: English text in the words and the word order of French and German."""

from calque.derive.reorder import Reorder, TreebankFiles
from calque.derive.sources.files import Files
from calque.derive.transform import compose
from calque.derive.transforms import transform
from calque.experiments.languages import DerivedLanguages
from calque.experiments.studies.aligner import aligner
from calque.experiments.studies.given import ewt, pud, real_data_and_encoder
from calque.experiments.study import Study
from calque.pretrain.mixture import Mixture, shares
from calque.pretrain.objectives.aligner_training import AlignerTraining

TIME = "20 minutes"
NEEDS = "CALQUE_DATA, CALQUE_ENCODER"


def aligner_derived() -> Study:
    """Aligner training from CALQUE_ENCODER's model on derived French and German; needs lexicons, and no bitext.

    EWT's sentences are translated word by word with `lexicons/en-fr.tsv` and `en-de.tsv` below CALQUE_DATA.
    """
    data, encoder = real_data_and_encoder("aligner_derived", "xlm_align_small")
    english = TreebankFiles("en", ewt(data).train)
    french = tuple(
        data / "ud" / f"UD_French-{name}" / f"fr_{name.lower()}-ud-train.conllu" for name in ("GSD", "Sequoia")
    )
    return aligner().changed(
        name="aligner_derived",
        paper="align_mlm",
        languages=DerivedLanguages(
            source=Files(text=ewt(data).train),
            transforms=tuple(
                compose(transform(f"lex-{code}"), Reorder(TreebankFiles(code, trees), english))
                for code, trees in {"fr": french, "de": (pud(data, "de"),)}.items()
            ),
            vocabulary=encoder,
        ),
        mixtures=(shares(1, 1, 1),),
        mixture=Mixture(held_out=0.01),
        objectives=(AlignerTraining(labels="gold"),),
    )
