"""What is of another type than its field says, in what somebody wrote."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import pytest

from experiments import names
from experiments.study_file import mistyped


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


def told(**values: Any) -> list[str]:
    return list(mistyped(replace(Outer(), **values), Outer))


def test_what_fits_is_not_told() -> None:
    assert told() == []
    paths = (Path("a"),)
    assert told(sizes=(1, 2), files={"de": paths}, way="TT", drop=1, parts=(Inner(rate=1),)) == []


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"name": 5}, "name is '5'; expected text"),
        ({"inner": Inner(many="x")}, "inner.many is \"'x'\"; expected a whole number"),
        ({"inner": Inner(many=1.5)}, "inner.many is '1.5'; expected a whole number"),
        ({"inner": Inner(many=True)}, "inner.many is 'True'; expected a whole number"),
        ({"inner": Inner(rate=None)}, "inner.rate is 'None'; expected a number"),
        ({"inner": Inner(on=1)}, "inner.on is '1'; expected True or False"),
        ({"inner": 5}, "inner is '5'; expected Inner"),
        ({"sizes": 5}, "sizes is '5'; expected a tuple"),
        ({"sizes": (1, "2")}, "sizes[1] is"),
        ({"files": {"de": Path("a")}}, "files.de is"),
        ({"files": {"de": ("a",)}}, "files.de[0] is"),
        ({"files": {5: (Path("a"),)}}, "a key of files is '5'; expected text"),
        ({"files": [1]}, "files is '[1]'; expected a dict"),
        ({"way": "tt"}, "expected one of ZS, TT"),
        ({"drop": "0.1"}, "expected a number or None"),
        ({"drop": False}, "drop is 'False'; expected a number or None"),
        ({"parts": (Inner(), Inner(many=None))}, "parts[1].many is 'None'"),
    ],
)
def test_what_does_not_fit_is_told_with_its_path(values: dict[str, Any], said: str) -> None:
    (line,) = told(**values)
    assert said in line


@pytest.mark.parametrize("name", ["pocket", "languages", "growth", "knowledge", "xlm_align_ablations", "align_mlm"])
def test_studies_are_as_their_annotations_say(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CALQUE_DATA", "data")
    study = names.study(name)
    assert list(mistyped(study, type(study))) == []
