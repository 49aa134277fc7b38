"""What a study says about itself: its size in words, its report, and the counts of what was left out."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from analysis.records.record import Floor, Record
from analysis.records.run import Run
from analysis.report.table import coverage
from analysis.results.results import over_draws
from derive.files import plain
from derive.preview import PREVIEW
from experiments.account import (
    computed_with,
    counted,
    listed,
    of_gold,
    of_languages,
    of_natural,
    of_natural_task,
    of_task,
)
from experiments.finetuning import ZeroShot
from experiments.languages import DerivedLanguages, GoldPairs, NaturalLanguages
from experiments.measures import Forms, GoldSetLinks, Growth, MeasuredStep, ProbeCheck, read_measured
from experiments.models import Model
from experiments.step import Step
from experiments.study import Study
from experiments.tasks import read_floors

HEAD = "the prediction head alone, by the first objective that predicts, before anything else"


def scale(study: Study) -> str:
    """The size of its text and its models, for titles."""
    model, train = study.model, study.train
    layers = counted(model.layers, "layer")
    if isinstance(study.languages, DerivedLanguages):
        paced = any(pace != 1 for pace in study.paces.values())
        note = "; not all objectives with as many steps" if paced else ""
        return f"{study.languages.source.title}; RoBERTa of {layers}, width {model.hidden}{note}"
    if isinstance(study.languages, GoldPairs):
        return f"RoBERTa of {layers}, width {model.hidden}, {train.steps:,} steps"
    if study.objectives:
        return f"{layers} of width {model.hidden}, {train.steps:,} steps of {train.batch:,} rows of {model.length}"
    files = [task.files for task in study.tasks.values() if task.files]
    most = max((one.limit for one in files), default=0), max((one.tested for one in files), default=0)
    kinds = zip(most, ("training examples", "test items of a language"), strict=True)
    samples = " and ".join(f"{many:,} {what}" for many, what in kinds if many)
    return f"{layers} of width {model.hidden}" + (f", at most {samples}" if samples else "")


def extent(study: Study) -> str:
    """How many models of how many steps it trains, in a line."""
    train, models, trained = study.train, study.models(Path()), study.trained()
    ids = train.steps * train.batch * study.model.length
    steps = f"{train.steps:,} steps of {train.batch} x {study.model.length} ids ({ids / 1e6:,.1f} M)"
    starts = len(trained) - len(models)
    before = f"; {starts} more runs train what some of them start from" if starts else ""
    start = f", from {study.start}" if study.start else ""
    tasks = f"; tasks: {', '.join(study.tasks)}" if study.tasks else ""
    what = f"{counted(len(models), 'model')} of {steps}{start}{before}" if models else f"{study.start} as it is"
    return what + tasks


def account(study: Study, root: Path) -> list[str]:
    """What came in and went out when the languages and the examples of tasks were derived, and where to look."""
    steps = [step for step in study.steps(root) if step.stage == "derive"]
    lines = list(_of_data(study, root))
    if isinstance(study.languages, DerivedLanguages):
        return [*lines, *(f"{step.folder}: read {PREVIEW}" for step in steps if PREVIEW in step.open().digests)]
    return [*lines, *(str(step.folder) for step in steps)]


def measured(study: Study, root: Path) -> list[MeasuredStep]:
    models = [*study.given_models(root), *study.models(root)]
    found = [read_measured(step) for model in models for step in study.measuring(root, model)]
    if not isinstance(study.languages, GoldPairs):
        return found
    aligners = [read_measured(step) for step in study.baselines(root)]
    before = len(aligners) - (len(study.languages.sets) if study.encoder else 0)
    return [*aligners[:before], *found, *aligners[before:]]


def runs_and_records(found: Sequence[MeasuredStep]) -> tuple[list[Run], list[Record]]:
    """The runs that measurements are about, each once, and all records."""
    runs = {run.id: run for one in found for run in one.runs}
    return list(runs.values()), [record for one in found for record in one.records]


def floors_of(study: Study, root: Path) -> list[Floor]:
    """The floors of the tasks: their means, if each seed has data of its own."""
    if isinstance(study.languages, GoldPairs):
        return []
    draws = [[row for step in study.floors(root, seed) for row in read_floors(step)] for seed in study.data_seeds]
    return over_draws(draws)


def exclusions(study: Study, root: Path, found: Sequence[MeasuredStep]) -> list[str]:
    """What was left out of text, examples and measures, and why, a line each."""
    languages, home = study.languages, study.home(root)
    if isinstance(languages, GoldPairs):
        lines = list(of_gold(map(languages.of_set, languages.sets)))
        counted = [(one.step.folder.relative_to(home), one.exclusions) for one in found]
        return lines + [f"{name}: {n:,} {what}" for name, counts in counted for what, n in counts.items() if n]
    lines = [*_of_data(study, root), *_of_pretraining(study.models(root))]
    if isinstance(languages, NaturalLanguages):
        for one in found:
            name, run = one.step.config.measure.name, one.runs[0].id
            lines += [f"{name}, {run}: {count:,} {what}" for what, count in one.exclusions.items()]
    elif any(isinstance(measure, Forms) for measure in study.measures) and not languages.source.lemmas():
        lines.append(Forms.UNKNOWN)
    return lines


def _of_data(study: Study, root: Path) -> Iterator[str]:
    """What was left out when text and examples were prepared."""
    derived = isinstance(study.languages, DerivedLanguages)
    for seed in study.data_seeds:
        prefix = f"seed {seed}: " if len(study.data_seeds) > 1 else ""
        lines: list[str] = []
        if data := study.languages_step(root, seed):
            lines += (of_languages if derived else of_natural)(data.open().facts)
        for name, step in study.examples(root, seed).items():
            lines += of_task(step.open().facts) if derived else of_natural_task(name, step.open().facts)
        yield from (prefix + line for line in lines)
    if isinstance(study.languages, NaturalLanguages):
        parts = [part for measure in study.measures for part in measure.parts()]
        yield from of_gold(part.text for part in parts if isinstance(part, GoldSetLinks))


def _of_pretraining(models: Sequence[Model]) -> Iterator[str]:
    """What of the corpora no pretraining instance has, by objective."""
    left_out: set[tuple[str, str, int]] = set()
    for model in models:
        assert isinstance(model.weights, Step)
        counts = model.weights.open().facts["left out"]
        left_out |= {(model.training.objective.name, why, count) for why, count in counts.items()}
    yield from (f"{objective}: {count:,} {why}" for objective, why, count in sorted(left_out) if count)


Facts = Iterator[tuple[str, str]]


def facts_of(study: Study, root: Path, found: Sequence[MeasuredStep]) -> Facts:
    if isinstance(study.languages, DerivedLanguages):
        return _derived_facts(study, study.languages, root, study.models(root))
    if isinstance(study.languages, NaturalLanguages):
        return _natural_facts(study, study.languages, study.models(root), [one.step for one in found])
    return iter(_gold_facts(study, study.languages))


def _derived_facts(study: Study, languages: DerivedLanguages, root: Path, models: Sequence[Model]) -> Facts:
    identity = _identity(models[-1] if study.alone else models[0])
    if study.paces:
        yield "Steps, as a multiple of training's", ", ".join(f"{name} {pace:g}" for name, pace in study.paces.items())
    yield "Seeds", ", ".join(map(str, study.seeds))
    growth = next((measure for measure in study.measures if isinstance(measure, Growth)), None)
    if not growth and not study.alone:
        yield "Intervals", coverage(study.seeds, languages.draws)
    yield "Model", listed(identity["model"])
    yield "Training", listed(identity["train"])
    if study.alone:
        yield "The source alone", ", ".join(f"{steps:,}" for steps in study.alone.steps(study.train)) + " steps"
        batches = ", ".join(map(str, study.alone.batches or ("–",)))
        yield "The source alone, all steps", f"{batches} rows a step"
        yield "Held out", f"the last {study.mixture.held_out:.1%} of the sentences"
    if growth:
        yield "Held out", f"the last {study.mixture.held_out:.1%} of the text, on which all models are probed"
        (check,) = study.probe_checks(root, study.groups(root, study.seeds[0])[0], study.seeds[0])
        counts: Mapping[str, Mapping[str, int]] = check.open().facts[ProbeCheck.COUNTS]
        fewest = {what: min(of[what] for of in counts.values()) for what in next(iter(counts.values()))}
        yield (
            "Probes",
            f"{fewest['pairs']:,} parallel sentences, {fewest['masked']:,} masked ids of each language, "
            f"{fewest['tagged']:,} tagged words to learn from and {fewest['tested']:,} to test on",
        )
    yield "Dictionary", f"{languages.dictionary.fraction:.0%} of the types, by {languages.dictionary.by}"
    home = study.home(root)
    prints = dict.fromkeys(study.of_seed(seed).step(home).fingerprint for seed in study.data_seeds)
    yield "Languages", f"{', '.join(prints)} (fingerprint of the derived data)"
    yield from computed_with(identity["threads"], identity["device"])


def _identity(model: Model) -> Mapping[str, Any]:
    assert isinstance(model.weights, Step)
    identity: Mapping[str, Any] = model.weights.open().facts["identity"]
    return identity


def _gold_facts(study: Study, languages: GoldPairs) -> list[tuple[str, str]]:
    return [
        ("Seed", ", ".join(map(str, study.seeds))),
        ("Model", listed(vars(study.model))),
        ("Training", listed(plain(study.train))),
        ("Vocabulary", f"{languages.vocabulary:,} types, byte-level BPE, both languages in one"),
        ("Encoder given", str(study.encoder or "none")),
        *computed_with(study.threads, more=("scipy",)),
    ]


def _natural_facts(
    study: Study, languages: NaturalLanguages, models: Sequence[Model], measures: Sequence[Step]
) -> Facts:
    assert study.given
    yield "Start", f"{study.given.checkpoint.name}, {study.given.fingerprint} (fingerprint of its files)"
    yield "Seeds", ", ".join(map(str, study.seeds))
    if models:
        identity = _identity(models[0])
        yield "Model", listed(identity["model"])
        which = "those that occur" if languages.table == "used" else "all"
        yield "Rows of its table", f"{models[0].training.rows:,} of the tokenizer's types: {which}"
        head = f"{listed(study.head.recipe)}; {HEAD}" if study.head else "drawn where the start has none"
        yield "Prediction head", head
        yield "Training", listed(identity["train"])
        yield "Mixture", study.mixture.title
        for model in models[: len(study.objectives)]:  # alike for all seeds
            assert isinstance(model.weights, Step)
            amounts = model.weights.open().facts["shown"]
            rows = ", ".join(f"{name} {part['rows']:,} rows" for name, part in amounts.items() if part["rows"])
            yield f"Shown, {model.training.objective.name}", rows
    for name, task in study.tasks.items():
        grid = (("learning rates", task.learning_rates), ("batches", task.batches), ("epochs", task.epochs))
        tried = "".join(f"; {what} tried: {', '.join(map(str, values))}" for what, values in grid if values)
        yield f"Fine-tuning, {name}", listed(vars(task.finetune)) + tried
    for step in measures:
        measure = step.config.measure
        if isinstance(measure, ZeroShot) and len(measure.configs) > 1:
            settings = [vars(config) for config in measure.configs]
            varied = [name for name in settings[0] if len({each[name] for each in settings}) > 1]
            facts = step.open().facts
            choice = listed({name: settings[facts["chosen"]][name] for name in varied})
            dev = ", ".join(f"{100 * value:.1f}" for value in facts["dev"])
            yield f"Chosen, {step.title}", f"{choice}; the settings’ means over the dev sets, percent: {dev}"
    facts = measures[0].open().facts["made with"]
    yield from computed_with(facts["threads"], facts["device"], ("scipy",))
