"""Parts of a report that are not computed from records: the question, an example sentence, training curves
and model inspections."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from calque.analysis.checkpoint import Checkpoint
from calque.analysis.looking.look import look
from calque.analysis.looking.parts import Derivation, Look
from calque.analysis.papers.looks import looks
from calque.analysis.records import json_rows
from calque.analysis.report.curves import Curves
from calque.analysis.report.drawing import INK
from calque.analysis.report.sentence_figure import Example
from calque.analysis.results.results import Results
from calque.derive import strict_json
from calque.derive.errors import BadInput
from calque.derive.folder import VOCABULARY
from calque.derive.sentence import CHUNKS, Sentence, shown
from calque.derive.source import Source
from calque.derive.sources.pocket import PocketEnglish
from calque.derive.transform import Account, image_of
from calque.derive.types import USAGE, Usage
from calque.derive.vocabulary import Vocabulary
from calque.experiments.report.folder import About
from calque.experiments.run.places import CACHE
from calque.experiments.run.step import Step
from calque.experiments.settings.catalogue import studies, study_doc
from calque.experiments.settings.sweep import studies_of
from calque.experiments.study import Study
from calque.experiments.study.languages import DerivedLanguages
from calque.pretrain.checkpoint import METRICS

WORDS = range(5, 9)  # the sentence lengths, in words, that fit on a phone screen
INSIDE = 12  # maximum number of models inspected in a report
SENTENCES = 1_000  # maximum number of sentences searched for an example


def question(study: str, changed: bool) -> str:
    """Return the description of one of Calque's studies, or its question alone if settings are `changed`;
    "" for the user's own studies."""
    doc = study_doc(study) if study in studies() else ""
    return doc[: doc.find("?") + 1] if changed else doc


def example_of(studies: Iterable[Study], root: Path) -> Example | None:
    """Return a short corpus sentence in the studies' derived languages, as derived for the first seed; None
    for natural languages, or if the source's files are missing."""
    first: Example | None = None
    images: dict[str, Derivation] = {}
    for study in studies:
        names = study.languages.names if isinstance(study.languages, DerivedLanguages) else ()
        found = None if images.keys() >= set(names) else _example(study.languages, study, root)
        first = first or found
        if first and found and found.images[0].source == first.images[0].source:
            # Earlier images take precedence.
            images = images | dict(zip(names, found.images, strict=True)) | images
    return first and replace(first, images=tuple(images.values()))


def _example(languages: Any, study: Study, root: Path) -> Example | None:
    own = languages.of_seed(study.seeds[0])
    ready = [transform.ready(root / CACHE) for transform in own.transforms]
    if any("usage" in transform.needs for transform in ready):
        text = study.data(root, study.seeds[0]).text
        assert text
        types = text.folder / VOCABULARY
        vocabulary = Vocabulary.load(types)
        usage = Usage(np.load(types / USAGE), vocabulary.cut, vocabulary.specials)
        ready = [transform.informed(usage) for transform in ready]
    try:
        found = _short(own.source.ready(root / CACHE, any("tags" in transform.needs for transform in ready)))
    except BadInput:
        return None
    if found is None:
        return None
    number, sentence = found
    images = []
    for transform in ready:
        image = image_of(transform, sentence, number, Account())
        words = [transform.spell(word) for word in image.words]
        source, derived = tuple(shown(sentence.words)), tuple(shown(words))
        images.append(Derivation(transform.title, source, derived, image.origin, image.sources))
    return Example(tuple(images), sentence.tags)


def recorded_studies(about: About) -> list[Study]:
    """Return the study that a report describes, or one per combination of swept values; none if it is not
    one of Calque's."""
    try:
        return studies_of(about)
    except BadInput:
        return []


def recorded_example(studies: Sequence[Study], root: Path) -> Example | None:
    """Return an example sentence if all studies use Pocket English; other corpora are slow to parse."""
    pocket = all(isinstance(getattr(study.languages, "source", None), PocketEnglish) for study in studies)
    try:
        return example_of(studies, root) if pocket else None
    except BadInput:
        return None


def _short(source: Source) -> tuple[int, Sentence] | None:
    """Return the first short sentence near the start of a corpus, or else the shortest there, with its
    number."""
    for chunk in source.chunks():
        sentences, _ = source.sentences(chunk)
        numbered = [(CHUNKS.number(0, i), each) for i, each in enumerate(sentences[:SENTENCES]) if each.words]
        short = (pair for pair in numbered if len(pair[1]) in WORDS)
        return next(short, None) or min(numbered, key=lambda pair: len(pair[1]), default=None)
    return None


def training_curves(study: Study, root: Path, results: Results, suffix: str = "") -> Iterator[Curves]:
    """Yield each model's training curves; `suffix` distinguishes the variants in a sweep."""
    look = looks(results)
    for model in study.models(root):
        run = model.run
        path = model.weights.folder / METRICS if isinstance(model.weights, Step) else None
        if path is None or not path.is_file() or run.objective is None:
            continue
        rows = [strict_json.loads(line) for line in json_rows.lines(path)]
        names = ", ".join(language.title for language in run.languages[1:])
        title = run.objective.title + suffix
        colour = look[run.objective.name].colour if run.objective.name in look else INK
        yield Curves(", ".join(filter(None, (title, names, f"seed {run.seed}"))), title, colour, rows)


def models_inside(studies: Mapping[str, Study], root: Path) -> list[tuple[str, Look]]:
    """Inspect, for each objective, the first model that has a checkpoint; the keys of `studies` are appended
    to the objectives' titles."""
    models = dict[Path, str]()
    for suffix, study in studies.items():
        for model in study.models(root):
            title = model.run.objective.title + suffix if model.run.objective else ""
            new = title and title not in models.values() and model.training.languages
            if new and model.checkpoint.is_dir():
                models.setdefault(model.checkpoint, title)
    return [(title, look(Checkpoint.open(folder))) for folder, title in islice(models.items(), INSIDE)]
