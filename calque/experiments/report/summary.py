"""A study's size and configuration, as text for its report."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from calque.experiments.run.step import COMPUTE
from calque.experiments.study import Study
from calque.experiments.study.languages import DerivedLanguages


def counted(number: int, one: str) -> str:
    """Format a number with its noun: `1 model`, `12 models`."""
    return f"{number:,} {one}{'' if number == 1 else 's'}"


def scale(study: Study) -> str:
    """Return the size of a study's text and models, for titles."""
    model, train, languages = study.model, study.train, study.languages
    layers = counted(model.layers, "layer")
    if isinstance(languages, DerivedLanguages):
        paced = any(pace != 1 for pace in study.paces.values())
        note = "; numbers of steps differ between objectives" if paced else ""
        halves = ", disjoint halves" if study.mixture.disjoint else ""
        return f"{languages.source.title}{halves}; RoBERTa of {layers}, width {model.hidden}{note}"
    if study.objectives:
        rows = f"{train.batch:,} rows of {model.length}"
        return f"{layers} of width {model.hidden}, {train.steps:,} steps of {rows}"
    limits = [(task.files.limit, task.files.tested) for task in study.tasks.values() if task.files]
    largest = zip(
        map(max, (0, 0), (0, 0), *limits), ("training examples", "test items of a language"), strict=True
    )
    samples = [f"{number:,} {what}" for number, what in largest if number]
    return f"{layers} of width {model.hidden}" + (f", at most {' and '.join(samples)}" if samples else "")


def scale_of(studies: Iterable[Study]) -> str:
    """Merge the scales of several studies, with `1/2` where a word differs."""
    scales = [scale(study).split() for study in studies]
    if len({len(words) for words in scales}) > 1:
        return " or ".join(dict.fromkeys(map(" ".join, scales)))
    return " ".join("/".join(dict.fromkeys(words)) for words in zip(*scales, strict=True))


def described_facts(about: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the configuration in a report's description, and the time of its steps."""
    texts = {key: ", ".join(map(str, about.get(key, ()))) for key in ("seeds", "settings", "sweep")}
    versions = about.get("versions", {})
    texts |= {"machine": str(about.get("machine", ""))}
    texts |= {"libraries": ", ".join(f"{name} {version}" for name, version in versions.items())}
    yield from ((key.capitalize(), text) for key, text in texts.items() if text)
    match about.get(COMPUTE):
        case {"steps": int(steps), "seconds": int() | float() as seconds}:
            yield "Compute", f"{steps:,} steps took {seconds / 3600:,.1f} hours"
