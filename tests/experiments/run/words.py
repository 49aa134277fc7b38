"""Steps that write words. Their workers import this module, which imports little, instead of the tests."""

import time
from dataclasses import dataclass

from calque.derive.errors import BadInput
from calque.derive.files import making
from calque.experiments.run.step import Step


@dataclass(frozen=True)
class Word:
    """The word that a step writes after those of the steps before it. The step takes `seconds` and ends only
    once the step that it meets has begun."""

    word: str
    before: tuple[Step, ...] = ()
    seconds: float = 0.0
    meets: str = ""

    def identity(self):
        return {"word": self.word, "before": self.before}

    def compute(self, step, machine):
        home = step.place.parent
        if self.word == "bad":
            raise BadInput("a bad word", step.folder)
        began = time.time()
        machine.report(step.title, 0, 1)
        time.sleep(self.seconds)
        if self.meets:
            (home / f"{self.word} is here").touch()
            while not (home / f"{self.meets} is here").exists():
                time.sleep(0.01)
                assert time.time() < began + 300
        with making(step.folder, step.kind, step.facts) as part:
            (part / "text").write_text(f"{''.join(map(text, self.before))}{self.word} ")
            (part / "times").write_text(f"{began} {time.time()}")
        machine.report(step.title, 1, 1)


def text(step):
    return step.open().path("text").read_text()
