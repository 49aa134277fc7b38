"""Studies of real text, for two cores or at their papers' scale (see studies.toml), and their inputs."""

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

from calque.analysis.aligners import DEFAULT, SOFTMAX
from calque.analysis.measures.word_alignment import SETS
from calque.analysis.papers.published import corpora
from calque.analysis.tasks.transfer import FinetuneConfig
from calque.derive.errors import BadInput
from calque.derive.files import read_toml
from calque.derive.fingerprint import total
from calque.derive.languages import NamePair
from calque.derive.natural import BitextFiles, TextFiles
from calque.derive.order import Invert, Reorder, TreebankFiles
from calque.derive.sources.files import Files, TaskFiles
from calque.derive.transform import compose
from calque.derive.transforms import Transliterate
from calque.experiments.data.recipe import by_url, combinations, read_recipe
from calque.experiments.study import Study
from calque.experiments.study.languages import DerivedLanguages
from calque.experiments.study.measures import GoldLinks, Retrieval
from calque.experiments.study.natural import LENGTH, RECIPE, NaturalLanguages
from calque.experiments.study.tasks import CrossLingualTask
from calque.pretrain.config import ALL_TOGETHER, Mixture, ModelConfig, TrainConfig
from calque.pretrain.objectives import MLM, PPA, WEAM, XLM, AlignerTraining, AlignMLM, DictMLM, XLMAlign

PUD = {"fr": "French", "de": "German", "hi": "Hindi", "ja": "Japanese", "ko": "Korean", "tr": "Turkish"}
"""The languages, other than English, whose PUD treebanks are used. All contain the same thousand
sentences."""
USUAL = FinetuneConfig(
    learning_rate=1e-4,
    head_rate=10,
    epochs=2,
    batch=16,
    warmup=0.1,
    freeze_table=True,
    attention_dropout=0.0,  # attention is three times as fast without dropout
)
SEQUOIA = "ud/UD_French-Sequoia/fr_sequoia-ud-train.conllu"
SMALL = ModelConfig(layers=12, heads=12, hidden=384, ffn=1536, length=64, dropout=0.0)
XLM_R = TrainConfig(weight_decay=0.01, betas=(0.9, 0.98), epsilon=1e-6, decayed="matrices", probe_every=0)
"""XLM-Align's optimiser (Table 11), without probes."""
EXPONENT = 0.7  # languages and bitexts are sampled in proportion to size**EXPONENT
PAIRS = 0.5
"""The fraction of each step's rows that contain sentence pairs; the paper does not state it."""
TYPES = 250_002  # types in XLM-R's tokenizer


def folder_in(variable: str) -> Path | None:
    """Return the folder that an environment variable is set to, if any."""
    folder = os.environ.get(variable)
    return Path(folder) if folder else None


def data(place: str) -> Path:
    """Return a path below the data folder, by default the one to which `calque data fetch` writes."""
    return (folder_in("CALQUE_DATA") or Path("data")) / place


def _encoder() -> Path:
    if folder := folder_in("CALQUE_ENCODER"):
        return folder
    what = "a folder with an encoder and its tokenizer, and --set model.* to its sizes"
    raise BadInput(f"this study needs CALQUE_ENCODER: set it to {what}")


def ewt(**more: Any) -> TaskFiles:
    """Return the splits of English EWT; `more` sets other fields of `TaskFiles`."""
    folder = data("ud/UD_English-EWT")
    train, dev, test = ((folder / f"en_ewt-ud-{split}.conllu",) for split in ("train", "dev", "test"))
    return TaskFiles(train=train, dev=dev, test=test, **more)


def manythings(language: str) -> Path:
    """Return the bitext of short sentences with English from manythings.org."""
    return data(f"parallel/manythings/{language}-eng.tsv")


def captions(first: str, second: str) -> BitextFiles:
    """Return Multi30k's captions in two languages."""
    return BitextFiles(data(f"parallel/multi30k/train.{first}"), data(f"parallel/multi30k/train.{second}"))


def _task(row: Mapping[str, Any]) -> CrossLingualTask:
    """Read a task from a table of xtreme_small.toml. In names of test files, {code} is a language's code, and
    {name} its name in those files; in other names, the words listed in `for` are combined. Where names are
    joined by `or`, the first file that exists is used."""

    def file(names: str, **words: str) -> Path:
        paths = [data(copy) for copy in names.format(**words).split(" or ")]
        return next(filter(Path.is_file, paths), paths[-1])

    if isinstance(languages := row["languages"], str):
        languages = {code: code for code in languages.split()}
    tests = {code: (file(row["tests"], code=code, name=name),) for code, name in languages.items()}
    files: dict[str, Any] = {
        split: tuple(dict.fromkeys(file(row[split], **words) for words in combinations(row)))
        for split in ("train", "dev", "test")
        if split in row
    }
    finetune = replace(USUAL, **row.get("finetune", {}))
    return CrossLingualTask(finetune, TaskFiles(**files, **row.get("files", {})), tests)


def same_sentences() -> dict[str, Path]:
    """Return PUD's treebanks, whose sentences are translations of each other, by language."""
    return {
        code: data(f"ud/UD_{name}-PUD/{code}_pud-ud-test.conllu")
        for code, name in {"en": "English", **PUD}.items()
    }


def xlm_align_small() -> Study:
    """MLM + TLM with and without denoising word alignment, starting from the encoder in CALQUE_ENCODER."""
    finetune = replace(USUAL, epochs=1, attention_dropout=FinetuneConfig().attention_dropout)
    train = replace(
        XLM_R, steps=500, batch=24, learning_rate=3e-5, head_rate=20, warmup=50, log_every=20, save_every=100
    )
    return Study(
        name="xlm_align_small",
        paper="xtreme",
        measure_start=True,
        start=_encoder(),
        languages=NaturalLanguages(texts=texts(), bitexts=bitexts(), withheld=withheld()),
        objectives=(XLMAlign(queries="none", pieces=3), XLMAlign(pieces=3)),
        measures=(GoldLinks(data("align")), Retrieval(same_sentences())),
        tasks=tagging(finetune, limit=2_000),
        model=SMALL,
        train=train,
        head=TrainConfig(
            steps=200, batch=24, learning_rate=1e-3, warmup=10, log_every=20, probe_every=0, save_every=0
        ),
        mixture=Mixture(exponent=EXPONENT, bitext_exponent=EXPONENT, pairs=PAIRS),
    )


def texts() -> dict[str, TextFiles]:
    """Return text in English and in the languages of the PUD treebanks, Spanish and Chinese."""
    treebanks = {"fr": (data(SEQUOIA),), "ko": (data("ud/UD_Korean-GSD/ko_gsd-ud-train.conllu"),)}
    text_files = {"en": TextFiles((data("wikipedia/wikipedia-1.txt"),), megabytes=20)}
    for language in (*PUD, "es", "zh"):
        text_files[language] = TextFiles(
            (data(f"ner/panx/train-{language}.tsv"), *treebanks.get(language, ()))
        )
    return text_files


def bitexts() -> dict[NamePair, tuple[BitextFiles, ...]]:
    """Return the bitexts of English with French and German."""
    return {
        ("en", "fr"): (BitextFiles(manythings("fra")), captions("en", "fr")),
        ("en", "de"): (BitextFiles(manythings("deu")), captions("en", "de")),
    }


def tagging(finetune: FinetuneConfig, limit: int = 0) -> dict[str, CrossLingualTask]:
    """Return POS tagging, learnt from `limit` English trees (0: all) and tested on the PUD treebanks."""
    treebanks = same_sentences()
    tests = {language: (treebanks[language],) for language in PUD}
    return {"pos": CrossLingualTask(finetune, files=ewt(limit=limit), tests=tests)}


def withheld() -> TextFiles:
    """Return the test sentences that training text must not contain."""
    gold = [data("align") / name / f"test.{side}" for name in SETS for side in name.split("-")]
    return TextFiles((*gold, *same_sentences().values(), *ewt().test))


def aligner() -> Study:
    """Aligner training with three sources of labels, starting from the encoder in CALQUE_ENCODER."""
    small = xlm_align_small()
    return small.changed(
        name="aligner",
        texts={name: TextFiles((data(f"parallel/multi30k/train.{name}"),)) for name in ("en", "fr", "de")},
        bitexts={
            pair: tuple(replace(files, words_in=pair, fewest=6) for files in parts)
            for pair, parts in bitexts().items()
        },
        objectives=(AlignerTraining(), AlignerTraining(labels="estimated"), AlignerTraining(labels="self")),
        seeds=(0, 1, 2),
        measures=(GoldLinks(data("align"), methods=(DEFAULT.name, SOFTMAX.name)),),
        tasks={},
        model=replace(small.model, length=LENGTH),
        train=RECIPE,
        head=None,
        mixture=ALL_TOGETHER,
    )


def xtreme_small() -> Study:
    """XTREME's tasks, learnt in English and tested in up to 15 languages."""
    table = read_toml(Path(__file__).with_name("xtreme_small.toml"))
    tasks = {name: _task(row) for name, row in table.items()}
    return Study(
        name="xtreme_small",
        paper="xtreme",
        measure_start=True,
        languages=NaturalLanguages(),
        start=_encoder(),
        tasks={**tasks, "tydiqa": _tydiqa(tasks["tydiqa"])},
        seeds=(0, 1, 2),
        measures=(Retrieval(same_sentences()),),
        model=SMALL,
    )


def _tydiqa(task: CrossLingualTask) -> CrossLingualTask:
    assert task.files
    if task.files.train[0].is_file():
        return task
    folder = "qa/tydiqa-goldp/tydiqa-goldp"
    train, swahili = data(f"{folder}-v1.1-train.json"), data(f"{folder}-dev-swahili.json")
    files = replace(task.files, train=(train,), numbered=False, trained_id="english")
    return replace(task, files=files, tests={"sw": (swahili,)})


def xtreme_continued() -> Study:
    """`xtreme_small` after 100 further steps of XLM-Align, WEAM or PPA."""
    small, pretrained = xtreme_small(), xlm_align_small()
    entities = data("ner/panx/dev-en.tsv"), *chain.from_iterable(small.tasks["ner"].tests.values())
    trees = (*same_sentences().values(), *ewt().test)
    return small.changed(
        name="xtreme_continued",
        texts=texts(),
        bitexts=bitexts(),
        withheld=TextFiles((*trees, *entities)),
        objectives=(XLMAlign(pieces=3), WEAM(), PPA(queue=2_048, momentum=0.99)),
        train=replace(pretrained.train, steps=100),
        head=pretrained.head,
        mixture=pretrained.mixture,
    )


# At the papers' scale

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


def align_mlm() -> Study:  # Tables 10 and 11
    """ALIGN-MLM's comparison at the paper's scale (Tables 10 and 11)."""
    panx, mnli, xnli = data("ner/panx"), data("nli/mnli"), data("nli/xnli")
    trees = ewt()
    french = TreebankFiles("fr", (data(SEQUOIA),))
    order = Reorder(french, TreebankFiles("en", trees.train))
    return Study(
        name="align_mlm",
        languages=DerivedLanguages(
            source=Files(
                text=(data("wikitext-103/wiki.train.tokens"),),
                parser=folder_in("CALQUE_STANZA"),
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


def xlm_align() -> Study:  # Tables 8 to 11
    """XLM-Align at the scale of its paper (Tables 8 to 11)."""
    texts, bitexts = paper_texts(), paper_bitexts()
    model = ModelConfig(layers=12, heads=12, hidden=768, ffn=3072, length=512)
    train = replace(XLM_R, steps=150_000, batch=2_048, learning_rate=2e-4, warmup=10_000, save_every=1_000)
    return Study(
        name="xlm_align",
        paper="xtreme",
        measure_start=True,
        languages=NaturalLanguages(
            texts=texts, bitexts=bitexts, withheld=withheld(), table="all", types=TYPES
        ),
        start=data("models/xlm-roberta-base"),
        objectives=(XLMAlign(parallel_fraction=1.0, pieces=8),),
        measures=(GoldLinks(data("align")), Retrieval(same_sentences())),
        tasks=tagging(FinetuneConfig(learning_rate=2e-5, epochs=10, batch=32, warmup=0.1)),
        model=model,
        train=train,
        mixture=Mixture(shares=paper_shares(texts), bitext_exponent=EXPONENT, pairs=PAIRS),
    )


def paper_texts() -> dict[str, TextFiles]:
    """Return each language's files from CC-100 or Wikipedia; some languages have one file per script."""
    files: dict[str, list[Path]] = {}
    for file in (*read_recipe("xlm_align").files, *read_recipe("cc_100").files):
        corpus, name, *_ = file.place.split("/")
        if corpus in ("cc-100", "wikipedia"):
            language = re.split(r"[._-]", name.removeprefix("20231101."))[0]
            files.setdefault(language, []).append(data(file.place))
    words = MEGABYTES.split()
    return {
        language: TextFiles(tuple(files[language]), megabytes=int(size))
        for language, size in zip(words[::2], words[1::2], strict=True)
    }


def paper_bitexts() -> dict[NamePair, tuple[BitextFiles, ...]]:
    """Return each language's bitexts with English: two files or, for WikiMatrix, one file with columns."""
    bitexts_by_pair: dict[NamePair, list[BitextFiles]] = {}
    for download in by_url(read_recipe("xlm_align").files).values():
        paths = sorted((data(file.place) for file in download), key=lambda path: path.suffix != ".en")
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
    """Return each language's share, in proportion to size**EXPONENT, the size of its text in the paper."""
    tables = corpora("xlm_align")
    web, wikipedia = tables["CCNet"], tables["Wikipedia"]
    weights = {language: (1e9 * (web[language] + wikipedia[language])) ** EXPONENT for language in web}
    weight_sum = total(weights.values())
    return tuple(weights[language] / weight_sum for language in languages)
