"""`--set`: values of every kind, and every mistake at once."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import pytest

from calque.derive.errors import BadInput
from calque.derive.order import Invert
from calque.derive.script import Transliterate
from calque.derive.sources.files import Files, TaskFiles
from calque.derive.transform import compose
from calque.experiments.measures import GoldLinks
from calque.experiments.names import study
from calque.experiments.override import override, replaced
from calque.experiments.schedule import compute
from calque.experiments.study import Study
from calque.experiments.study_mistakes import study_mistakes
from calque.experiments.summary import scale
from calque.experiments.tasks import CrossLingualTask
from calque.pretrain.config import TrainConfig
from calque.pretrain.mixture import Mixture
from calque.pretrain.objective import After, Sum
from calque.pretrain.objectives.align_mlm import AlignMLM
from calque.pretrain.objectives.mlm import MLM
from calque.pretrain.objectives.word_aligned import WordAligned
from calque.pretrain.objectives.xlm import XLM
from calque.pretrain.objectives.xlm_align import XLMAlign


@pytest.fixture(scope="module")
def pocket() -> Study:
    return study("align_mlm_pocket")


@dataclass(frozen=True)
class Loud(Files):
    """A source with a switch."""

    loud: bool = False
    limit: float | None = 1.5


@pytest.fixture(scope="module")
def files(pocket: Study) -> Study:
    """A study whose source is files."""
    task = TaskFiles(train=(Path("a"),), test=(Path("b"),))
    return pocket.changed(source=Loud(text=(Path("text"),), pos=task, ner=task), tasks=only_pos(pocket))


def only_pos(study: Study) -> dict[str, CrossLingualTask]:
    """The study's values for one task."""
    return {"pos": study.tasks["pos"]}


def value(made: Any, key: str) -> Any:
    """A value of a study, or of its languages."""
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
        ("transforms", "trans.inv-50", (compose(Transliterate(), Invert(p=0.5)),)),
        ("transforms", "trans-25,trans.inv", (Transliterate(overlap=0.25), compose(Transliterate(), Invert()))),
        ("objectives", "XLM-10", (XLM(0.1, 0.3),)),
        ("dictionary.by", "frequency", "frequency"),
        ("tasks.pos.finetune.epochs", "9", 9),
        ("tasks.nli.finetune.dropout", "0.5", 0.5),
        ("tasks.nli.ways", "ZS,TT", ("ZS", "TT")),
        ("languages.vocabulary", "700", 700),
        ("source.language.types", "900", 900),
        ("source.nli.train", "5", 5),
        ("paper", "xlm_align", "xlm_align"),
    ],
)
def test_values_of_every_kind(pocket: Study, key: str, text: str, expected: object) -> None:
    made = override(pocket, [f"{key}={text}"])
    assert value(made, key) == expected
    assert type(value(made, key)) is type(expected)


@pytest.mark.parametrize(
    ("key", "text", "expected"),
    [
        ("source.text", "x/y.txt, z", (Path("x/y.txt"), Path("z"))),
        ("source.text", "x=y.txt", (Path("x=y.txt"),)),
        ("source.pos.train", "c.conllu", (Path("c.conllu"),)),
        ("source.pos.dev", "", ()),
        ("source.ner", "none", None),
        ("source.megabytes", "3", 3),
        ("source.loud", "true", True),
        ("source.loud", "False", False),
        ("source.limit", "none", None),
        ("source.limit", "2", 2.0),
    ],
)
def test_paths_switches_and_what_may_be_absent(files: Study, key: str, text: str, expected: object) -> None:
    assert value(override(files, [f"{key}={text}"]), key) == expected
    with pytest.raises(BadInput, match="expected true or false, not 'yes'"):
        override(files, ["source.loud=yes"])


def test_text_and_tasks_of_ones_own_are_set_by_name(pocket: Study, tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).write_text("text\n")
    a, b = tmp_path / "a", tmp_path / "b"
    settings = [f"source={a},{b}", f"source.text_labels={a}+{b}", "source.text_labels.held_out=5", f"source.pos={a}"]
    made = override(pocket, [*settings, "tasks=text_labels,pos"])
    labels = TaskFiles((a,), (b,), held_out=5)
    assert made.languages.source == Files((a, b), text_labels=labels, pos=TaskFiles((a,)))  # type: ignore[union-attr]
    assert made.tasks == {"text_labels": pocket.tasks["pos"], "pos": pocket.tasks["pos"]}
    with pytest.raises(BadInput, match="source has no examples of 'pair_labels'"):
        override(pocket, [*settings, "tasks=pair_labels"])
    for wrong in ("source=,", "source.pos=", "source.pos=+x"):
        with pytest.raises(BadInput, match=rf"--set {re.escape(wrong)}: "):
            override(made, [wrong])


def test_a_value_of_a_part_may_be_named_alone_where_one_part_has_it(pocket: Study) -> None:
    assert override(pocket, ["steps=400"]) == override(pocket, ["train.steps=400"])
    assert override(pocket, ["transforms=trans"]) == override(pocket, ["languages.transforms=trans"])
    several = replace(pocket, measures=(GoldLinks(Path("a")), GoldLinks(Path("b"))))
    with pytest.raises(BadInput, match="several measures have gold"):
        override(several, ["gold=c"])
    several = replace(pocket, head=TrainConfig())
    with pytest.raises(BadInput, match=r"steps is in several parts; expected one of train\.steps, head\.steps"):
        override(several, ["steps=400"])
    growth = study("growth")
    (measure,) = override(growth, ["probe.rows=9"]).measures
    assert measure == replace(growth.measures[0], probe=replace(growth.measures[0].probe, rows=9))


def test_a_study_is_frozen_and_the_rest_of_it_stays(pocket: Study) -> None:
    before = repr(pocket)
    made = override(pocket, ["tasks.pos.finetune.epochs=9", "tasks.pos.finetune.epochs=11"])
    assert repr(pocket) == before
    pos = pocket.tasks["pos"]
    eleven = replace(pos, finetune=replace(pos.finetune, epochs=11))
    assert made == replace(pocket, tasks={**pocket.tasks, "pos": eleven}) != pocket


def test_tasks_are_left_out_by_naming_the_others(pocket: Study) -> None:
    made = override(pocket, ["tasks=nli,pos"])
    assert made.tasks == {"nli": pocket.tasks["nli"], "pos": pocket.tasks["pos"]}
    assert override(pocket, ["tasks="]).tasks == {}


def test_paces_are_set_objective_by_objective(pocket: Study) -> None:
    """A name may have a dot: weights do."""
    given = ["objectives=MLM,ALIGN-MLM-0.5,PPA-after-MLM", "paces.ALIGN-MLM-0.5=0.9", "paces.PPA-after-MLM=0.4"]
    made = override(pocket, given)
    assert made.paces == {"ALIGN-MLM-0.5": 0.9, "PPA-after-MLM": 0.4} and pocket.paces == {}
    assert [made.train_of(objective).steps for objective in made.objectives] == [5_000, 4_500, 1_000]
    with pytest.raises(BadInput, match="paces: there is no objective 'LINK' here"):
        override(pocket, ["paces.LINK=0.9"])
    with pytest.raises(BadInput, match=r"paces\.MLM=x: expected float, not 'x'"):
        override(pocket, ["paces.MLM=x"])


def test_an_objective_that_the_study_has_keeps_its_values(pocket: Study) -> None:
    own = replace(pocket, objectives=(MLM(mask_rate=0.4), XLM()))
    assert override(own, ["objectives=MLM"]).objectives == (MLM(mask_rate=0.4),)
    assert override(own, ["objectives=XLM-10"]).objectives == (XLM(0.1),)  # the study's do not agree


def test_titles_tell_the_text_and_the_models_that_were_set(pocket: Study) -> None:
    assert scale(pocket) == "Pocket English, 300 word types; RoBERTa of 2 layers, width 64"
    changed = override(pocket, ["source.language.types=1000", "model.hidden=32", "model.layers=1"])
    assert scale(changed) == "Pocket English, 1,000 word types; RoBERTa of 1 layer, width 32"


def test_an_objective_that_is_new_masks_as_much_as_the_others(pocket: Study) -> None:
    own = replace(pocket, objectives=(MLM(mask_rate=0.4), XLM(mask_rate=0.4)))
    masks = XLMAlign(mask_rate=0.4)
    named = "objectives=MLM,XLM-10,XLM-ALIGN,XLM-ALIGN-after-ALIGN-MLM"
    started = After(masks, AlignMLM(mask_rate=0.4))
    assert override(own, [named]).objectives == (MLM(mask_rate=0.4), XLM(0.1, 0.4), masks, started)


def test_what_masks_nothing_has_no_say_in_how_much_others_mask(pocket: Study) -> None:
    pulled = After(WordAligned(), MLM(mask_rate=0.4))
    own = replace(pocket, objectives=(MLM(mask_rate=0.4), pulled))
    frozen = After(WordAligned(frozen=True), MLM(mask_rate=0.4))
    assert override(own, ["objectives=WORD-ALIGNED-frozen-after-MLM"]).objectives == (frozen,)


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("train.step=1", "there is no 'step'; did you mean steps?"),
        ("trian.steps=1", "did you mean train?"),
        ("tasks.pso.finetune.epochs=1", "did you mean pos?"),
        ("tasks=pso", "did you mean pos?"),
        ("zzz=1", "there are languages, objectives"),
        ("name=other", "there is no 'name'"),
        ("train.steps", "expected key=value"),
        ("train.steps=many", "expected int, not 'many'"),
        ("train.steps=1.5", "expected int"),
        ("train.learning_rate=fast", "expected float"),
        ("train.learning_rate=nan", "expected a finite number"),
        ("train=1", "train has fields of its own; set one of them: steps, batch, "),
        ("tasks.pos=1", "pos has fields of its own"),
        ("tasks.pos.epoch=1", "there is no 'epoch'; did you mean epochs?"),
        ("tasks.pos.epochs=9", "tasks.pos.epochs is for tasks with files of their own"),
        ("mixture.held_out=2", "mixture.held_out is a fraction below 1, not 2"),
        ("mixture.pairs=3", "mixture.pairs is a fraction between 0 and 1, not 3"),
        ("encoder=x", "encoder is for studies of gold sets"),
        ("paper=links", "paper: links is about natural languages"),
        ("paper=xlm", "expected one of align_mlm, xlm_align, equal_terms"),
        ("dictionary.fractoin=1", "did you mean fraction?"),
        ("source.nli=none", "nli has fields of its own"),
        ("train.steps.x=1", "steps has no fields"),
        ("seeds.0=1", "seeds has no fields"),
        ("seeds=1,x", "expected int, not 'x'"),
        ("seeds=-1", "seeds are from 0"),
        ("seeds=9223372036854775808", "expected a number below 2**63"),
        ("dictionary.seed=-1", "a seed is 0 or more, not -1"),
        ("source.language.seed=-1", "a seed is 0 or more, not -1"),
        ("objectives=MLM,MLM", "objectives names one twice"),
        ("objectives=BERT", "no objective is called 'BERT'"),
        ("transforms=trans,nonsense", "no transform is called 'nonsense'"),
        ("transforms=trans.trans", "changes the script twice"),
        ("dictionary.by=luck", "expected one of uniform, frequency, not 'luck'"),
        ("dictionary.fraction=2", "between 0 and 1, not 2"),
        ("dictionary.correct=2", "between 0 and 1, not 2"),
        ("dictionary.wrong=verb", "expected one of any, same-tag, not 'verb'"),
        (
            "vocabulary=nowhere",
            "vocabulary is a number of types, or the folder of a tokenizer: nowhere/tokenizer.json",
        ),
        ("vocabulary=0", "vocabulary is from 261 to 10,000,000 types, not 0"),
        ("vocabulary=999999999999", "vocabulary is from 261"),
        ("model.heads=3", "multiple of heads"),
        ("tasks.pos.finetune.epochs=0", "tasks.pos.finetune.epochs is at least 1"),
        ("transforms=" + ".".join(["trans", *["inv-12.5"] * 30]), "is too long for a folder's name"),
        ("objectives=ALIGN-MLM-" + "9" * 200, "no objective is called 'ALIGN-MLM-999"),
        ("objectives=align-mlm", "did you mean ALIGN-MLM?"),
        ("transforms=trnas", "did you mean trans?"),
        ("transforms=syn-verbfnial", "did you mean verbfinal?"),
        ("transforms=inv.inv", "inv.inv has inv twice"),
        ("transforms=inv.trans.inv", "has inv twice"),
        ("transforms=inv-0", "above 0 %"),
        ("transforms=syn-verbfinal-p0", "above 0 %"),
        ("tasks=pos,pos", "'pos' twice"),
        ("train.grad_accumulation=65", "train.grad_accumulation is at most batch (64), not 65"),
        ("train.steps=9223372036854775807", "train.steps are at most 1,000,000,000"),
        ("source.size=9223372036854775807", "1 to 1,000,000,000 sentences"),
        ("source.pos.dev=9223372036854775807", "1 to 1,000,000 examples"),
        ("tasks.pos.finetune.epochs=9223372036854775807", "tasks.pos.finetune.epochs are at most 100,000"),
        ("model.hidden=6_4", "'6_4'"),
        ("model.hidden=\u0666\u0664", "'\u0666\u0664'"),
        ("train.learning_rate=1_0e-5", "'1_0e-5'"),
        ("seeds=\u0661,2", "'\u0661'"),
        ("objectives=XLM-\u0662\u0665", "'XLM-\u0662\u0665'"),
        ("objectives=PPA-queue\u0669", "'PPA-queue\u0669'"),
        ("objectives=XLM-ALIGN-label\u0661", "'XLM-ALIGN-label\u0661'"),
        ("transforms=trans-\u0662\u0665", "'trans-\u0662\u0665'"),
    ],
)
def test_a_mistake_is_named(pocket: Study, setting: str, said: str) -> None:
    with pytest.raises(BadInput) as caught:
        override(pocket, [setting])
    assert said in str(caught.value)


def test_values_of_a_study_file_that_are_no_numbers_are_refused(pocket: Study) -> None:
    """A command line refuses them itself."""
    nan, infinite, pos = float("nan"), float("inf"), pocket.tasks["pos"]
    made = replace(
        pocket,
        objectives=(Sum("both", (MLM(mask_rate=nan), MLM(mask_rate=1.5))), Sum("../outside", (MLM(),))),
        model=replace(pocket.model, dropout=nan, initializer_range=infinite),
        train=replace(pocket.train, learning_rate=nan, clip=infinite, betas=(0.9, nan)),
        tasks={"pos": replace(pos, finetune=replace(pos.finetune, learning_rate=nan))},
    )
    text = "; ".join(study_mistakes(made))
    for said in (
        *("model.dropout", "model.initializer_range", "train.learning_rate", "train.clip", "train.betas"),
        *(
            "tasks.pos.finetune.learning_rate",
            "mask_rate is a share from 0 to below 1, not nan",
            "not 1.5",
            "../outside",
        ),
    ):
        assert said in text


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (["model.hidden=4000000"], "model.hidden (4,000,000)"),
        (["model.ffn=9223372036854775807"], "model.ffn (9,223,372,036,854,775,807)"),
        (["model.layers=100000"], "model.layers (100,000)"),
        (["model.length=10000000000"], "model.length (10,000,000,000)"),
        (["train.batch=9223372036854775807"], "train.batch (9,223,372,036,854,775,807)"),
        (["train.batch=10000000000", "train.grad_accumulation=10000000000"], "train.batch (10,000,000,000)"),
        (["objectives=PPA-queue999999999"], "the objective's own modules"),
        (["objectives=PPA-queue999999999-after-MLM"], "the objective's own modules"),
    ],
)
def test_a_model_that_fits_no_memory_is_refused_before_anything_is_computed(
    pocket: Study, tmp_path: Path, settings: list[str], said: str
) -> None:
    made = override(pocket, settings)
    with pytest.raises(BadInput, match="GiB") as caught:
        compute(made.steps(tmp_path), made.home(tmp_path), 1)
    assert said in str(caught.value) and not list(tmp_path.iterdir())


def test_processes_that_share_rows_each_need_memory_for_their_own(pocket: Study) -> None:
    run, *_ = override(pocket, ["train.batch=8192"]).trained()
    with pytest.raises(BadInput, match=r"train\.batch \(8,192\)"):
        run.config.check_memory(run.title, 2**30)
    run.config.check_memory(run.title, 2**30, 256)
    with pytest.raises(BadInput):
        run.config.check_memory(run.title, 2**20, 256)


def test_a_model_may_need_up_to_twice_the_memory_that_is_available(pocket: Study) -> None:
    """What is estimated is a peak, and a system can swap."""
    run, *_ = pocket.trained()
    needed = run.config.cost().memory
    run.config.check_memory(run.title, needed / 2)
    with pytest.raises(BadInput, match="GiB"):
        run.config.check_memory(run.title, needed / 2 - 1)


@pytest.mark.parametrize("name", ["pocket", "growth"])
def test_a_suggestion_is_not_refused(name: str) -> None:
    base = study(name)
    parts = [base, base.languages, base.train, base.model, base.mixture, *base.measures]
    keys = {each.name for part in parts for each in fields(part)} | {"objective"}
    for typo in {key[:-2] + key[-1] for key in keys if len(key) > 3} - keys:
        with pytest.raises((BadInput, ValueError)) as refused:
            replaced(base, f"{typo}=0")
        if suggestion := re.search(r"did you mean (\w+)\?", str(refused.value)):
            try:
                replaced(base, f"{suggestion[1]}=0")
            except (BadInput, ValueError) as error:
                assert not re.search(f"no '{suggestion[1]}'|several|has fields|cannot be set", str(error)), typo


def test_all_mistakes_are_told_at_once(pocket: Study) -> None:
    with pytest.raises(BadInput) as caught:
        override(pocket, ["train.stesp=1", "seeds=x", "train.batch=0", "model.length=2", "objectives=BERT"])
    text = str(caught.value)
    for said in ("did you mean steps?", "not 'x'", "train.batch is at least 1", "model.length is at least 8", "'BERT'"):
        assert said in text
    assert "\n" not in text


@dataclass(frozen=True)
class Read(Study):
    """A study with values that no text says."""

    trees: Mapping[str, Path] = field(default_factory=dict)
    then: TrainConfig | None = None


def test_values_that_no_text_says_are_told(pocket: Study) -> None:
    made = Read(**{key.name: getattr(pocket, key.name) for key in fields(pocket)}, trees={"en": Path("a")})
    for key in (
        "mixture.phases=90-10",
        "mixture.bitexts=a-b",
        "mixture.dictionaries=a,b",
        "trees.en.x=b",
    ):
        with pytest.raises(BadInput, match=r"cannot be set on the command line"):
            override(made, [key])
    with pytest.raises(BadInput, match=r"then has no fields; --set then=x: its values cannot be set"):
        override(made, ["then.steps=1", "then=x"])
    assert value(override(made, ["trees.fr=b"]), "trees") == {"en": Path("a"), "fr": Path("b")}
    assert override(made, ["mixture.bitexts=", "mixture.dictionaries=none"]).mixture == Mixture(bitexts=())


def test_what_a_person_wrote_is_not_repeated_at_length(pocket: Study) -> None:
    for key in ("train.steps=", "objectives=", "transforms=", "train.", "paper=", ""):
        with pytest.raises(BadInput) as caught:
            override(pocket, [key + "x" * 10_000])
        assert len(str(caught.value)) < 1_500, key
