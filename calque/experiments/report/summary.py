"""A study's size, configuration and exclusions, as text for its report."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

from calque.derive.fingerprint import plain
from calque.derive.on_demand import PREVIEW
from calque.derive.readers.text import UNKNOWN_WORDS
from calque.derive.transform import TORN
from calque.experiments.run.step import COMPUTE
from calque.experiments.study import Study
from calque.experiments.study.languages import DerivedLanguages
from calque.experiments.study.measures import GoldLinks

EFFECTS = {
    "unseen types": "types never occur in the corpus; the dictionary and alignment@1 exclude them",
    "rare words not trained on": "occurrences of rare or very long words are encoded but not learnt from",
}
"""The meaning of each count in a manifest's `vocabulary` entry."""
Fact = tuple[str, str]  # a title and a value


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


def account(study: Study, root: Path) -> list[str]:
    """Return a line for each count recorded while deriving languages and examples, and for each folder."""
    lines = list(_of_data(study, root))
    for artefact in (step.open() for step in study.steps(root) if step.stage == "derive"):
        lines.append(str(artefact.folder) + f": read {PREVIEW}" * (PREVIEW in artefact.digests))
    return lines


def exclusions(studies: Iterable[Study], root: Path) -> list[str]:
    """List the exclusions from text, examples and measures, with reasons."""
    lines = list[str]()
    for study in studies:
        lines += _of_data(study, root)
        steps = [(model.training.objective.name, model.step) for model in study.models(root)]
        if not study.languages.derived:
            steps += [(step.title, step) for step in study.measured(root)]
        for name, step in steps:
            left_out = step.open().facts["left out"].items()
            lines += [f"{name}: {count:,} {why}" for why, count in left_out if count]
    return list(dict.fromkeys(lines))


def _of_data(study: Study, root: Path) -> Iterator[str]:
    for seed in study.data_seeds:
        prefix, data = f"seed {seed}: " if len(study.data_seeds) > 1 else "", study.data(root, seed)
        for name, step in (({"": data.text} if data.text else {}) | dict(data.examples)).items():
            yield from (prefix + line for line in _omissions(step.open().facts, name))
    gold_sets = [measure.gold_sets for measure in study.measures if isinstance(measure, GoldLinks)]
    for gold_set in chain(*gold_sets):
        counts = {"sentence pairs": len(gold_set.pairs), **gold_set.gold.counts}
        yield from (f"{gold_set.name}: {count:,} {what}" for what, count in counts.items())


def _omissions(facts: Mapping[str, Any], name: str = "") -> Iterator[str]:
    if "in" in facts:
        yield f"{name}: {_counts(facts['in'])} in; {_counts(facts['out'])} out"
    if "examples" in facts and "left out" in facts:
        yield f"{name}: {facts['examples']:,} examples"
    if isinstance(facts.get("sides"), list):
        yield f"{name}: {sum(side['tokens'] for side in facts['sides']):,} sub-words"
    for why, count in facts.get("left out", {}).items():
        share = f" ({100 * count / facts['out']['words']:.1f} % of its words)" if why == UNKNOWN_WORDS else ""
        yield f"{name}: {count:,} {why}{share}"
    for why, count in facts.get("kept in place", {}).items():
        yield f"{name}: {count:,} {why} kept their order"
    if torn := facts.get("spans split"):
        yield f"{name}: {torn:,} {TORN}"
    parts = dict(facts.get("splits", {}))
    if isinstance(languages := facts.get("languages"), Mapping):
        parts |= languages
    parts |= {"-".join(pair["languages"]): pair for pair in facts.get("pairs", ()) if "in" in pair}
    for part, inner in parts.items():
        yield from _omissions(inner, f"{name}, {part}" if name else part)
    for what, effect in EFFECTS.items():
        if count := facts.get("vocabulary", {}).get(what):
            yield f"vocabulary: {count:,} {effect}"


def _counts(facts: Mapping[str, Any]) -> str:
    return ", ".join(f"{count:,} {what}" for what, count in facts.items() if isinstance(count, int))


def described_facts(about: Mapping[str, Any]) -> Iterator[Fact]:
    """Yield the configuration in a report's description, and the time of its steps."""
    texts = {key: ", ".join(map(str, about.get(key, ()))) for key in ("seeds", "settings", "sweep")}
    texts |= {"machine": str(about.get("machine", "")), "libraries": _listed(about.get("versions", {}))}
    yield from ((key.capitalize(), text) for key, text in texts.items() if text)
    match about.get(COMPUTE):
        case {"steps": int(steps), "seconds": int() | float() as seconds}:
            yield "Compute", f"{steps:,} steps took {seconds / 3600:,.1f} hours"


def shared_facts(studies: Iterable[Study], root: Path) -> list[Fact]:
    """Return the facts about models, training and tasks that all studies share."""
    first, *others = [list(_facts_of(study, root)) for study in studies]
    return [fact for fact in first if all(fact in facts for facts in others)]


def _facts_of(study: Study, root: Path) -> Iterator[Fact]:
    if study.given:
        yield "Start", f"{study.given.checkpoint.name}, {study.given.fingerprint} (fingerprint of its files)"
    if study.objectives:
        yield "Model", _listed(vars(study.model))
        yield "Training", _listed(plain(study.train))
    shipped = {run.file: run for model in study.models(root) if (run := model.training.shipped)}
    for file, run in shipped.items():
        yield "Trained in advance", f"weights of {file.name}, SHA-256 {run.identity()}"
    if study.paces:
        yield "Steps, as multiples of train.steps", _listed(study.paces)
    yield from study.languages.facts(study).items()
    for name, task in study.tasks.items():
        yield f"Fine-tuning, {name}", _listed(vars(task.finetune))


def _listed(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} {value}" for key, value in values.items() if key != "kind")
