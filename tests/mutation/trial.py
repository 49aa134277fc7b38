"""Tests held against mutants, in a copy of the project: who notices a change, and who does not."""

import compileall
import hashlib
import json
import math
import os
import py_compile
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal

from tests.mutation.mirrors import answering
from tests.mutation.mutants import Mutant
from tests.mutation.warm import LIBRARIES, LONGEST, TIMEOUT

PACKAGES = ("derive", "pretrain", "analysis", "experiments")
PATIENCE = 4
"""Times the processor's time that tests take without a mutant, and a while of grace, and a mutant counts as noticed."""
TRUSTED = 600
"""Seconds of a processor that tests may take which are not tried without a mutant."""
Verdict = Literal["fails", "times out", "survives"]


class Trial:
    """A copy of the project in `folder`, whose sources are changed one at a time and put back.

    Verdicts are kept in the file `kept`, a line each, and hold as long as the mutant, its file and its tests are the
    same: a run that was interrupted, or one after a new test, tries only what is new. With `trust`, no test is tried
    without a mutant first: one that fails by itself would notice every mutant.
    """

    def __init__(
        self, root: Path, folder: Path, kept: Path | None = None, libraries: Sequence[str] = LIBRARIES
    ) -> None:
        """Copy the sources, the tests and what configures them; tests run where `libraries` are loaded."""
        unwanted = shutil.ignore_patterns("__pycache__", ".*")
        for name in (*PACKAGES, "calque", "tests", "docs"):
            if (root / name).is_dir():
                shutil.copytree(root / name, folder / name, symlinks=True, ignore=unwanted)
        for file in root.glob("*.*"):
            if file.is_file():
                shutil.copy(file, folder)
        # A byte code that is told by its source's hash can never be that of a mutant tried before.
        mode = py_compile.PycInvalidationMode.CHECKED_HASH
        compileall.compile_dir(folder, quiet=2, invalidation_mode=mode)
        self.folder = folder
        self._kept = kept
        self._libraries = libraries
        lines = kept.read_text(encoding="utf-8").splitlines() if kept and kept.exists() else []
        self._known: dict[str, float | Verdict] = dict(json.loads(line) for line in lines)
        self.grace = 10.0
        self.trust = False
        self._warm: subprocess.Popen[str] | None = None

    def verdicts(self, drawn: list[Mutant]) -> Iterator[tuple[Mutant, Verdict]]:
        """Each mutant, and what its tests say.

        Raises:
            ValueError: tests fail without a mutant.
        """
        try:
            for mutant in drawn:
                yield mutant, self._verdict(mutant, answering(self.folder, mutant.path))
        finally:
            self.close()

    def retry(self, mutant: Mutant, tests: Iterable[Path]) -> Verdict:
        """What other tests say, a file at a time until one notices; files that fail without the mutant are left out."""
        trust, self.trust = self.trust, True
        for test in tests:
            if self._run([test], LONGEST)[0] == 0 and (verdict := self._verdict(mutant, [test])) != "survives":
                break
        else:
            verdict = "survives"
        self.trust = trust
        return verdict

    def close(self) -> None:
        """End the process that runs tests."""
        if self._warm:
            self._warm.communicate()  # the end of its requests
            self._warm = None

    def _verdict(self, mutant: Mutant, tests: list[Path]) -> Verdict:
        """No test at all notices nothing."""
        file = self.folder / mutant.path
        original = file.read_text(encoding="utf-8")
        held = [(self.folder / one).read_text(encoding="utf-8") for one in tests]
        key = _digest([mutant.path.as_posix(), original, *held, mutant.source])
        if isinstance(known := self._known.get(key), str):
            return known
        seconds = self._seconds(tests, _digest(held))
        file.write_text(mutant.source, encoding="utf-8")
        try:
            code = self._run(tests, PATIENCE * seconds + self.grace)[0] if tests else 0
        finally:
            file.write_text(original, encoding="utf-8")
        verdict: Verdict = "survives" if code == 0 else "times out" if code == TIMEOUT else "fails"
        self._keep(key, verdict)
        return verdict

    def _seconds(self, tests: list[Path], key: str) -> float:
        """How many seconds of a processor the tests take without a mutant."""
        if self.trust or not tests:
            return TRUSTED / PATIENCE
        if isinstance(known := self._known.get(key), float):
            return known
        code, seconds = self._run(tests, LONGEST)
        if code:
            said = (self.folder / "said").read_text(encoding="utf-8", errors="replace")[-2_000:]
            raise ValueError(f"{' '.join(map(str, tests))} fail without a mutant, code {code}:\n{said}")
        self._keep(key, seconds)
        return seconds

    def _keep(self, key: str, value: float | Verdict) -> None:
        self._known[key] = value
        if self._kept:
            with self._kept.open("a", encoding="utf-8") as file:
                file.write(json.dumps([key, value]) + "\n")

    def _run(self, tests: list[Path], seconds: float) -> tuple[int, float]:
        """The code that pytest ends with, with the same draws of hypothesis each time, and the time it took."""
        if self._warm is None:
            self._warm = subprocess.Popen(
                [sys.executable, "-B", "-P", str(Path(__file__).with_name("warm.py")), *self._libraries],
                cwd=self.folder,
                env=os.environ | {"PYTHONPATH": str(self.folder)},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        # What is loaded before pytest cannot have its assertions rewritten; of that pytest warns.
        options = ["-x", "-q", "-p", "no:cacheprovider", "--hypothesis-seed=0", "-W", "ignore:Module already imported"]
        request = {
            "arguments": [*options, *map(str, tests)],
            "seconds": math.ceil(seconds),
            "log": str(self.folder / "said"),
        }
        assert self._warm.stdin and self._warm.stdout
        print(json.dumps(request), file=self._warm.stdin, flush=True)
        if not (answer := self._warm.stdout.readline()):
            raise ValueError(f"the process that runs tests ended with {self._warm.wait()}")
        code, used = json.loads(answer)
        unshared = code == 4 and "while loading conftest" in Path(request["log"]).read_text(encoding="utf-8")
        if code > 2 and code != TIMEOUT and not unshared:  # neither passed, nor failed, nor could not be imported
            raise ValueError(f"pytest ends with {code} for {' '.join(map(str, tests))}")
        return code, used


def _digest(texts: list[str]) -> str:
    return hashlib.sha256(json.dumps(texts).encode()).hexdigest()
