"""XTREME's tasks from a pretrained multilingual encoder, at a scale for two cores."""

from dataclasses import replace
from pathlib import Path

from analysis.tasks.finetune import FinetuneConfig
from derive.readers.conllu import XTREME
from derive.sources.files import TaskFiles
from experiments.languages import NaturalLanguages
from experiments.measures import Retrieval
from experiments.studies.given import PUD, either, ewt, pud, real_data_and_encoder, same_sentences
from experiments.studies.wikipedia_small import LINGNLI
from experiments.study import Study
from experiments.tasks import CrossLingualTask
from pretrain.config import ModelConfig

PANX = ("de", "es", "fr", "hi", "ja", "ko", "tr", "zh")
XNLI = ("ar", "bg", "de", "el", "es", "fr", "hi", "ru", "sw", "th", "tr", "ur", "vi", "zh")
XQUAD = ("ar", "de", "el", "es", "hi", "ro", "ru", "th", "tr", "vi", "zh")
MLQA = ("de", "es", "hi", "vi", "zh")
ITEMS, QUESTIONS = 240, 100
"""Examples of each test set, and questions: what a study of two hours on two cores has time for."""


def xtreme_small() -> Study:
    """XTREME's seven tasks from English in up to 15 languages, from CALQUE_ENCODER's model, on data of CALQUE_DATA."""
    data, encoder = real_data_and_encoder("xtreme_small", "xtreme")
    return Study(
        name="xtreme_small",
        paper="xtreme",
        languages=NaturalLanguages(),
        start=encoder,
        tasks=tasks_in(data),
        seeds=(0, 1, 2),
        measures=(Retrieval(same_sentences(data)),),
        model=ModelConfig(layers=12, heads=12, hidden=384, ffn=1536, length=64, dropout=0.0),
    )


def tasks_in(data: Path) -> dict[str, CrossLingualTask]:
    """The seven tasks, with settings for an encoder of width 384.

    MLQA's and PAN-X's dev files and TyDiQA's Swahili training file are the test. Training sets are small: LingNLI for
    MultiNLI's, twelve articles of SQuAD, PAWS-X's dev pairs and TyDiQA's English. Some of the latter two are held out
    for the English test, and pairs that share a text with them are left out. Files that are missing are the recipes'.
    """
    panx, nli, qa = data / "ner" / "panx", data / "nli", data / "qa"
    squad = (either(qa / "squad-subset" / "squad-v1.1-train.first12articles.json", qa / "squad" / "train-v1.1.json"),)

    def labelled(name: str, code: str) -> tuple[Path, ...]:
        return (either(nli / name / f"test-labelled-{code}.tsv", nli / name / f"test-{code}.tsv"),)

    words = FinetuneConfig(
        learning_rate=1e-4,
        head_rate=10,
        epochs=2,
        batch=16,
        warmup=0.1,
        freeze_table=True,
        attention_dropout=0.0,  # attention is three times as fast without
    )
    pairs, spans = replace(words, batch=32), replace(words, max_length=384)
    answers = TaskFiles(train=squad, held_out=200, limit=600, tested=QUESTIONS)
    return {
        "pos": CrossLingualTask(
            files=ewt(data, limit=2_000, tested=ITEMS, units=XTREME),
            tests={
                **{code: (pud(data, code),) for code in PUD},
                "ga": (data / "ud" / "UD_Irish-IDT" / "ga_idt-ud-test.conllu",),
            },
            finetune=words,
        ),
        "ner": CrossLingualTask(
            files=TaskFiles(train=(panx / "train-en.tsv",), test=(panx / "dev-en.tsv",), limit=3_000, tested=ITEMS),
            tests={code: (panx / f"dev-{code}.tsv",) for code in PANX},
            finetune=words,
        ),
        "xquad": CrossLingualTask(
            files=replace(answers, test=(qa / "xquad" / "xquad.en.json",)),
            tests={code: (qa / "xquad" / f"xquad.{code}.json",) for code in XQUAD},
            finetune=spans,
        ),
        "mlqa": CrossLingualTask(
            files=replace(answers, test=_mlqa(qa, "en")),
            tests={code: _mlqa(qa, code) for code in MLQA},
            finetune=spans,
        ),
        "tydiqa": _tydiqa(qa / "tydiqa-goldp", spans),
        "nli": CrossLingualTask(
            files=TaskFiles(
                train=tuple(nli / "lingnli" / f"train_{part}.jsonl" for part in LINGNLI),
                dev=(nli / "xnli" / "dev-en.tsv",),
                test=labelled("xnli", "en"),
                limit=3_000,
                tested=ITEMS,
            ),
            tests={code: labelled("xnli", code) for code in XNLI},
            finetune=pairs,
        ),
        "paraphrase": CrossLingualTask(
            files=TaskFiles(train=(nli / "pawsx" / "dev-en.tsv",), held_out=ITEMS, tested=ITEMS, apart=True),
            tests={code: labelled("pawsx", code) for code in ("de", "zh")},
            finetune=pairs,
        ),
    }


def _tydiqa(folder: Path, spans: FinetuneConfig) -> CrossLingualTask:
    english, swahili = (folder / f"tydiqa.goldp.{code}.train.json" for code in ("en", "sw"))
    files = TaskFiles(
        train=(english,),
        held_out=QUESTIONS,
        limit=400,
        tested=QUESTIONS,
        numbered=True,  # ids that come twice stand in this copy
        apart=True,
    )
    if not english.is_file():
        english, swahili = folder / "tydiqa-goldp-v1.1-train.json", folder / "tydiqa-goldp-dev-swahili.json"
        files = replace(files, train=(english,), numbered=False, trained_id="english")
    return CrossLingualTask(files=files, tests={"sw": (swahili,)}, finetune=spans)


def _mlqa(folder: Path, language: str) -> tuple[Path, ...]:
    return (folder / "mlqa" / f"dev-context-{language}-question-{language}.json",)
