"""Checks of a study's values."""

import dataclasses
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from calque.analysis.records.record import ALIGNMENT
from calque.analysis.statistics.intervals import FEWEST
from calque.analysis.tasks.catalog import TASKS
from calque.derive.errors import BadInput, shown, unknown
from calque.derive.sources.files import Files
from calque.experiments.run.places import name_mistakes
from calque.experiments.study import Study
from calque.experiments.study.gold import GoldPairs
from calque.experiments.study.languages import DerivedLanguages, NaturalLanguages
from calque.experiments.study.measures import MEASURES, ExampleMeasure, Growth, Interventions
from calque.experiments.study.tasks import language_mistakes, task_mistakes
from calque.pretrain.bitext import PairObjective
from calque.pretrain.objective import Objective

THREADS = 1_024


def study_mistakes(study: Study) -> list[str]:
    """Return the errors in a study, without duplicates."""
    wrong = [*_of_values(study), *_of_objectives(study)]
    if isinstance(study.languages, DerivedLanguages):
        wrong += _of_derived(study, study.languages)
    elif isinstance(study.languages, NaturalLanguages):
        wrong += _of_natural(study, study.languages)
    elif isinstance(study.languages, GoldPairs):
        wrong += _of_gold(study)
    if study.claims is not None:
        wrong += _of_claims(study)
    return list(dict.fromkeys(wrong or _of_paces(study)))


def _of_values(study: Study) -> Iterator[str]:
    yield from (f"model.{mistake}" for mistake in study.model.mistakes())
    yield from (f"train.{mistake}" for mistake in study.train.mistakes())
    if study.head:
        yield from (f"head.{mistake}" for mistake in study.head.mistakes())
    yield from name_mistakes("seeds", [str(seed) for seed in study.seeds])
    if not 1 <= study.threads <= THREADS:
        yield f"threads must be from 1 to {THREADS:,}, not {study.threads:,}"
    if any(not 0 <= seed < 2**63 for seed in study.seeds):
        yield "seeds must be at least 0 and below 2**63"
    if study.objectives or not isinstance(study.languages, NaturalLanguages):
        yield from study.languages.mistakes()  # natural text is read only by objectives
    yield from name_mistakes("measures", [measure.name for measure in study.measures], least=0)
    for measure in study.measures:
        yield from measure.mistakes()
    yield from name_mistakes("tasks", list(study.tasks), least=0)
    for name, task in study.tasks.items():
        yield from (f"tasks.{name}.{mistake}" for mistake in task.mistakes(name))
    if study.measure_start and not study.start:
        yield "measure_start is set, but start is missing"
    if study.encoder and not isinstance(study.languages, GoldPairs):
        yield "encoder applies only to studies on gold sets"


def _of_objectives(study: Study) -> Iterator[str]:
    objectives, derived = study.objectives, isinstance(study.languages, DerivedLanguages)
    yield from name_mistakes("objectives", [objective.name for objective in objectives], least=int(derived))
    for objective in objectives if study.model.layers > 0 else ():
        yield from objective.mistakes(study.model)
    yield from _of_masks(objectives)
    for objective in objectives:
        if objective.traits.start and isinstance(study.languages, NaturalLanguages):
            yield f"objectives: {objective.name} starts from another model, but this study trains none"
        first = _chain(objective)[-1]
        if not study.start and first.traits.needs_start:
            expected = f"train it after another objective, as in {first.name}-after-MLM"
            yield f"objectives: {first.name} cannot start from random weights; {expected}"
    if study.head and objectives and not any(objective.traits.predicts for objective in objectives):
        yield "head: none of the objectives predicts sub-words, so none can train a prediction head"


def _of_derived(study: Study, languages: DerivedLanguages) -> Iterator[str]:
    if study.paper == "links" or (study.paper == "xtreme" and not study.measure_start):
        yield f"paper: {study.paper} is about natural languages, but this study's are derived"
    if study.given:
        yield from study.given.mistakes(study.model)
    yield from (f"mixture.{mistake}" for mistake in study.mixture.mistakes(2))
    growth = any(isinstance(measure, Growth) for measure in study.measures)
    if growth and not study.train.snapshots:
        yield "train.snapshots is 0, but growth is measured on snapshots"
    if growth and not 0 < study.mixture.held_out < 1:
        yield f"mixture.held_out must be a fraction between 0 and 1, not {study.mixture.held_out}"
    yield from _of_examples(study, languages)
    with suppress(ValueError):  # transforms that do not compose are reported separately
        for transform in languages.transforms:
            if not languages.translates(transform):
                yield from _untranslated(study, transform.name)
    for objective in study.objectives if study.mixture.disjoint else ():
        if any(isinstance(part, PairObjective) for each in _chain(objective) for part in each.parts):
            yield f"objectives: {objective.name} learns from parallel sentences; mixture.disjoint leaves none"


def _of_examples(study: Study, languages: DerivedLanguages) -> Iterator[str]:
    """Yield errors about tasks and measures without examples in the source."""
    for name, task in study.tasks.items():
        if task.files:
            yield f"tasks.{name}.files: examples in derived languages come from their source, not from files"
    measures = [measure for measure in study.measures if isinstance(measure, ExampleMeasure)]
    for measure in measures:
        if isinstance(measure, Interventions) and measure.task not in study.tasks:
            yield f"measures: interventions fine-tune on {measure.task}, which is not among the tasks"
    available = languages.source.tasks
    there = ", ".join(available) or "none"
    needed = dict.fromkeys([*study.tasks, *(measure.task for measure in measures)])
    if lacking := [name for name in needed if (TASKS[name].data if name in TASKS else name) not in available]:
        yield f"source has no examples of {', '.join(map(shown, lacking))}; there are {there}"
    easy = languages.source.easy if isinstance(languages.source, Files) else None
    for name in easy.tasks if easy else ():
        if name not in available:
            yield f"source.easy.tasks: source has no examples of {name}; there are {there}"


def _untranslated(study: Study, transform: str) -> Iterator[str]:
    """Yield an error for each objective that needs dictionary pairs of different words, which this transform
    does not produce."""
    for objective in study.objectives:
        if any(each.traits.dictionary for each in _chain(objective)):
            needed = f"{objective.name} needs dictionary pairs of different words"
            advice = "use a new script, as in trans, or other objectives"
            yield f"objectives: {needed}, but there are none under {transform}; {advice}"


def _of_natural(study: Study, languages: NaturalLanguages) -> Iterator[str]:
    yield from _of_other_languages(study, "xtreme")
    yield from task_mistakes(study.tasks, languages.source)
    if not (study.tasks or any(measure.parts() for measure in study.measures)):
        yield "there is nothing to measure models on; add tasks, gold sets or same_sentences"
    yield from language_mistakes("source", languages.source)
    for name in languages.texts:
        yield from language_mistakes("texts", name)
    if study.objectives:
        yield from (f"mixture.{mistake}" for mistake in study.mixture.mistakes(len(languages.texts)))
    if study.start is None:
        yield "start is missing: in natural languages, models start from an encoder"
    elif study.given and (study.start.exists() or not languages.types):  # `calque plan` lists missing files
        yield from study.given.mistakes(study.model)


def _of_gold(study: Study) -> Iterator[str]:
    yield from _of_other_languages(study, "links")
    if len(study.seeds) > 1:
        yield f"seeds: tables on gold sets can show only one seed, not {len(study.seeds)}"
    if study.encoder and not (study.encoder / "config.json").is_file():
        yield f"encoder must be a folder that transformers can load, but {study.encoder} has no config.json"
    if study.encoder and study.encoder.name in [objective.name for objective in study.objectives]:
        yield f"encoder and an objective are both named {study.encoder.name}; rename the encoder's folder"


def _of_other_languages(study: Study, paper: str) -> Iterator[str]:
    """Yield errors about values that apply only to derived languages."""
    if study.paper != paper:
        yield f"paper must be {paper} for these languages, not {study.paper}"
    for measure in study.measures:
        if measure in MEASURES.values() or isinstance(measure, ExampleMeasure):
            yield f"measures: {measure.name} applies only to derived languages"
    if study.mixture.disjoint:
        yield "mixture.disjoint applies only to derived languages"


def _of_claims(study: Study) -> Iterator[str]:
    """Yield errors about primary claims that name something not in the study, or that the study can never
    decide."""
    from calque.analysis.papers.primary import CORRELATION, PrimaryClaims  # imports matplotlib

    languages = study.languages
    if study.claims is None or not isinstance(languages, DerivedLanguages):
        yield "claims must be about models of a source and one derived language"
        return
    try:
        claims = PrimaryClaims.read(study.claims).by_line
    except BadInput as error:
        yield str(error)
        return
    objectives = [objective.name for objective in study.objectives]
    known = {"objective": objectives, "transform": languages.names, "task": [*study.tasks]}
    cells = len(objectives) * len(languages.names)
    aligned = any(measure.name == ALIGNMENT for measure in study.measures)
    for line, claim in claims.items():
        unknown_names = [(kind, name) for kind, name in claim.names if name not in known[kind]]
        wrong = [unknown(f"{kind} of the study", name, known[kind]) for kind, name in unknown_names]
        if claim.measure in (ALIGNMENT, CORRELATION) and not aligned:
            wrong.append("alignment is not among the study's measures")
        if claim.measure == CORRELATION and cells < FEWEST:
            wrong.append(f"a correlation needs {FEWEST} pairs of an objective and a transform")
        yield from (f"{study.claims}:{line}: {each}; use --set claims=none to judge none" for each in wrong)


def _of_paces(study: Study) -> Iterator[str]:
    names = [objective.name for objective in study.objectives]
    wrong = False
    for name, pace in study.paces.items():
        if name not in names:
            yield f"paces: there is no objective {shown(name)} here"
        elif pace <= 0:
            yield f"paces.{name} must be positive, not {pace:g}"
        wrong |= name not in names or pace <= 0
    if wrong:
        return
    for objective in study.objectives if isinstance(study.languages, DerivedLanguages) else ():
        portion = study.paces.get(objective.name, 1.0)
        for each in _chain(objective):
            train = study.train_of(each, portion)
            for mistake in train.mistakes() if train != study.train else ():
                yield f"{each.name}, with {train.steps} steps: train.{mistake}"
            portion *= each.traits.start[1] if each.traits.start else 1.0


def _chain(objective: Objective) -> list[Objective]:
    """Return the objective, then its starting model's, and so on."""
    start = objective.traits.start
    return [objective, *(_chain(start[0]) if start else ())]


def _of_masks(value: Any) -> Iterator[str]:
    if isinstance(value, tuple):
        for part in value:
            yield from _of_masks(part)
    elif dataclasses.is_dataclass(value):
        rate = getattr(value, "mask_rate", 0.0)
        if not 0 <= rate < 1:
            yield f"objectives: mask_rate must be at least 0 and below 1, not {rate}"
        yield from _of_masks(tuple(getattr(value, field.name) for field in dataclasses.fields(value)))
