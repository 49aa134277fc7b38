"""Checks of a study's values. Each part of a study checks its own values; the languages also check other
values that depend on them."""

from collections.abc import Iterable, Iterator
from typing import Any

from calque.analysis.records.record import ALIGNMENT
from calque.derive.errors import BadInput, shown, unknown
from calque.experiments.run.places import name_mistakes
from calque.experiments.study import Study
from calque.experiments.study.languages import DerivedLanguages, chain_of
from calque.pretrain.objective import Objective

THREADS = 1_024


def study_mistakes(study: Study) -> list[str]:
    """Return a message for each error in a study's values."""
    wrong = [*_of_values(study), *_of_objectives(study), *study.languages.mistakes(study)]
    if study.claims is not None:
        wrong += _of_claims(study)
    return list(dict.fromkeys(wrong or _of_paces(study)))


def _of_values(study: Study) -> Iterator[str]:
    configs: dict[str, Any] = {"model": study.model, "train": study.train, "head": study.head}
    for name, config in configs.items():
        yield from (f"{name}.{mistake}" for mistake in (config.mistakes() if config else ()))
    yield from name_mistakes("seeds", [str(seed) for seed in study.seeds])
    if not 1 <= study.threads <= THREADS:
        yield f"threads must be from 1 to {THREADS:,}, not {study.threads:,}"
    if any(not 0 <= seed < 2**63 for seed in study.seeds):
        yield "seeds must be at least 0 and below 2**63"
    yield from name_mistakes("measures", [measure.name for measure in study.measures], least=0)
    for measure in study.measures:
        yield from measure.mistakes(study)
    yield from name_mistakes("tasks", list(study.tasks), least=0)
    for name, task in study.tasks.items():
        yield from (f"tasks.{name}.{mistake}" for mistake in task.mistakes(name))
    if study.measure_start and not study.start:
        yield "measure_start is set, but start is missing"
    if study.encoder and not study.languages.gold_sets:
        yield "encoder applies only to studies on gold sets"


def _of_objectives(study: Study) -> Iterator[str]:
    objectives, names = study.objectives, [objective.name for objective in study.objectives]
    yield from name_mistakes("objectives", names, least=int(study.languages.derived))
    for objective in objectives if study.model.layers > 0 else ():
        yield from objective.mistakes(study.model)
    yield from _of_masks(objectives)
    for objective in objectives:
        first = chain_of(objective)[-1]
        if not study.start and first.traits.needs_start:
            expected = f"train it after another objective, as in {first.name}-after-MLM"
            yield f"objectives: {first.name} cannot start from random weights; {expected}"
    if study.head and objectives and not any(objective.traits.predicts for objective in objectives):
        yield "head: none of the objectives predicts sub-words, so none can train a prediction head"


def _of_masks(objectives: Iterable[Objective]) -> Iterator[str]:
    for part in (part for one in objectives for each in chain_of(one) for part in (each, *each.parts)):
        rate = getattr(part, "mask_rate", 0.0)
        if not 0 <= rate < 1:
            yield f"objectives: mask_rate must be at least 0 and below 1, not {rate}"


def _of_claims(study: Study) -> Iterator[str]:
    """Yield errors about primary claims that the study can never decide."""
    from calque.analysis.papers.primary import CORRELATION, PrimaryClaims  # imports matplotlib
    from calque.analysis.statistics import FEWEST

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
    aligned = any(measure.name == ALIGNMENT for measure in study.measures)
    for line, claim in claims.items():
        wrong = [
            unknown(f"{kind} of the study", name, known[kind])
            for kind, name in claim.names
            if name not in known[kind]
        ]
        if claim.measure in (ALIGNMENT, CORRELATION) and not aligned:
            wrong.append("alignment is not among the study's measures")
        if claim.measure == CORRELATION and len(objectives) * len(languages.names) < FEWEST:
            wrong.append(f"a correlation needs {FEWEST} pairs of an objective and a transform")
        yield from (f"{study.claims}:{line}: {each}; use --set claims=none to skip claims" for each in wrong)


def _of_paces(study: Study) -> Iterator[str]:
    names = [objective.name for objective in study.objectives]
    wrong = [f"paces: there is no objective {shown(name)} here" for name in study.paces if name not in names]
    wrong += [
        f"paces.{name} must be positive, not {pace:g}" for name, pace in study.paces.items() if pace <= 0
    ]
    yield from wrong
    for objective in study.objectives if study.languages.derived and not wrong else ():
        portion = study.paces.get(objective.name, 1.0)
        for each in chain_of(objective):
            train = study.train_of(each, portion)
            for mistake in train.mistakes() if train != study.train else ():
                yield f"{each.name}, with {train.steps} steps: train.{mistake}"
            portion *= each.traits.start[1] if each.traits.start else 1.0
