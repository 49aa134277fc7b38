"""XLM-Align at its paper's scale: 94 languages, 14 bitexts, 150,000 steps from XLM-R base."""

import os
from collections.abc import Iterable
from pathlib import Path

from calque.analysis.papers.published import corpora
from calque.analysis.tasks.finetune import FinetuneConfig
from calque.derive.natural.files import BitextFiles, TextFiles
from calque.experiments.data.recipe import read_recipe
from calque.experiments.languages import LanguagePair, NaturalLanguages
from calque.experiments.studies.xlm_align_small import gold_and_retrieval, tagging, withheld
from calque.experiments.study import Study
from calque.pretrain.config import ModelConfig, TrainConfig
from calque.pretrain.mixture import Mixture, Phase
from calque.pretrain.objectives.xlm_align import XLMAlign

TIME = "half a day (estimate)"
NEEDS = "CALQUE_DATA, eight GPUs"
EXPONENT = 0.7  # exponent of sizes in the sampling of languages and bitexts
PAIRS = 0.5
"""The share of pairs in a step's rows: the paper mixes text and pairs in every step, without stating their shares."""
TYPES = 250_002  # of XLM-R's tokenizer


def xlm_align() -> Study:
    """XLM-Align at its paper's scale (Tables 8 to 11): XLM-R base, 94 languages, 14 bitexts; needs many GPUs."""
    data = Path(os.environ.get("CALQUE_DATA") or "data")
    recipe = read_recipe("xlm_align")
    texts = {
        text["language"]: TextFiles(tuple(data / file for file in text["files"]), megabytes=text.get("megabytes", 0))
        for text in recipe.texts
    }
    bitexts: dict[LanguagePair, tuple[BitextFiles, ...]] = {}
    for bitext in recipe.bitexts:  # a file with two columns, or a file for each language
        (first, second), files = bitext["languages"], [data / file for file in bitext["files"]]
        columns = (0, 1) if files[1:] else (bitext.get("first", 0), bitext.get("second", 0))
        bitexts[first, second] = (
            *bitexts.get((first, second), ()),
            BitextFiles(files[0], files[1] if files[1:] else None, columns),
        )
    model = ModelConfig(layers=12, heads=12, hidden=768, ffn=3072, length=512)
    train = TrainConfig(
        steps=150_000,
        batch=2_048,
        learning_rate=2e-4,
        warmup=10_000,
        weight_decay=0.01,
        clip=1.0,
        betas=(0.9, 0.98),
        epsilon=1e-6,
        decayed="matrices",
        probe_every=0,
        save_every=1_000,
    )
    return Study(
        name="xlm_align",
        paper="xtreme",
        languages=NaturalLanguages(texts=texts, bitexts=bitexts, withheld=withheld(data), table="all", types=TYPES),
        start=data / "models" / "xlm-roberta-base",
        objectives=(XLMAlign(parallel_fraction=1.0, pieces=8),),
        measures=gold_and_retrieval(data),
        tasks=tagging(data, FinetuneConfig(learning_rate=2e-5, epochs=10, batch=32, warmup=0.1)),
        model=model,
        train=train,
        mixture=Mixture(phases=(Phase(paper_shares(texts)),), bitext_exponent=EXPONENT, pairs=PAIRS),
    )


def paper_shares(languages: Iterable[str]) -> tuple[float, ...]:
    """The sampling share of each language: proportional to the size of the paper's text to the power `EXPONENT`."""
    tables = corpora("xlm_align")
    web, wikipedia = tables["CCNet"], tables["Wikipedia"]
    weights = {language: (1e9 * (web[language] + wikipedia[language])) ** EXPONENT for language in web}
    total = sum(weights.values())
    return tuple(weights[language] / total for language in languages)
