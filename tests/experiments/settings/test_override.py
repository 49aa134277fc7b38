import re
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from calque.derive.errors import BadInput
from calque.derive.order import Invert
from calque.derive.sources.files import Files, TaskFiles
from calque.derive.transform import compose
from calque.derive.transforms import Transliterate
from calque.experiments.run.places import RESERVED
from calque.experiments.settings.catalogue import named_study
from calque.experiments.settings.override import override
from calque.experiments.study.measures import GoldLinks
from calque.pretrain.config import TrainConfig
from calque.pretrain.objective import After
from calque.pretrain.objectives.dictionary import AlignMLM
from calque.pretrain.objectives.mlm import MLM
from calque.pretrain.objectives.xlm import XLM, XLMAlign
from tests.refusals import refusal

SCRIPT = Transliterate()


@pytest.fixture(scope="module")
def pocket():
    return named_study("align_mlm_pocket")


def value(made, key):
    first, *rest = key.split(".")
    made = getattr(made if hasattr(made, first) else made.languages, first)
    for part in rest:
        made = made[part] if isinstance(made, dict) else getattr(made, part)
    return made


@pytest.mark.parametrize(
    ("key", "text", "expected"),
    [
        ("train.steps", "7000", 7000),
        ("train.learning_rate", "1e-3", 1e-3),
        ("vocabulary", "700", 700),
        ("seeds", "3", (3,)),
        ("seeds", "0, 1,2", (0, 1, 2)),
        ("transforms", "trans.inv-50", (compose(SCRIPT, Invert(p=0.5)),)),
        ("transforms", "trans-25,trans.inv", (Transliterate(overlap=0.25), compose(SCRIPT, Invert()))),
        ("objectives", "XLM-10", (XLM(0.1, 0.3),)),
        ("dictionary.by", "frequency", "frequency"),
        ("tasks.pos.finetune.epochs", "9", 9),
        ("tasks.ner.finetune.dropout", "0.5", 0.5),
        ("tasks.pos.finetune.freeze_table", "True", True),
        ("languages.vocabulary", "700", 700),
        ("source.language.types", "300", 300),
        ("source.ner.train", "5", 5),
        ("paper", "xlm_align", "xlm_align"),
    ],
)
def test_values_of_every_kind(pocket, key, text, expected):
    made = override(pocket, [f"{key}={text}"])
    assert value(made, key) == expected
    assert type(value(made, key)) is type(expected)


def test_user_text_and_tasks_are_set_by_name(pocket, tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).write_text("text\n")
    a, b = tmp_path / "a", tmp_path / "b"
    settings = [
        f"source={a},{b}",
        f"source.text_labels={a}+{b}",
        "source.text_labels.held_out=5",
        f"source.pos={a}",
    ]
    made = override(pocket, [*settings, "tasks=text_labels,pos"])
    labels = TaskFiles((a,), (b,), held_out=5)
    assert made.languages.source == Files((a, b), text_labels=labels, pos=TaskFiles((a,)))
    assert made.tasks == {"text_labels": pocket.tasks["pos"], "pos": pocket.tasks["pos"]}
    with pytest.raises(BadInput, match="source has no examples of 'pair_labels'"):
        override(pocket, [*settings, "tasks=pair_labels"])
    for wrong in ("source=,", "source.pos=", "source.pos=+x"):
        with pytest.raises(BadInput, match=rf"--set {re.escape(wrong)}: "):
            override(made, [wrong])


def test_unambiguous_settings_need_no_prefix(pocket):
    assert override(pocket, ["steps=400"]) == override(pocket, ["train.steps=400"])
    assert override(pocket, ["transforms=trans"]) == override(pocket, ["languages.transforms=trans"])
    several = replace(pocket, measures=(GoldLinks(Path("a")), GoldLinks(Path("b"))))
    with pytest.raises(BadInput, match=r"one of measures\.links\.gold, measures"):
        override(several, ["gold=c"])
    several = replace(pocket, head=TrainConfig())
    with pytest.raises(
        BadInput, match=r"several parts have a field steps; expected one of train\.steps, head\.steps"
    ):
        override(several, ["steps=400"])


def test_new_objectives_mask_as_much_as_the_others(pocket):
    own = replace(pocket, objectives=(MLM(mask_rate=0.4), XLM(mask_rate=0.4)))
    masks = XLMAlign(mask_rate=0.4)
    named = "objectives=MLM,XLM-10,XLM-ALIGN,XLM-ALIGN-after-ALIGN-MLM"
    started = After(masks, AlignMLM(mask_rate=0.4))
    assert override(own, [named]).objectives == (MLM(mask_rate=0.4), XLM(0.1, 0.4), masks, started)


WRONG = {
    "train.step=1": "did you mean steps?",
    "tasks.pso.finetune.epochs=1": "did you mean pos?",
    "objectves=MLM": "did you mean objectives?",
    "zzz=1": "available: languages, objectives",
    "name=other": "there is no 'name'",
    "train.steps": "expected key=value",
    "train.steps=1.5": "not '1.5'",
    "train.learning_rate=nan": "expected a finite number",
    f"train.steps={'9' * 400}": "expected a finite number below 2**63",
    "model.hidden=6_4": "'6_4'",
    "model.hidden=\u0666\u0664": "'\u0666\u0664'",
    "train=1": "train has fields of its own; set one of them: steps, batch, ",
    "train.steps.x=1": "steps has no fields",
    "measures.order=1": "order has no fields",
    "measures.99.task=pos": "there is no '99'; available: order, labels",
    "mixture.shares=90-10": "not '90-10'",
    "tasks.pos.finetune.epochs=0": "tasks.pos.finetune.epochs must be at least 1",
    "tasks.pos.finetune.epochs=9223372036854775807": "tasks.pos.finetune.epochs must be at most 100,000",
    "tasks=pos,pos": "'pos' is named twice",
    "mixture.pairs=0.5": "mixture.pairs is 0.5, but MLM reads no sentence pairs",
    "paper=xlm": "expected one of align_mlm, xlm_align, equal_terms",
    "source.ner=none": "ner has fields of its own",
    "source.size=9223372036854775807": "from 1 to 1,000,000,000",
    "source.language.types=900": "300 or 600 word types, not 900",
    "source.language.seed=-1": "a seed must be 0 or more, not -1",
    "seeds=-1": "seeds must be at least 0",
    "seeds=1,1": "seeds: named twice",
    "seeds=": "seeds: expected at least one",
    "threads=1025": "threads must be from 1 to 1,024, not 1,025",
    "objectives=MLM,MLM": "objectives: named twice",
    "objectives=BERT": "no objective is called 'BERT'",
    "objectives=WORD-ALIGNED": "WORD-ALIGNED cannot start from random weights",
    "transforms=trnas": "did you mean trans?",
    "transforms=trans.trans": "changes the script twice",
    "transforms=inv.trans.inv": "contains inv twice",
    "transforms=inv.syn-romance.lex-fr": "write inv.lex-fr.syn-romance",
    "transforms=inv": "ALIGN-MLM needs dictionary pairs of different words, but there are none under inv",
    "transforms=inv-0": "above 0",
    "transforms=" + ".".join(["trans", *["inv-12.5"] * 30]): "is too long for a folder's name",
    "disjoint=true": "XLM learns from parallel sentences; mixture.disjoint leaves none",
    "dictionary.by=luck": "expected one of uniform, frequency, not 'luck'",
    "dictionary.fraction=2": "from 0 to 1, not 2",
    "vocabulary=nowhere": "nowhere/tokenizer.json",
    "vocabulary=0": "vocabulary must have 261 to 10,000,000 types, not 0",
    "model.heads=3": "multiple of heads",
    "train.batch=9223372036854775807": "train.batch must be at most 1,000,000",
    "train.grad_accumulation=65": "train.grad_accumulation must be at most batch (64), not 65",
}


@pytest.mark.parametrize(("setting", "said"), WRONG.items(), ids=lambda words: words[:40])
def test_wrong_settings_are_named(pocket, setting, said):
    told = refusal(override, pocket, [setting])
    assert said in told and len(told) < 1_500


@dataclass(frozen=True)
class Renamed(Invert):
    name = RESERVED[0]


def test_reserved_names_are_rejected(pocket):
    wrong = pocket.changed(transforms=(Renamed(),)).mistakes()
    assert any(f"Calque itself uses the name {RESERVED[0]}; choose another" in each for each in wrong)
