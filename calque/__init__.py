"""Calque, a laboratory for cross-lingual transfer: the public interface.

>>> import calque
>>> derived = calque.derive("Sara ate two apples .", "trans.inv")
>>> derived.words
('ահհլեճ', 'մշկ', 'ամե', 'Ճաղա', '.')
>>> derived.origin
(3, 2, 1, 0, 4)

The packages below, from left to right by what they import: `calque.derive`, `calque.pretrain`, `calque.analysis` and
`calque.experiments`. Torch is imported when a function needs it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

if not (_link := Path(__file__).with_name("derive")).is_dir():
    raise SystemExit(f"{_link} is not a symbolic link; clone again with `git clone -c core.symlinks=true`")

# The package is imported before the function of the same name is defined: `from calque.derive.order import Invert`
# finds the package, and `calque.derive(...)` is the function, in whatever order a program does the two.
import calque.derive  # noqa: F401

if TYPE_CHECKING:
    from calque.analysis.checkpoint import Checkpoint
    from calque.analysis.looking.parts import Look
    from calque.derive.links.aligner import Links
    from calque.derive.on_demand import Derived
    from calque.experiments.session import StudySession

__all__ = ["__version__", "align", "derive", "load", "look", "records", "study"]
__version__ = version("calque")


def derive(sentence: str, language: str, parser: Path | str | None = None, runs: Path | str = "runs") -> Derived:
    """The sentence in a derived language, named by its transforms, which apply right to left.

    Args:
        sentence: one sentence.
        language: such as "trans", "inv", "trans.inv" or "trans.syn-fr".
        parser: a folder of Stanza models, which languages with another word order need.
        runs: the folder where learnt word orders are kept.

    Returns:
        The derived sentence: its `words` as the language spells them, and `origin`, the place of each in the source,
        from 0. Printed, it stands under the source, word by word.

    Raises:
        calque.derive.errors.BadInput: no such transform, a parser is missing, or the text is not one sentence.

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
    transforms, wrong = transforms_of([language], folder, Path(runs) / CACHE)
    if wrong:
        raise BadInput(wrong[0])
    sentences, failed = sentences_of(sentence, transforms, folder)
    if len(sentences) != 1 or failed:
        raise BadInput(f"{len(sentences)} sentences; expected one" if not failed else f"no tree: {', '.join(failed)}")
    return Derived(sentences[0], transforms[0])


def align(
    source: Sequence[str], target: Sequence[str], model: Path | str | None = None, method: str | None = None
) -> list[Links]:
    """The links between the words of sentences and those of their translations.

    Args:
        source: sentences, words separated by spaces.
        target: their translations, as many.
        model: the folder of an encoder, or NAME@COMMIT on the Hugging Face hub. Without one, fast_align learns from
            the sentences themselves, which takes some hundreds of pairs to be of use.
        method: how links are read from the encoder (`calque align --help`); by default Argmax on centred states, or
            `softmax-argmax` after `calque train-aligner`.

    Returns:
        For each pair its links, (place in the source, place in the target), from 0, sorted.

    Raises:
        calque.derive.errors.BadInput: sequences of different lengths, no such method, or a model that cannot be read.

    >>> calque.align(["the cat", "the dog", "a dog"], ["le chat", "le chien", "un chien"])
    [[(0, 0), (1, 1)], [(0, 0), (1, 1)], [(0, 0), (1, 1)]]
    """
    from calque.derive.errors import BadInput, unknown

    if len(source) != len(target):
        raise BadInput(f"{len(source):,} sentences and {len(target):,} translations; expected as many")
    pairs = [(tuple(one.split()), tuple(other.split())) for one, other in zip(source, target, strict=True)]
    if model is None:
        from calque.derive.links.fast_align import StatisticalAligner

        if method is not None:
            raise BadInput(f"{method} needs an encoder, and there is no model")
        return [sorted(links) for links in StatisticalAligner.train(pairs).align(pairs)]
    from calque.analysis.aligners.methods import BY_NAME
    from calque.analysis.aligners.pair_encoder import EncoderAligner
    from calque.pretrain.hub import model_folder

    if method is not None and method not in BY_NAME:
        raise BadInput(unknown("alignment method", method, tuple(BY_NAME)))
    aligner = EncoderAligner.open(model_folder(str(model)), BY_NAME[method] if method else None)
    return [sorted(links) for links in aligner.align(pairs)]


def load(checkpoint: Path | str) -> Checkpoint:
    """The model of a checkpoint with the tokenizers of its languages: it fills masks, finds the nearest words,
    has hidden states, and can be changed, measured and fine-tuned.

    Args:
        checkpoint: the folder `checkpoint` of a run, or any folder with a masked language model and its tokenizer.

    Raises:
        calque.derive.errors.BadInput: the folder has no model, or one that is damaged.

    >>> model = calque.load(checkpoint)  # doctest: +SKIP
    >>> model.languages  # doctest: +SKIP
    ('source', 'trans')
    >>> [guess.word for guess in model.fill("Sara <mask> two apples .", count=2)]  # doctest: +SKIP
    ['cooked', 'ate']
    """
    from calque.analysis.checkpoint import Checkpoint

    return Checkpoint.open(Path(checkpoint))


def look(checkpoint: Path | str, sentence: str = "", words: Sequence[str] = (), language: str = "") -> Look:
    """A look into a model: guesses, nearest words, and a sentence aligned with its derivation.

    Args:
        checkpoint: as in `load`.
        sentence: source words separated by spaces. Each `<mask>` is guessed; without one, each word is masked in
            turn. Default: a short sentence of the model's corpus.
        words: words of any of its languages, to find their nearest words. Default: long words of the sentence.
        language: the derived language to compare with. Default: the first one.

    Returns:
        The parts as dataclasses and arrays; printed, the output of `calque look`. Outside its study's folder, a model
        has no known derivation, so alignment and map are None.

    Raises:
        calque.derive.errors.BadInput: no model, no such language, or a word that the model has never read.

    >>> print(calque.look(checkpoint, words=["warm"]))  # doctest: +SKIP
    >>> calque.look(checkpoint).alignment.cosines.shape  # doctest: +SKIP
    (8, 8)
    """
    from calque.analysis.looking.look import look

    return look(load(checkpoint), sentence, words, language)


def study(
    study: str,
    *settings: str,
    runs: Path | str = "runs",
    sweep: Mapping[str, Sequence[Any]] | None = None,
    name: str = "",
) -> StudySession:
    """A study, ready to run.

    Args:
        study: a study that `calque studies` lists, or a Python file with a study of your own.
        settings: changed values, as in "train.steps=1000".
        runs: the folder for results. Models that other studies trained there are not trained again.
        sweep: several values of some settings, as in {"dictionary.fraction": [0.05, 0.1]}.
        name: the name of the report.

    Raises:
        calque.derive.errors.BadInput: no such study, or settings that are wrong, all of them listed.

    >>> tiny = calque.study("pocket", "train.steps=20", "train.warmup=2")
    >>> tiny.study.train.steps
    20
    >>> report = tiny.run()  # doctest: +SKIP
    """
    from calque.experiments.session import StudySession

    return StudySession.open(study, settings, Path(runs), sweep or {}, name)


def records(path: Path | str) -> Any:
    """The records of a report, one row per number, joined with the run that each is of. Values of a sweep that are
    numbers are numbers; `path` is the model's folder.

    Args:
        path: the folder of a report, or of a committed record such as experiments/records/pocket.

    Returns:
        A pandas frame where pandas is installed, otherwise a list of dicts with the same keys.

    Raises:
        calque.derive.errors.BadInput: no records there, or damaged ones.

    >>> rows = calque.records("experiments/records/pocket")
    >>> len(rows)
    688
    """
    from calque.experiments.report.folder import joined_rows
    from calque.experiments.session import frame

    return frame(joined_rows(Path(path)))
