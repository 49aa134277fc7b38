"""Attacks on a tiny study are refused or harmless, and the command that counts them can find one that is not."""

import errno
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from calque.derive.artefact import making
from calque.derive.errors import BadInput
from tests.attack.__main__ import table
from tests.attack.attacks import AGAIN, BETWEEN, FAILED, HARMLESS, REFUSED, SILENT, WITHIN, Outcome, attack
from tests.attack.targets import MadeAgain, Target, targets_of
from tests.attack.toys import states
from tests.experiments.conftest import Done


def test_every_attack_on_a_tiny_study_is_refused_or_harmless(done: Done, tmp_path: Path) -> None:
    root = shutil.copytree(done.root, tmp_path / "runs")
    targets = [
        *targets_of("pocket", done.study.steps(root)),
        *states("pocket", done.study, done.root, tmp_path / "stopped"),
    ]
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    outcomes = list(attack(targets, 64, seed=1))
    assert [outcome for outcome in outcomes if outcome.result in (SILENT, FAILED)] == []
    assert {outcome.kind for outcome in outcomes} == {target.kind for target in targets}
    assert {outcome.attack for outcome in outcomes} == {attack.__name__ for attack in WITHIN + BETWEEN}
    assert Counter(outcome.result for outcome in outcomes)[REFUSED] > 50
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize(
    ("error", "result"),
    [
        (lambda path: BadInput("changed", path), REFUSED),
        (lambda path: PermissionError(errno.EACCES, "not to be read", str(path)), REFUSED),
        (lambda path: BadInput("changed, and nobody says what"), FAILED),
        (lambda path: ValueError(f"a traceback about {path}"), FAILED),
        (lambda path: MadeAgain(), AGAIN),
        (lambda path: None, HARMLESS),
    ],
)
def test_what_an_attack_comes_to(error: Callable[[Path], Exception | None], result: str, tmp_path: Path) -> None:
    own, before = _made(tmp_path)

    def read() -> None:
        if _files(own) != before and (raised := error(own / "number.txt")):
            raise raised

    outcomes = list(attack([Target("numbers", own, read)], 20, seed=0))
    assert [outcome.result for outcome in outcomes] == [result] * 20
    assert _files(own) == before


def test_a_reader_that_checks_nothing_is_found(tmp_path: Path) -> None:
    own, _ = _made(tmp_path)
    outcomes = list(attack([Target("numbers", own, lambda: _files(own))], 20, seed=0))
    assert {outcome.result for outcome in outcomes} == {SILENT}
    last = table([*outcomes, Outcome("words", "bit", REFUSED, "")]).splitlines()[-1].split()
    assert (last[0], last[-3:]) == ("all", ["1/21", "1", "20"])


def _made(folder: Path) -> tuple[Path, dict[str, bytes]]:
    with making(folder / "numbers", "numbers", {}) as part:
        (part / "number.txt").write_text("the number 12", encoding="utf-8")
    return folder / "numbers", _files(folder / "numbers")


def _files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}
