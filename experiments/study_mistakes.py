"""Everything that can be wrong with a study, in words."""

import dataclasses
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from calque.analysis.records.record import ALIGNMENT
from calque.analysis.statistics.correlation import FEWEST
from calque.analysis.tasks.catalog import TASKS
from calque.derive.errors import BadInput, shown, unknown
from calque.derive.sources.files import Files
from calque.experiments.languages import DerivedLanguages, GoldPairs, NaturalLanguages
from calque.experiments.measures import MEASURES, ExampleMeasure, Growth, Interventions
from calque.experiments.places import name_mistakes
from calque.experiments.study import Study
from calque.experiments.tasks import language_mistakes, task_mistakes
from calque.pretrain.bitext import PairObjective
from calque.pretrain.objective import Objective

THREADS = 1_024


def study_mistakes(study: Study) -> list[str]:
    """Everything wrong with the study, in words."""
    wrong = [f"model.{mistake}" for mistake in study.model.mistakes()]
    wrong += [f"train.{mistake}" for mistake in study.train.mistakes()]
    wrong += [f"head.{mistake}" for mistake in (study.head.mistakes() if study.head else [])]
    wrong += name_mistakes("seeds", [str(seed) for seed in study.seeds])
    if not 1 <= study.threads <= THREADS:
        wrong.append(f"threads is from 1 to {THREADS:,}, not {study.threads:,}")
    if any(not 0 <= seed < 2**63 for seed in study.seeds):
        wrong.append("seeds are from 0 to below 2**63")
    wrong += _of_objectives(study)
    reads = study.objectives or not isinstance(study.languages, NaturalLanguages)
    wrong += study.languages.mistakes() if reads else []
    wrong += name_mistakes("measures", [measure.name for measure in study.measures], least=0)
    wrong += [mistake for measure in study.measures for mistake in measure.mistakes()]
    wrong += name_mistakes("tasks", list(study.tasks), least=0)
    wrong += [f"tasks.{name}.{mistake}" for name, its in study.tasks.items() for mistake in its.mistakes(name)]
    if isinstance(study.languages, DerivedLanguages):
        wrong += _of_derived(study, study.languages)
    elif isinstance(study.languages, NaturalLanguages):
        wrong += _of_natural(study, study.languages)
    elif encoder := study.encoder:
        if not (encoder / "config.json").is_file():
            wrong.append(f"encoder is a folder that transformers loads, and {encoder} has no config.json")
        if encoder.name in [objective.name for objective in study.objectives]:
            wrong.append(f"encoder has the name of an objective, {encoder.name}: tables could not distinguish them")
    wrong += [*_unused(study), *_of_claims(study)]
    return wrong + (_of_paces(study) if not wrong else [])


def _of_claims(study: Study) -> Iterator[str]:
    """What the primary claims name that the study lacks, and claims that it could never decide."""
    languages = study.languages
    if study.claims is None:
        return
    from calque.analysis.papers.primary import CORRELATION, PrimaryClaims  # loads matplotlib

    if not isinstance(languages, DerivedLanguages):
        yield "claims are about models of a source and one derived language"
        return
    try:
        claims = PrimaryClaims.read(study.claims).by_line
    except BadInput as error:
        yield str(error)
        return
    objectives, without = [objective.name for objective in study.objectives], "--set claims=none judges none"
    known = {"objective": objectives, "transform": languages.names, "task": [*study.tasks]}
    aligned = any(measure.name == ALIGNMENT for measure in study.measures)
    for line, claim in claims.items():
        place = f"{study.claims}:{line}: "
        for kind, name in dict.fromkeys(claim.names):
            if name not in known[kind]:
                yield f"{place}{unknown(f'{kind} of the study', name, known[kind])}; {without}"
        if claim.measure in (ALIGNMENT, CORRELATION) and not aligned:
            yield f"{place}alignment is not among the study's measures; {without}"
        if claim.measure == CORRELATION and len(objectives) * len(languages.names) < FEWEST:
            yield f"{place}a correlation needs {FEWEST} cells, an objective under a transform each; {without}"


def _unused(study: Study) -> list[str]:
    """The problems of values that only languages of another kind use."""
    paper = {NaturalLanguages: "xtreme", GoldPairs: "links"}.get(type(study.languages), "")
    wrong = [] if paper in ("", study.paper) else [f"paper is {paper} for these languages, not {study.paper}"]
    if study.measure_start and not study.start:
        wrong.append("measure_start: start is missing")
    if not paper and (study.paper == "links" or (study.paper == "xtreme" and not study.measure_start)):
        wrong.append(f"paper: {study.paper} is about natural languages, and this study's are derived")
    if not isinstance(study.languages, DerivedLanguages):
        own = [m for m in study.measures if m in MEASURES.values() or isinstance(m, ExampleMeasure)]
        names = [measure.name for measure in own]
        wrong += [f"measures: {name} is about derived languages" for name in names]
        wrong += ["mixture.disjoint is about derived languages"] if study.mixture.disjoint else []
    if not isinstance(study.languages, GoldPairs):
        wrong += ["encoder is for studies of gold sets"] if study.encoder else []
    elif len(study.seeds) > 1:
        wrong.append(f"seeds: tables of gold sets are about one seed, not {len(study.seeds)}")
    return wrong


def _of_objectives(study: Study) -> list[str]:
    objectives = study.objectives
    least = 1 if isinstance(study.languages, DerivedLanguages) else 0
    wrong = name_mistakes("objectives", [objective.name for objective in objectives], least)
    if study.model.layers > 0:
        wrong += [mistake for objective in objectives for mistake in objective.mistakes(study.model)]
    wrong += list(dict.fromkeys(_of_masks(objectives)))
    if isinstance(study.languages, NaturalLanguages):
        names = [objective.name for objective in objectives if objective.traits.start]
        wrong += [f"objectives: {name} starts from another model, but none is trained here" for name in names]
    if not study.start:
        needy = dict.fromkeys(first.name for first in map(_first, objectives) if first.traits.needs_start)
        wrong += [
            f"objectives: {name} cannot start from random weights; expected it after another, as {name}-after-MLM"
            for name in needy
        ]
    if study.head and objectives and not any(objective.traits.predicts for objective in objectives):
        wrong.append("head: none of the objectives predicts sub-words, so none can train a prediction head")
    return wrong


def _of_derived(study: Study, languages: DerivedLanguages) -> list[str]:
    wrong = study.given.mistakes(study.model) if study.given else []
    wrong += [
        f"tasks.{name}.files: examples of derived languages come from their source"
        for name, its in study.tasks.items()
        if its.files
    ]
    growth = any(isinstance(measure, Growth) for measure in study.measures)
    without = [m.task for m in study.measures if isinstance(m, Interventions) and m.task not in study.tasks]
    wrong += [f"measures: interventions fine-tune on {name}, which is not among the tasks" for name in without]
    of_examples = (measure.task for measure in study.measures if isinstance(measure, ExampleMeasure))
    tasks, available = [*study.tasks, *of_examples], languages.source.tasks
    there = ", ".join(available) or "none"
    if unknown := [name for name in tasks if (TASKS[name].data if name in TASKS else name) not in available]:
        wrong.append(f"source has no examples of {', '.join(map(shown, unknown))}; there are {there}")
    easy = languages.source.easy if isinstance(languages.source, Files) else None
    lacking = [task for task in easy.tasks if task not in available] if easy else []
    wrong += [f"source.easy.tasks: source has no examples of {task}; there are {there}" for task in lacking]
    if growth and not study.train.snapshots:
        wrong.append("train.snapshots is 0: growth is measured on snapshots, which are then not kept")
    if growth and not 0 < study.mixture.held_out < 1:
        wrong.append(f"mixture.held_out is a fraction between 0 and 1, not {study.mixture.held_out}")
    wrong += [f"mixture.{mistake}" for mistake in study.mixture.mistakes(2)]
    wrong += list(dict.fromkeys(_untranslated(study, languages)))
    if study.mixture.disjoint:
        names = [objective.name for objective in study.objectives if _reads_pairs(objective)]
        wrong += [f"objectives: {name} learns from parallel sentences; mixture.disjoint leaves none" for name in names]
    return wrong


def _untranslated(study: Study, languages: DerivedLanguages) -> Iterator[str]:
    """Objectives whose dictionary would have no entry of two different words."""
    with suppress(ValueError):  # transforms that do not compose have a mistake of their own
        for each in languages.transforms:
            for objective in [] if languages.translates(each) else study.objectives:
                if _needs_dictionary(objective):
                    yield (
                        f"objectives: {objective.name} needs a dictionary of different words, and under {each.name} "
                        "it has none; expected a new script, as in trans, or other objectives"
                    )


def _needs_dictionary(objective: Objective) -> bool:
    start = objective.traits.start
    return objective.traits.dictionary or bool(start and _needs_dictionary(start[0]))


def _reads_pairs(objective: Objective) -> bool:
    start = objective.traits.start
    parallel = any(isinstance(part, PairObjective) for part in objective.parts)
    return parallel or bool(start and _reads_pairs(start[0]))


def _of_natural(study: Study, languages: NaturalLanguages) -> list[str]:
    wrong = task_mistakes(study.tasks, languages.source)
    if not (study.tasks or any(part for measure in study.measures for part in measure.parts())):
        wrong.append("expected tasks, gold sets or same_sentences to measure models on")
    wrong += language_mistakes("source", languages.source)
    wrong += [mistake for name in languages.texts for mistake in language_mistakes("texts", name)]
    if study.objectives:
        wrong += [f"mixture.{mistake}" for mistake in study.mixture.mistakes(len(languages.texts))]
    if study.start is None:
        return [*wrong, "start is missing: models of natural languages start from an encoder"]
    if study.given and (study.start.exists() or not languages.types):  # a plan lists the files to fetch
        wrong += study.given.mistakes(study.model)
    return wrong


def _of_paces(study: Study) -> list[str]:
    names = [objective.name for objective in study.objectives]
    wrong = [f"paces: there is no objective {shown(name)} here" for name in study.paces if name not in names]
    wrong += [f"paces.{name} is above 0, not {pace:g}" for name, pace in study.paces.items() if pace <= 0]
    if wrong or not isinstance(study.languages, DerivedLanguages):
        return wrong
    trained = [(objective, study.paces.get(objective.name, 1.0)) for objective in study.objectives]
    for objective, portion in trained:  # grows by the start of each
        if objective.traits.start:
            first, share = objective.traits.start
            trained.append((first, portion * share))
    return list(
        dict.fromkeys(
            f"{objective.name}, of {train.steps} steps: train.{mistake}"
            for objective, portion in reversed(trained)
            if (train := study.train_of(objective, portion)) != study.train
            for mistake in train.mistakes()
        )
    )


def _first(objective: Objective) -> Objective:
    """The objective of the first model in a chain of starts."""
    return _first(objective.traits.start[0]) if objective.traits.start else objective


def _of_masks(value: Any) -> list[str]:
    if isinstance(value, tuple):
        return [mistake for part in value for mistake in _of_masks(part)]
    if not dataclasses.is_dataclass(value):
        return []
    rate = getattr(value, "mask_rate", 0.0)
    wrong = [] if 0 <= rate < 1 else [f"objectives: mask_rate is a share from 0 to below 1, not {rate}"]
    return wrong + _of_masks(tuple(getattr(value, field.name) for field in dataclasses.fields(value)))
