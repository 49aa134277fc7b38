"""Studies at their papers' scale: ALIGN-MLM, and XLM-Align with 94 languages, 14 bitexts and 150,000 steps
from XLM-R base."""

import os
import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from calque.analysis.papers.published import corpora
from calque.analysis.tasks.finetune_config import FinetuneConfig
from calque.derive.fingerprint import total
from calque.derive.languages import NamePair
from calque.derive.natural import BitextFiles, TextFiles
from calque.derive.order import Invert, Reorder, TreebankFiles
from calque.derive.script import Transliterate
from calque.derive.sources.files import Files, TaskFiles
from calque.derive.transform import compose
from calque.experiments.data.recipe import read_recipe
from calque.experiments.studies.real_text import XLM_R, ewt, same_sentences, tagging, withheld
from calque.experiments.study import Study
from calque.experiments.study.gold import GoldLinks
from calque.experiments.study.languages import DerivedLanguages
from calque.experiments.study.measures import Retrieval
from calque.experiments.study.natural import NaturalLanguages
from calque.experiments.study.tasks import CrossLingualTask
from calque.pretrain.config import Mixture, ModelConfig
from calque.pretrain.objectives.align_mlm import AlignMLM
from calque.pretrain.objectives.mlm import MLM, DictMLM
from calque.pretrain.objectives.pairs import XLM
from calque.pretrain.objectives.word_alignment import XLMAlign

EXPONENT = 0.7  # languages and bitexts are sampled in proportion to size**EXPONENT
PAIRS = 0.5
"""The fraction of each step's rows that contain sentence pairs; the paper does not state it."""
TYPES = 250_002  # types in XLM-R's tokenizer
MEGABYTES = """
en 78625 af 346 am 940 ar 7888 as 443 az 788 ba 588 be 1102 bg 5203 bn 6080 ca 2059 ckb 755 cs 5272 cy 446
da 3062 de 20493 el 7285 eo 627 es 18278 et 1080 eu 892 fa 8682 fi 2867 fr 17553 ga 226 gl 1144 gu 907 he
3869 hi 5152 hr 1103 hu 3923 hy 1408 id 5735 is 505 it 11838 ja 19892 ka 2185 kk 1178 km 790 kn 1154 ko
10330 ky 894 la 368 lo 588 lt 1452 lv 980 mk 1223 ml 2415 mn 731 mr 1110 ms 713 mt 258 my 1154 ne 1187 nl
7757 nn 492 no 2700 or 824 pa 1629 pl 8320 ps 608 pt 10300 ro 4126 ru 63493 sa 585 sd 374 si 2208 sk 4817 sl
2815 sq 1697 sr 5447 sv 13797 sw 328 ta 7750 te 3559 tg 1035 th 22431 tl 892 tr 13781 tt 985 ug 386 uk 8828
ur 2423 uz 213 vi 18812 yi 528 zh 18783
"""
"""The megabytes of text to read in each language: a quarter more than a run samples."""


def align_mlm() -> Study:
    """ALIGN-MLM's comparison at the paper's scale (Tables 10 and 11)."""
    data = Path(os.environ.get("CALQUE_DATA") or "data")
    panx, mnli, xnli = data / "ner" / "panx", data / "nli" / "mnli", data / "nli" / "xnli"
    stanza, trees = os.environ.get("CALQUE_STANZA"), ewt(data)
    french = TreebankFiles("fr", (data / "ud" / "UD_French-Sequoia" / "fr_sequoia-ud-train.conllu",))
    order = Reorder(french, TreebankFiles("en", trees.train))
    return Study(
        name="align_mlm",
        languages=DerivedLanguages(
            source=Files(
                text=(data / "wikitext-103" / "wiki.train.tokens",),
                parser=Path(stanza) if stanza else None,
                pos=trees,
                ner=TaskFiles(train=(panx / "train-en.tsv",), test=(panx / "dev-en.tsv",)),
                nli=TaskFiles(
                    train=(mnli / "train.jsonl",), dev=(xnli / "dev-en.tsv",), test=(xnli / "test-en.tsv",)
                ),
            ),
            transforms=(Transliterate(), compose(Transliterate(), Invert()), compose(Transliterate(), order)),
            vocabulary=40_000,
        ),
        objectives=(MLM(), XLM(), DictMLM(), AlignMLM()),
        tasks={
            name: CrossLingualTask(FinetuneConfig(epochs=epochs))  # Table 11
            for name, epochs in (("pos", 10), ("ner", 10), ("nli", 5))
        },
    )


def xlm_align() -> Study:
    """XLM-Align at the scale of its paper (Tables 8 to 11)."""
    data = Path(os.environ.get("CALQUE_DATA") or "data")
    texts, bitexts = _texts(data), _bitexts(data)
    model = ModelConfig(layers=12, heads=12, hidden=768, ffn=3072, length=512)
    train = replace(XLM_R, steps=150_000, batch=2_048, learning_rate=2e-4, warmup=10_000, save_every=1_000)
    return Study(
        name="xlm_align",
        paper="xtreme",
        measure_start=True,
        languages=NaturalLanguages(
            texts=texts, bitexts=bitexts, withheld=withheld(data), table="all", types=TYPES
        ),
        start=data / "models" / "xlm-roberta-base",
        objectives=(XLMAlign(parallel_fraction=1.0, pieces=8),),
        measures=(GoldLinks(data / "align"), Retrieval(same_sentences(data))),
        tasks=tagging(data, FinetuneConfig(learning_rate=2e-5, epochs=10, batch=32, warmup=0.1)),
        model=model,
        train=train,
        mixture=Mixture(shares=paper_shares(texts), bitext_exponent=EXPONENT, pairs=PAIRS),
    )


def _texts(data: Path) -> dict[str, TextFiles]:
    """Return each language's files from CC-100 or Wikipedia; some languages have one file per script."""
    files: dict[str, list[Path]] = {}
    for output in (*read_recipe("xlm_align").outputs, *read_recipe("cc_100").outputs):
        corpus, name, *_ = output.place.split("/")
        if corpus in ("cc-100", "wikipedia"):
            language = re.split(r"[._-]", name.removeprefix("20231101."))[0]
            files.setdefault(language, []).append(data / output.place)
    words = MEGABYTES.split()
    return {
        language: TextFiles(tuple(files[language]), megabytes=int(size))
        for language, size in zip(words[::2], words[1::2], strict=True)
    }


def _bitexts(data: Path) -> dict[NamePair, tuple[BitextFiles, ...]]:
    """Return each language's bitexts with English: two files or, for WikiMatrix, one file with columns."""
    bitexts_by_pair: dict[NamePair, list[BitextFiles]] = {}
    for download in read_recipe("xlm_align").downloads:
        paths = sorted(
            (data / output.place for output in download.outputs), key=lambda path: path.suffix != ".en"
        )
        first = paths[0]
        if first.parent.name == "bitexts":
            codes = first.name.split(".")[1].split("-")
            english = codes.index("en")
            bitext, language = BitextFiles(first, None, (1 + english, 2 - english)), codes[1 - english]
        elif first.parent.parent.name == "bitexts":
            bitext, language = BitextFiles(first, paths[1]), paths[1].suffix[1:]
        else:
            continue
        bitexts_by_pair.setdefault(("en", language), []).append(bitext)
    return {pair: tuple(files) for pair, files in sorted(bitexts_by_pair.items())}


def paper_shares(languages: Iterable[str]) -> tuple[float, ...]:
    """Return each language's sampling share, which is proportional to size**EXPONENT, where size is the
    amount of its text in the paper."""
    tables = corpora("xlm_align")
    web, wikipedia = tables["CCNet"], tables["Wikipedia"]
    weights = {language: (1e9 * (web[language] + wikipedia[language])) ** EXPONENT for language in web}
    weight_sum = total(weights.values())
    return tuple(weights[language] / weight_sum for language in languages)
