from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module, invalidate_caches
from pathlib import Path
from typing import Literal

import pytest

from calque.analysis.records.record import Run
from calque.derive.errors import BadInput
from calque.derive.fingerprint import fingerprint, with_code
from calque.derive.languages import Languages
from calque.derive.task_data import task_data_fingerprint
from calque.experiments.run.step import Step
from calque.experiments.settings.catalogue import mistyped, named_study
from calque.experiments.study.measures import Measuring
from calque.experiments.study.models import Model
from tests.experiments.conftest import TINY, calque, sets

DOCS = Path(__file__).parents[3] / "docs" / "own.md"
PLAIN = "from dataclasses import replace\nfrom calque.experiments.studies.pocket import pocket\n\n\n"
SMALL = """source.size=25000 source.pos.train=100 source.pos.dev=100 source.pos.test=100 vocabulary=400
    model.layers=1 train.steps=1 train.warmup=0 tasks=pos seeds=0""".split()


def examples():
    """The page's Python blocks: files by the names in their first lines, and the block without a name as
    `trees`."""
    blocks = re.findall(r"```python\n(.*?)```", DOCS.read_text(), re.S)
    named = {match.group(1): block for block in blocks if (match := re.match(r"# (\w+)\.py\n", block))}
    (trees,) = (block for block in blocks if not block.startswith("# "))
    return {**named, "trees": trees}


PARTS = {"nouns": ("2", ["objectives=MLM"]), "cosines": ("1", ["objectives=MLM", "tasks=pos"])}
"""Studies on the page with a part of their own, their jobs, and settings that keep them small."""


@pytest.mark.slow
@pytest.mark.parametrize("name", PARTS)
def test_documented_parts_reach_the_report(folder, name):
    (folder / f"{name}.py").write_text(examples()[name])
    jobs, small = PARTS[name]
    tiny = [one for one in TINY if not one.startswith(("objectives", "tasks"))]
    settings = sets(*tiny, *small)
    code, _, err = calque("run", f"../mine/{name}.py", "--runs", "runs", "--jobs", jobs, *settings)
    assert code == 0, err
    (report,) = Path("runs", name).glob("report-*")
    shown = {"nouns": "Nouns accuracy", "cosines": "cosine"}[name]
    assert shown in (report / "report.html").read_text()


def test_workers_know_the_transforms_of_a_file(folder):
    assert calque("new", "transform", "swapped", "--to", folder)[0] == 0
    settings = sets(*SMALL)
    code, out, err = calque("derive", "../mine/swapped.py", "--runs", "runs", "--jobs", "2", *settings)
    assert code == 0, err
    assert "trans.swapped: 25,000 sentences" in out
    (made,) = Path("runs").rglob("languages-*")
    bitext = Languages.open(made, ["trans.swapped"]).bitexts[0]
    assert bitext.second.corpus.origin[0].tolist()[:2] == [1, 0]
    code, out, err = calque("report", "../mine/swapped.py", "--runs", "runs", *settings)
    assert code == 2 and "not computed yet: floors of pos, pretrain trans/MLM/seed-0" in err


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a b.py", "", "cannot import a file named 'a b'"),
        ("json.py", "", "there is another module named json; rename the file"),
        ("empty.py", "x = 1\n", r"expected a function empty\(\) that returns a study"),
        ("two.py", "def a():\n    return 1\n\n\ndef b():\n    return 1\n", r"expected a function two\(\)"),
        ("number.py", "def number():\n    return 5\n", r"number\(\) returns '5'; expected a study"),
        ("broken.py", "x = 1\ndef (:\n", r"broken\.py:2: not valid Python: invalid syntax"),
        (
            "fails.py",
            "def fails():\n    return 1 / 0\n",
            r"fails\.py:2: fails\(\) fails: ZeroDivisionError: division",
        ),
        ("leaves.py", "\nimport sys\nsys.exit(3)\n", r"leaves\.py:3: the file fails: SystemExit: 3"),
        ("lacks.py", "import nothing_like_it\n", r"lacks\.py:1: the file fails: ModuleNotFoundError"),
        ("same.py", PLAIN + "def same():\n    return pocket()\n", "Calque itself uses the name pocket"),
        ("odd.py", PLAIN + "def odd():\n    return replace(pocket(), name='a/b')\n", "a study named 'a/b'"),
        (
            "kept.py",
            PLAIN + "def kept():\n    return replace(pocket(), name='cache')\n",
            "Calque itself uses the name cache; choose another",
        ),
    ],
)
def test_invalid_study_files_are_one_line(folder, name, text, said):
    (folder / name).write_text(text)
    with pytest.raises(BadInput, match=said) as told:
        named_study(str(folder / name))
    assert len(str(told.value).splitlines()) == 1


OWN = """
from dataclasses import dataclass

from calque.analysis.tasks.catalogue import POS
from calque.derive.pocket.language import PocketEnglish
from calque.experiments.study.measures import Links, OrderDistance
from calque.pretrain.objectives.mlm import MLM
from tests.experiments.run.words import Word

FACTOR = {factor}


class OwnLinks(Links):
    def settings(self, model):
        return "what no code says"
"""
for base in ("POS", "MLM", "PocketEnglish", "OrderDistance", "Word"):
    OWN += f"\n\n@dataclass(frozen=True)\nclass Own{base}({base}):\n    pass\n"


def test_user_code_changes_fingerprints(folder):
    plain = Step("a text", folder / "run", "a text", "pretrain", "word")
    model = Model(plain, Run("", "", 0, ()), folder)

    def prints(factor):
        (folder / "own_parts.py").write_text(OWN.format(factor=factor))
        sys.modules.pop("own_parts", None)
        invalidate_caches()
        own = import_module("own_parts")
        source = own.OwnPocketEnglish(size=10)
        measures = (Measuring(measure, model, None) for measure in (own.OwnOrderDistance(), own.OwnLinks()))
        return [
            *map(fingerprint, (own.OwnPOS(), own.OwnMLM())),
            *(with_code(source.corpus_fingerprint(), source), task_data_fingerprint(source, "pos", ())),
            *(replace(plain, config=config).fingerprint for config in (own.OwnWord("word"), *measures)),
        ]

    sys.path.append(str(folder))
    before, same, after = prints(1), prints(1), prints(2)
    assert before == same and not set(before) & set(after)


@dataclass(frozen=True)
class Inner:
    many: int = 1
    rate: float = 0.5
    on: bool = False


@dataclass(frozen=True)
class Outer:
    name: str = "a"
    inner: Inner = Inner()
    sizes: tuple[int, ...] = ()
    files: Mapping[str, tuple[Path, ...]] = field(default_factory=dict)
    way: Literal["ZS", "TT"] = "ZS"
    drop: float | None = None
    parts: tuple[Inner, ...] = ()
    kind: type[Inner] = Inner


def told(**values):
    return list(mistyped(replace(Outer(), **values), Outer))


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"name": 5}, "name is '5'; expected str"),
        ({"inner": Inner(many="x")}, "inner.many is \"'x'\"; expected int"),
        ({"sizes": 1}, "sizes is '1'; expected tuple[int, ...]"),
        ({"files": [Path("a")]}, "files is "),
        ({"way": "tt"}, "ZS"),
        ({"drop": "0.1"}, "expected float | None"),
        ({"parts": (Inner(), Inner(many=None))}, "parts[1].many is 'None'"),
        ({"parts": ("inner",)}, "parts[0] is \"'inner'\"; expected Inner"),
        ({"files": {"a": Path("a")}}, "files.a is "),
        ({"files": {1: ()}}, "a key of files is '1'; expected str"),
        ({"kind": Inner()}, "kind is "),
    ],
)
def test_wrong_types_are_named_with_their_path(values, said):
    (line,) = told(**values)
    assert said in line


def test_edited_file_is_imported_again(folder):
    study = folder / "edited.py"
    for seed in (1, 2):
        study.write_text(
            f"{PLAIN}def edited():\n    return replace(pocket(), name='edited', seeds=({seed},))\n"
        )
        assert named_study(str(study)).seeds == (seed,)
