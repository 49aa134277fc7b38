"""XLM-Align from a pretrained multilingual encoder, as published but sized for two cores."""

from pathlib import Path

from calque.analysis.measures.word_alignment import SETS
from calque.analysis.tasks.finetune import FinetuneConfig
from calque.derive.folder import NamePair
from calque.derive.natural.files import BitextFiles, TextFiles
from calque.experiments.studies.given import PUD, captions, ewt, real_data_and_encoder, same_sentences
from calque.experiments.study import Study
from calque.experiments.study.gold import GoldLinks
from calque.experiments.study.languages import NaturalLanguages
from calque.experiments.study.measures import Retrieval
from calque.experiments.study.tasks import CrossLingualTask
from calque.pretrain.config import ModelConfig, TrainConfig
from calque.pretrain.mixture import Mixture
from calque.pretrain.objectives.xlm_align import XLMAlign


def xlm_align_small() -> Study:
    """MLM + TLM with and without DWA, from the encoder named by CALQUE_ENCODER."""
    data, encoder = real_data_and_encoder("xlm_align_small", "xlm_align_small")
    finetune = FinetuneConfig(
        learning_rate=1e-4, head_rate=10, epochs=1, batch=16, warmup=0.1, freeze_table=True
    )
    return Study(
        name="xlm_align_small",
        paper="xtreme",
        measure_start=True,
        start=encoder,
        languages=NaturalLanguages(texts=texts(data), bitexts=bitexts(data), withheld=withheld(data)),
        objectives=(XLMAlign(queries="none", pieces=3), XLMAlign(pieces=3)),
        measures=(GoldLinks(data / "align"), Retrieval(same_sentences(data))),
        tasks=tagging(data, finetune, limit=2_000),
        model=ModelConfig(layers=12, heads=12, hidden=384, ffn=1536, length=64, dropout=0.0),
        train=TrainConfig(
            steps=500,
            batch=24,
            learning_rate=3e-5,
            head_rate=20,
            warmup=50,
            weight_decay=0.01,
            betas=(0.9, 0.98),
            epsilon=1e-6,
            decayed="matrices",
            log_every=20,
            probe_every=0,
            save_every=100,
        ),
        head=TrainConfig(
            steps=200, batch=24, learning_rate=1e-3, warmup=10, log_every=20, probe_every=0, save_every=0
        ),
        mixture=Mixture(exponent=0.7, bitext_exponent=0.7, pairs=0.5),
    )


def texts(data: Path) -> dict[str, TextFiles]:
    """Return text in English and in the languages of the PUD treebanks, Spanish and Chinese."""
    trees, panx = data / "ud", data / "ner" / "panx"
    more = {
        "fr": (trees / "UD_French-Sequoia" / "fr_sequoia-ud-train.conllu",),
        "ko": (trees / "UD_Korean-GSD" / "ko_gsd-ud-train.conllu",),
    }
    found = {"en": TextFiles((data / "wikipedia" / "wikipedia-1.txt",), megabytes=20)}
    for language in (*PUD, "es", "zh"):
        found[language] = TextFiles((panx / f"train-{language}.tsv", *more.get(language, ())))
    return found


def bitexts(data: Path) -> dict[NamePair, tuple[BitextFiles, ...]]:
    """Return translations and captions in English and French, and in English and German."""
    manythings = data / "parallel" / "manythings"
    return {
        ("en", "fr"): (BitextFiles(manythings / "fra-eng.tsv"), captions(data, "en", "fr")),
        ("en", "de"): (BitextFiles(manythings / "deu-eng.tsv"), captions(data, "en", "de")),
    }


def tagging(data: Path, finetune: FinetuneConfig, limit: int = 0) -> dict[str, CrossLingualTask]:
    """Return POS tagging, learnt from `limit` English trees (0: all) and tested on the PUD treebanks."""
    same = same_sentences(data)
    tests = {language: (same[language],) for language in PUD}
    return {"pos": CrossLingualTask(finetune, files=ewt(data, limit=limit), tests=tests)}


def withheld(data: Path) -> TextFiles:
    """Return the test sentences, which pretraining excludes."""
    gold = [data / "align" / name / f"test.{side}" for name in SETS for side in name.split("-")]
    return TextFiles((*gold, *same_sentences(data).values(), *ewt(data).test))
