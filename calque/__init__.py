"""Calque's public interface.

>>> import calque
>>> derived = calque.derive("Sara ate two apples .", "trans.inv")
>>> derived.words
('ահհլեճ', 'մշկ', 'ամե', 'Ճաղա', '.')
>>> derived.origin
(3, 2, 1, 0, 4)

The four subpackages are `calque.derive`, `calque.pretrain`, `calque.analysis` and `calque.experiments`; each
imports only from those before it. Torch is imported only when a function needs it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

# This import precedes the definition of the function of the same name, so that `import calque.derive.order`
# and `calque.derive(...)` work in either order.
import calque.derive  # noqa: F401

if TYPE_CHECKING:
    from calque.analysis.checkpoint import Checkpoint
    from calque.analysis.looking import Look
    from calque.derive.on_demand import Derived
    from calque.derive.readers.parallel import Links
    from calque.experiments.session import StudySession

__all__ = ["__version__", "align", "derive", "load", "look", "records", "study"]
__version__ = "0.7.0"


def derive(
    sentence: str, language: str, parser: Path | str | None = None, runs: Path | str = "runs"
) -> Derived:
    """Derive a sentence's counterpart in a language such as "trans", "inv", "trans.inv" or "trans.syn-fr".
    The transforms in a language's name are applied from right to left.

    Transforms that use parse trees, such as "syn-fr", require `parser`, a folder of Stanza models. Learnt
    word orders are cached in the results folder, `runs`. The result contains the derived `words` and
    `origin`, the 0-based source position of each word. Raises calque.derive.errors.BadInput if a transform is
    unknown, a parser is missing, or the text is not exactly one sentence.

    >>> print(calque.derive("Sara ate two apples .", "inv"))
                1    2   3   4      5
    source      Sara ate two apples .
    <BLANKLINE>
                4      3   2   1    5
    inv         apples two ate Sara .
    <BLANKLINE>
    """
    from calque.derive.errors import BadInput
    from calque.derive.on_demand import Derived, sentences_of, transforms_of
    from calque.experiments.run.places import CACHE

    folder = Path(parser) if parser else None
    transforms = transforms_of([language], folder, Path(runs) / CACHE)
    sentences, failed = sentences_of(sentence, transforms, folder)
    if failed:
        raise BadInput(f"cannot parse the sentence: {', '.join(failed)}")
    if len(sentences) != 1:
        raise BadInput(f"the text has {len(sentences)} sentences; expected one")
    return Derived(sentences[0], transforms[0])


def align(
    source: Sequence[str], target: Sequence[str], model: Path | str | None = None, method: str | None = None
) -> list[Links]:
    """Align the words of each sentence with those of its translation; words are separated by spaces. Return
    the sorted links of each pair, as 0-based (source position, target position).

    `model` is the folder of an encoder. Without a model, fast_align is trained on the given pairs; it needs a
    few hundred pairs for useful links. `method` says how links are extracted from the encoder's hidden states
    (see `calque align --help`). Raises calque.derive.errors.BadInput if the lengths differ, the method is
    unknown, or the model cannot be read.

    >>> calque.align(["the cat", "the dog", "a dog"], ["le chat", "le chien", "un chien"])
    [[(0, 0), (1, 1)], [(0, 0), (1, 1)], [(0, 0), (1, 1)]]
    """
    from calque.derive.errors import BadInput
    from calque.experiments.commands.models import open_aligner

    if len(source) != len(target):
        counts = f"{len(source):,} sentences but {len(target):,} translations"
        raise BadInput(f"{counts}; the numbers must be equal")
    pairs = [(tuple(a.split()), tuple(b.split())) for a, b in zip(source, target, strict=True)]
    return [sorted(links) for links in open_aligner(pairs, model, method).align(pairs)]


def load(checkpoint: Path | str) -> Checkpoint:
    """Load a masked language model and its tokenizers from a run's `checkpoint` folder or any other folder.
    Raises calque.derive.errors.BadInput if the model is missing or damaged.

    >>> model = calque.load(checkpoint)  # doctest: +SKIP
    >>> model.languages  # doctest: +SKIP
    ('source', 'trans')
    >>> [guess.word for guess in model.fill("Sara <mask> two apples .", count=2)]  # doctest: +SKIP
    ['cooked', 'ate']
    """
    from calque.analysis.checkpoint import Checkpoint

    return Checkpoint.open(Path(checkpoint))


def look(checkpoint: Path | str, sentence: str = "") -> Look:
    """Load a model as in `load` and inspect its guesses for the `<mask>` in the sentence (or, without a mask,
    for each word), in each language, the nearest neighbours of its longest words, and its alignment with the
    derived sentence. Printing the results gives the output of `calque look`. Raises
    calque.derive.errors.BadInput if the model is missing, or a word is unknown.

    >>> print(calque.look(checkpoint, "the warm <mask> ."))  # doctest: +SKIP
    """
    from calque.analysis.looking import look

    return look(load(checkpoint), sentence)


def study(
    study: str,
    *settings: str,
    runs: Path | str = "runs",
    sweep: Mapping[str, Sequence[Any]] | None = None,
    name: str = "",
) -> StudySession:
    """Open a study, given by its name in `calque studies` or its Python file, with changed `settings` such as
    "train.steps=1000". `runs` is the results folder; models that other studies have trained there are reused.
    `sweep` maps settings to the values to try, as in {"dictionary.fraction": [0.05, 0.1]}; `name` is the
    report's name. Raises calque.derive.errors.BadInput if the study or a setting is invalid.

    >>> tiny = calque.study("pocket", "train.steps=20", "train.warmup=2")
    >>> tiny.study.train.steps
    20
    >>> report = tiny.run()  # doctest: +SKIP
    """
    from calque.experiments.session import StudySession, swept
    from calque.experiments.settings.catalogue import named_study
    from calque.experiments.settings.override import override

    options = tuple(swept(key, values) for key, values in (sweep or {}).items())
    return StudySession(override(named_study(study), settings), Path(runs), settings, name, options)


def records(path: Path | str) -> Any:
    """Return the records in a report's folder or a folder of committed records, one row per number with the
    description of its run: a DataFrame if pandas is installed, otherwise a list of dicts. The column `path`
    contains the model's folder; values of swept settings are numbers where possible. Raises
    calque.derive.errors.BadInput if the records are missing or damaged.

    >>> rows = calque.records("experiments/records/pocket")
    >>> len(rows)
    688
    """
    from calque.experiments.report.folder import joined_rows

    rows = joined_rows(Path(path))
    try:
        import pandas
    except ImportError:
        return rows
    return pandas.DataFrame(rows)
