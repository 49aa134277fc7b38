"""Tests held against mutants, in a copy of the project: who notices a change, and who does not."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.mutation.mutants import Mutant

PACKAGES = ("derive", "pretrain", "analysis", "experiments")
PATIENCE = 5
"""Times as long as the tests take without a mutant, and `GRACE` seconds more, and a mutant counts as noticed."""
GRACE = 60


def answering(root: Path, path: Path) -> list[Path]:
    """The test files that answer for a source file: its mirror, or else those that import it, or those of its folder.

    A mirror is `tests/derive/test_order.py` of `derive/order.py`, and `tests/derive/test_pocket_orders.py` of
    `derive/pocket/orders.py`.
    """
    mirror = root / "tests" / path.parent / f"test_{path.stem}.py"
    above = root / "tests" / path.parent.parent / f"test_{path.parent.name}_{path.stem}.py"
    if found := [one.relative_to(root) for one in (mirror, above) if one.is_file()]:
        return found
    module = re.escape(".".join(path.with_suffix("").parts).removesuffix(".__init__"))
    imported = re.compile(rf"^\s*(?:from {module} import|import {module}\b)", re.MULTILINE)
    files = sorted((root / "tests").rglob("test_*.py"))
    importing = [one for one in files if imported.search(one.read_text(encoding="utf-8"))]
    return [one.relative_to(root) for one in importing or sorted(mirror.parent.glob("test_*.py"))]


@dataclass
class Trial:
    """A copy of the project in `folder`, whose sources are changed one at a time and put back."""

    folder: Path

    @classmethod
    def of(cls, root: Path, folder: Path) -> Trial:
        """Copy the sources, the tests and what configures them."""
        for name in (*PACKAGES, "tests", "docs"):
            if (root / name).is_dir():
                shutil.copytree(root / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", ".*"))
        for file in root.glob("*.*"):
            if file.is_file():
                shutil.copy(file, folder)
        return cls(folder)

    def seconds(self, tests: Iterable[Path]) -> float:
        """How long the tests take without a mutant.

        Raises:
            ValueError: they fail.
        """
        before = time.monotonic()
        done = self._run(list(tests), None)
        if done.returncode:
            said = done.stdout.decode(errors="replace")[-2_000:]
            raise ValueError(f"{' '.join(map(str, tests))} fail without a mutant, code {done.returncode}:\n{said}")
        return time.monotonic() - before

    def survives(self, mutant: Mutant, tests: list[Path], seconds: float) -> bool:
        """Whether all tests pass in spite of the mutant; none at all is a pass. `seconds` is what they took before."""
        file = self.folder / mutant.path
        original = file.read_bytes()
        file.write_text(mutant.source, encoding="utf-8")
        try:
            return not tests or self._run(tests, PATIENCE * seconds + GRACE).returncode == 0
        except subprocess.TimeoutExpired:
            return False
        finally:
            file.write_bytes(original)

    def _run(self, tests: list[Path], timeout: float | None) -> subprocess.CompletedProcess[bytes]:
        options = ["-x", "-q", "-p", "no:cacheprovider", "--hypothesis-seed=0"]
        command = [sys.executable, "-B", "-m", "pytest", *options, *map(str, tests)]
        environment = os.environ | {"PYTHONPATH": str(self.folder)}
        return subprocess.run(
            command, cwd=self.folder, env=environment, capture_output=True, timeout=timeout, check=False
        )


def survivors(trial: Trial, drawn: list[Mutant]) -> Iterator[tuple[Mutant, bool]]:
    """Each mutant, and whether it survives the tests of its file."""
    took: dict[tuple[Path, ...], float] = {}
    for mutant in drawn:
        tests = answering(trial.folder, mutant.path)
        if tuple(tests) not in took:
            took[tuple(tests)] = trial.seconds(tests) if tests else 0.0
        yield mutant, trial.survives(mutant, tests, took[tuple(tests)])
