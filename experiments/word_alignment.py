"""A study of word alignment: which gold sets, which text, which encoders. Plain values; a function returns one.

<root>/<study>/<set>/data-<fp>/                                 its text as a pair of languages
<root>/<study>/<set>/<objective>/seed-<k>-<fp>/                 a pretraining run
<root>/<study>/<set>/<objective>/seed-<k>-<fp>/links-<fp>/      how its encoder aligns, and what got no links
<root>/<study>/<set>/{diagonal,fast_align,encoder}-<fp>/        the same of what needs no encoder, and of one given
<root>/<study>/report/                                          records, tables, figure, report.html
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from analysis.measures.gold import SETS
from derive.files import fingerprint, sha256
from derive.readers.parallel import ParallelText
from derive.vocabulary import SMALLEST
from pretrain.config import ModelConfig, TrainConfig
from pretrain.objective import Objective

FORMAT = 1
"""Goes up when the same files would give other sentences or other scores."""


@dataclass(frozen=True)
class WordAlignment:
    """Gold sets in the folder `gold`, the text that fast_align and our own encoders learn from, and what is trained.

    `text` has parallel text by gold set, to be learnt from together with the set's own sentences; encoders are
    pretrained for the sets that it names. `encoder` is a folder with a model of any origin, for all sets.
    """

    name: str
    scale: str
    gold: Path
    text: dict[str, tuple[ParallelText, ...]]
    objectives: tuple[Objective, ...]
    vocabulary: int
    sets: tuple[str, ...] = SETS
    encoder: Path | None = None
    seed: int = 0
    model: ModelConfig = field(default_factory=ModelConfig)
    train: TrainConfig = field(default_factory=TrainConfig)
    threads: int = 1

    def mistakes(self) -> list[str]:
        """Everything that is wrong with this study, in words; an empty list if nothing is."""
        wrong = [f"model.{mistake}" for mistake in self.model.mistakes()]
        wrong += [f"train.{mistake}" for mistake in self.train.mistakes()]
        names = [objective.name for objective in self.objectives]
        for key, values in {"sets": list(self.sets), "objectives": names}.items():
            if len(set(values)) < len(values):
                wrong.append(f"{key} names one twice: {', '.join(values)}")
        if not self.sets:
            wrong.append("sets names at least one")
        if unknown := sorted(set(self.text) - set(self.sets)):
            wrong.append(f"text is for sets, and {', '.join(unknown)} is none of them")
        if self.model.layers > 0:
            wrong += [mistake for objective in self.objectives for mistake in objective.mistakes(self.model)]
        if self.encoder and not (self.encoder / "config.json").is_file():
            wrong.append(f"encoder is a folder that transformers loads, and {self.encoder} has no config.json")
        if self.encoder and self.encoder.name in names:
            wrong.append(f"encoder has the name of an objective, {self.encoder.name}: tables could not tell them apart")
        if self.vocabulary < SMALLEST:
            wrong.append(f"vocabulary is at least {SMALLEST}, not {self.vocabulary}")
        if self.seed < 0:
            wrong.append(f"seed is 0 or more, not {self.seed}")
        if self.threads < 1:
            wrong.append(f"threads is at least 1, not {self.threads}")
        return wrong


@dataclass(frozen=True)
class LinkPlaces:
    """The folders of one study of word alignment below a root."""

    root: Path
    study: WordAlignment

    @property
    def home(self) -> Path:
        """Everything of the study."""
        return self.root / self.study.name

    @property
    def report(self) -> Path:
        """What is made from all records."""
        return self.home / "report"

    def data(self, name: str) -> Path:
        """A gold set's text as a pair of languages."""
        return self.home / name / f"data-{fingerprint(self._text(name), self.study.vocabulary)}"

    def run(self, name: str, objective: Objective) -> Path:
        """A pretraining run."""
        study = self.study
        made = fingerprint(self.data(name).name, objective, study.seed, study.model, study.train)
        return self.home / name / objective.name / f"seed-{study.seed}-{made}"

    def links(self, name: str, objective: Objective) -> Path:
        """How a run's encoder aligns the gold set."""
        return self.run(name, objective) / f"links-{fingerprint(FORMAT, self._gold(name))}"

    def diagonal(self, name: str) -> Path:
        """How well the diagonal does."""
        return self.home / name / f"diagonal-{fingerprint(FORMAT, self._gold(name))}"

    def statistics(self, name: str) -> Path:
        """How fast_align does."""
        return self.home / name / f"fast_align-{fingerprint(self._text(name), self._gold(name))}"

    def given(self, name: str, encoder: Path) -> Path:
        """How an encoder that was given does."""
        files = sorted(path for path in encoder.glob("*") if path.is_file())
        made = fingerprint(FORMAT, self._gold(name), {path.name: _digest(path) for path in files})
        return self.home / name / f"encoder-{made}"

    def _text(self, name: str) -> str:
        """Changes with the sentences that are learnt from for a set."""
        text = self.study.text.get(name, ())
        files = [[_digest(path) for path in (one.path, one.beside) if path] for one in text]
        return fingerprint(FORMAT, self._gold(name), files, [one.turned for one in text])

    def _gold(self, name: str) -> list[str]:
        folder = self.study.gold / name
        return [name, *(_digest(path) for path in sorted(folder.glob("*")) if path.is_file())]


def _digest(path: Path) -> str:
    """The file's SHA-256; a file that is not there has none, and whoever reads it says so."""
    if not path.is_file():
        return ""
    stat = path.stat()
    return _remembered(path, stat.st_mtime_ns, stat.st_size)


@lru_cache(maxsize=1 << 10)
def _remembered(path: Path, time: int, size: int) -> str:
    return sha256(path)
