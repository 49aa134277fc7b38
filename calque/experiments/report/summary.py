"""A study's size, configuration and exclusions, as text for its report."""

import platform
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from calque.derive.fingerprint import plain
from calque.derive.on_demand import PREVIEW
from calque.derive.readers.text import UNKNOWN_WORDS
from calque.derive.transform import TORN
from calque.experiments.run.step import COMPUTE
from calque.experiments.settings.override import Variant
from calque.experiments.study import Study
from calque.experiments.study.languages import DerivedLanguages

EFFECTS = {
    "unseen types": "types never occur in the corpus; the dictionary and alignment@1 exclude them",
    "rare words not trained on": "occurrences of rare or very long words are encoded but not learnt from",
}
"""The meaning of each count in a manifest's `vocabulary` entry."""
Fact = tuple[str, str]  # a title and a value
LIBRARIES = ("calque", "torch", "transformers", "tokenizers", "numpy", "scipy")


def counted(number: int, one: str) -> str:
    """Format a number with its noun: `1 model`, `12 models`."""
    return f"{number:,} {one}{'' if number == 1 else 's'}"


def listed(values: Mapping[str, Any]) -> str:
    """Format settings on one line: `layers 2, heads 4`."""
    return ", ".join(f"{key} {value}" for key, value in values.items() if key != "kind")


def scale(study: Study) -> str:
    """Return the size of a study's text and models, for titles."""
    model, train, languages = study.model, study.train, study.languages
    layers = counted(model.layers, "layer")
    if isinstance(languages, DerivedLanguages):
        paced = any(pace != 1 for pace in study.paces.values())
        note = "; numbers of steps differ between objectives" if paced else ""
        halves = ", disjoint halves" if study.mixture.disjoint else ""
        return f"{languages.source.title}{halves}; RoBERTa of {layers}, width {model.hidden}{note}"
    if languages.gold_sets:
        return f"RoBERTa of {layers}, width {model.hidden}, {train.steps:,} steps"
    if study.objectives:
        rows = f"{train.batch:,} rows of {model.length}"
        return f"{layers} of width {model.hidden}, {train.steps:,} steps of {rows}"
    files = [task.files for task in study.tasks.values() if task.files]
    numbers = {
        "training examples": max((task_files.limit for task_files in files), default=0),
        "test items of a language": max((task_files.tested for task_files in files), default=0),
    }
    samples = " and ".join(f"{number:,} {what}" for what, number in numbers.items() if number)
    return f"{layers} of width {model.hidden}" + (f", at most {samples}" if samples else "")


def scale_of(studies: Iterable[Study]) -> str:
    """Merge the scales of several studies, with `1/2` where a word differs."""
    scales = [scale(study).split() for study in studies]
    if len({len(words) for words in scales}) > 1:
        return " or ".join(dict.fromkeys(map(" ".join, scales)))
    return " ".join("/".join(dict.fromkeys(words)) for words in zip(*scales, strict=True))


# Exclusions


def account(study: Study, root: Path) -> list[str]:
    """Return a line for each count recorded while deriving languages and examples, and for each folder."""
    lines = list(_of_data(study, root))
    for artefact in (step.open() for step in study.steps(root) if step.stage == "derive"):
        preview = f": read {PREVIEW}" if PREVIEW in artefact.digests else ""
        lines.append(f"{artefact.folder}{preview}")
    return lines


def exclusions(studies: Iterable[Study], root: Path) -> list[str]:
    """List the exclusions from text, examples and measures, with reasons."""
    lines = list[str]()
    for study in studies:
        lines += _of_data(study, root)
        models = () if study.languages.gold_sets else study.models(root)
        steps = [(model.training.objective.name, model.step) for model in models]
        if not study.languages.derived:
            steps += [(step.title, step) for step in study.measured(root)]
        for name, step in steps:
            left_out = step.open().facts["left out"].items()
            lines += [f"{name}: {count:,} {why}" for why, count in left_out if count]
    return list(dict.fromkeys(lines))


def _of_data(study: Study, root: Path) -> Iterator[str]:
    for seed in study.data_seeds:
        prefix = f"seed {seed}: " if len(study.data_seeds) > 1 else ""
        data = study.data(root, seed)
        steps = {"": data.text} if data.text else {}
        for name, step in (steps | dict(data.examples)).items():
            yield from (prefix + line for line in _omissions(step.open().facts, name))
    from calque.experiments.study.gold import GoldSetLinks

    parts = [part for measure in study.measures for part in measure.parts({}, {})]
    texts = [part.text for part in parts if isinstance(part, GoldSetLinks)]
    texts += [step.config.text for step in study.data(root).aligners]
    for name, text in {text.name: text for text in texts}.items():
        counts = {"sentence pairs": len(text.set.pairs), **text.set.gold.counts}
        yield from (f"{name}: {count:,} {what}" for what, count in counts.items())


def _omissions(facts: Mapping[str, Any], name: str = "") -> Iterator[str]:
    """Yield a line for each count or exclusion in the manifest of a part of the data."""
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
    parts = [*facts.get("splits", {}).items()]
    if isinstance(languages := facts.get("languages"), Mapping):
        parts += languages.items()
    parts += [("-".join(pair["languages"]), pair) for pair in facts.get("pairs", ()) if "in" in pair]
    for part, inner in parts:
        yield from _omissions(inner, f"{name}, {part}" if name else part)
    for what, effect in EFFECTS.items():
        if count := facts.get("vocabulary", {}).get(what):
            yield f"vocabulary: {count:,} {effect}"


def _counts(facts: Mapping[str, Any]) -> str:
    return ", ".join(f"{count:,} {what}" for what, count in facts.items() if isinstance(count, int))


# Configuration and cost


def facts_of(variants: Sequence[Variant], root: Path, about: Mapping[str, Any]) -> list[Fact]:
    """Return the swept settings, the facts that all variants of a study share, and the cost."""
    swept: dict[str, dict[str, None]] = {}
    for settings, _ in variants:
        for key, value in settings.items():
            swept.setdefault(key, {})[value] = None
    first, *others = [list(_facts_of(study, root)) for _, study in variants]
    shared = [fact for fact in first if all(fact in facts for facts in others)]
    return [*((key, ", ".join(values)) for key, values in swept.items()), *shared, *_cost(about)]


def described_facts(about: Mapping[str, Any]) -> list[Fact]:
    """Return the facts in a report's description."""
    facts = {
        "Seeds": ", ".join(map(str, about["seeds"])),
        "Settings": "; ".join(about.get("settings", ())),
        "Sweep": "; ".join(about.get("sweep", ())),
        "Machine": str(about.get("machine", "")),
        "Libraries": listed(about.get("versions", {})),
    }
    return [*(fact for fact in facts.items() if fact[1]), *_cost(about)]


def _facts_of(study: Study, root: Path) -> Iterator[Fact]:
    models, measured = study.models(root), study.measured(root)
    if study.given:
        yield "Start", f"{study.given.checkpoint.name}, {study.given.fingerprint} (fingerprint of its files)"
    yield "Seeds", ", ".join(map(str, study.seeds))
    if study.objectives:
        yield "Model", listed(vars(study.model))
        yield "Training", listed(plain(study.train))
    shipped = {run.file: run for model in models if (run := model.training.shipped)}
    for file, run in shipped.items():
        yield "Trained in advance", f"weights of {file.name}, SHA-256 {run.identity()}"
    if study.paces:
        yield "Steps, as multiples of train.steps", listed(study.paces)
    yield from study.languages.facts(study).items()
    for name, task in study.tasks.items():
        yield f"Fine-tuning, {name}", listed(vars(task.finetune))
    machine = measured[0].open().facts["made with"] if measured else models[0].step.open().facts["identity"]
    yield "Machine", f"{platform.machine()}, {machine['device']}, {machine['threads']} thread(s) per model"
    yield "Libraries", ", ".join(f"{name} {version(name)}" for name in LIBRARIES)


def _cost(about: Mapping[str, Any]) -> Iterator[Fact]:
    """Yield the time of a report's steps, given its description, unless it is unknown."""
    if cost := about.get(COMPUTE):
        yield "Compute", f"{cost['steps']:,} steps took {cost['seconds'] / 3600:,.1f} hours"
