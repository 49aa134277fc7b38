"""What is wrong with a study of natural languages, as it was written or set, before any file is read."""

from __future__ import annotations

from analysis.aligners.methods import BY_NAME
from analysis.records.record import SWITCHED
from analysis.tasks.catalog import TASKS
from derive.bpe import SMALLEST
from derive.readers.pos_units import WORDS
from derive.sources.files import TAGGED
from derive.unknown import shown
from experiments.across import Across, names_language, no_language
from experiments.natural_values import NaturalValues
from experiments.steps.natural_data import pair_of
from experiments.study import begun_elsewhere, masked_wrongly, named_wrongly, sized_wrongly


def mistakes_of(study: NaturalValues) -> list[str]:
    """Everything that is wrong with a study, in words; an empty list if nothing is."""
    wrong = [f"model.{mistake}" for mistake in study.model.mistakes()]
    wrong += [f"train.{mistake}" for mistake in study.train.mistakes()]
    wrong += [f"head.{mistake}" for mistake in (study.head.mistakes() if study.head else [])]
    wrong += [mistake for objective in study.objectives for mistake in objective.mistakes(study.model)]
    wrong += masked_wrongly("objectives", study.objectives) + begun_elsewhere(study.objectives)
    if study.head and study.objectives and not any(objective.traits.predicts for objective in study.objectives):
        wrong.append("head: none of the objectives predicts sub-words, so that none can train a prediction head")
    wrong += named_wrongly("objectives", [objective.name for objective in study.objectives], least=0)
    wrong += named_wrongly("seeds", [str(seed) for seed in study.seeds])
    wrong += named_wrongly("sets", list(study.sets), least=0)
    wrong += named_wrongly("aligners", list(study.aligners), least=1 if study.sets else 0)
    wrong += sized_wrongly(study.threads, SMALLEST, study.seeds)
    if unknown := [name for name in study.aligners if name not in BY_NAME]:
        wrong.append(f"aligners: there is no {', '.join(map(shown, unknown))}; there are {', '.join(BY_NAME)}")
    wrong += _of_tasks(study)
    if not (study.tasks or study.sets or study.same_sentences):
        wrong.append("a model is measured on tasks, sets or same_sentences, and there is none")
    if not names_language(study.source):
        wrong.append(f"source: {no_language(study.source)}")
    wrong += _of_what_is_read(study) if study.objectives else []
    if study.start.exists() or not study.types:  # what is still to be fetched, a plan tells
        wrong += study.begun.mistakes(study.model)
    return wrong


def _of_tasks(study: NaturalValues) -> list[str]:
    """What is wrong with what models are fine-tuned on."""
    wrong = named_wrongly("tasks", list(study.tasks), least=0)
    if lacking := [name for name in study.tasks if name not in TASKS]:
        wrong.append(f"tasks: there is no {', '.join(map(shown, lacking))}; there are {', '.join(TASKS)}")
    for name, its in study.tasks.items():
        wrong += [f"tasks.{name}.{mistake}" for mistake in its.mistakes()]
        if SWITCHED in its.ways and name in TASKS and not TASKS[name].of_pairs:
            wrong.append(f"tasks.{name}.ways: {SWITCHED} is of examples with two texts, and it has one")
        if its.files.units != WORDS and name in TASKS and TASKS[name].data != TAGGED:
            wrong.append(f"tasks.{name}.files.units: {its.files.units} applies to treebanks, which only {TAGGED} reads")
        if its.learnt_as and not _learnt_elsewhere(study, its):
            wrong.append(
                f"tasks.{name}.learnt_as: {shown(its.learnt_as)} is no task of the study that learns from the same "
                "files with the same settings, a single one"
            )
        if study.source in (*its.tests, *its.devs, *its.translations):
            wrong.append(f"tasks.{name}: {study.source} is the source, whose sets are those of files")
    return wrong


def _learnt_elsewhere(study: NaturalValues, its: Across) -> bool:
    """Whether the task that a task is learnt as is there, is learnt itself, and from the same."""
    other = study.tasks.get(its.learnt_as)
    return other is not None and not other.learnt_as and its.learns_like(other)


def _of_what_is_read(study: NaturalValues) -> list[str]:
    """What is wrong with what models are pretrained on."""
    wrong = [f"mixture.{mistake}" for mistake in study.mixture.mistakes(len(study.texts))]
    if len(study.texts) < 2:
        wrong.append(f"texts are of two languages at least, not of {len(study.texts)}")
    for name in study.bitexts:
        if lacking := [language for language in pair_of(name) if language not in study.texts]:
            wrong.append(f"bitexts: {name} is of {lacking[0]}, of which there is no text")
    if told := sorted(study.dictionaries.keys() - study.bitexts.keys()):
        wrong.append(f"dictionaries: {told[0]} is no bitext; there are {', '.join(study.bitexts)}")
    if study.sizes and (
        unsized := sorted({*study.texts} - {*study.sizes.texts} | {*study.bitexts} - {*study.sizes.bitexts})
    ):
        wrong.append(f"sizes has none of {unsized[0]}")
    if not study.bitexts:
        wrong.append("bitexts are of one pair of languages at least")
    return wrong
