"""Checks of the lesson's exercises: each prints whether an answer is right, or what is missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain, pairwise
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from calque.analysis.checkpoint import Checkpoint
from calque.analysis.report.table import Table
from calque.analysis.statistics.correlation import LEAST
from calque.derive.errors import BadInput
from calque.derive.order import Invert
from calque.derive.pocket.language import Pocket
from calque.derive.script import SCRIPT
from calque.derive.sentence import Sentence
from calque.derive.transform import Account, Transform, image_of

LANGUAGE = "trans.inv"
SENTENCES = 100
KINDS = ("MLM", "ALIGN-MLM")
TOLD = 0.99  # the cosine above which a word and its image were in the dictionary


def first_word(answer: str, sentence: str) -> None:
    """The English word that comes first in the reversed sentence."""
    *_, last, _ = sentence.split()
    if not answer:
        return _say(False, "write the word between the quotation marks.")
    if answer != last:
        return _say(False, f"not {answer!r}. The numbers above a word are its place in the English sentence.")
    return _say(True, f"{last!r} is the last word before the full stop, so it comes first after reversal.")


def invented(language: Transform) -> None:
    """A word order that is the same each time, has all words, and is neither English nor its reverse."""
    sentences = list(Pocket(types=300).sentences(SENTENCES))
    try:
        images = [image_of(language, sentence, number, Account()) for number, sentence in enumerate(sentences)]
        again = [image_of(language, sentence, number, Account()) for number, sentence in enumerate(sentences)]
    except (BadInput, ValueError, IndexError, TypeError) as error:
        return _say(False, f"{error}. The rule must work for sentences of any length: use `len(sentence)`.")
    moved = sum(image.words != sentence.words for image, sentence in zip(images, sentences, strict=True))
    reverse, every = Invert(), Invert(marks=())
    if [image.words for image in images] != [image.words for image in again]:
        return _say(
            False, "the same sentence gets two different orders. Draw random numbers from `number`, or not at all."
        )
    if moved < SENTENCES / 2:
        return _say(False, f"only {moved} of {SENTENCES} sentences change. Change the order of more words.")
    pairs = list(zip(images, sentences, strict=True))
    if any(all(image.words == rule(sentence).words for image, sentence in pairs) for rule in (reverse, every)):
        return _say(False, "this is English reversed, which exists already as `inv`. Find another rule.")
    kept = {name: 100 * _neighbours_kept(rule, sentences) for name, rule in (("inv", reverse), ("yours", language))}
    return _say(
        True,
        f"{moved} of {SENTENCES} sentences change. Words that are neighbours in English and still are: "
        f"{kept['inv']:.0f} % in `inv`, {kept['yours']:.0f} % in yours.",
    )


def predicted(predictions: Mapping[str, float | None]) -> None:
    """A number from 0 to 100 for each objective."""
    given = {name: predictions.get(name) for name in KINDS}
    if missing := [
        name for name, value in given.items() if not isinstance(value, int | float) or not 0 <= value <= 100
    ]:
        return _say(
            False, f"write a number from 0 to 100 (percent, without quotation marks) for {' and '.join(missing)}."
        )
    return _say(True, "your predictions are noted. There is no wrong prediction, only one that was not written down.")


def aligned_without_help(answer: Sequence[str], model: Checkpoint, words: Sequence[str]) -> None:
    """The words whose nearest word is their own image although the dictionary lacks them."""
    answer = [answer] if isinstance(answer, str) else answer
    nearest = {word: model.nearest(word, among=LANGUAGE, count=1)[0] for word in words}
    right = {word for word, each in nearest.items() if each.word == SCRIPT.spell(word) and each.cosine < TOLD}
    if {*answer} == right:
        return _say(
            True,
            f"{', '.join(sorted(right)) or 'none'}: the dictionary lacks them, so the model learned them from text.",
        )
    wrong, missing = {*answer} - right, right - {*answer}
    parts = [f"{', '.join(sorted(wrong))} should not be in the list"] if wrong else []
    parts += [f"{len(missing)} more to find"] if missing else []
    return _say(
        False, f"{'; '.join(parts)}. Look for rows that end with `own counterpart` and have a cosine below 1.00."
    )


def explanation(answer: str) -> None:
    """The conclusion that the correlations allow."""
    replies = {
        "a": "the models also differ in their training: the dictionary may cause both. Look at the models of one kind.",
        "b": "the dictionary may have improved both. To show a cause, change alignment and nothing else.",
        "c": "over all models they are strongly related. The question is what the relation shows.",
    }
    return _say(answer == "b", replies.get(answer, 'answer "a", "b" or "c".'))


def smallest_and_largest(answer: tuple[float | None, float | None], scores: Mapping[str, Sequence[float]]) -> None:
    """The smallest and the largest difference between a model with a dictionary and one without."""
    if None in answer:
        return _say(False, "replace both None. `differences` has one number for each pair of models.")
    differences = [align - mlm for align in scores["ALIGN-MLM"] for mlm in scores["MLM"]]
    if not np.allclose(np.array(answer, float), [min(differences), max(differences)], atol=0.1):
        return _say(False, "these are not the smallest and the largest of `differences`. `min` and `max` find them.")
    sign = "always" if min(differences) > 0 else "not always"
    return _say(
        True,
        f"with one model of each kind you could have measured any difference from {min(differences):.1f} to "
        f"{max(differences):.1f} points. Its sign is {sign} the same.",
    )


def per_seed(rows: Sequence[Mapping[str, Any]], measure: str, metric: str) -> dict[str, list[float]]:
    """A measure of every model in percent, by objective, one number per seed."""
    found: dict[str, list[float]] = {}
    last = max(row["step"] for row in rows)
    for row in rows:
        if (row["measure"], row["metric"], row["language"], row["step"]) == (measure, metric, LANGUAGE, last):
            found.setdefault(row["objective"], []).append(round(100 * row["value"], 1))
    return found


def compare(predictions: Mapping[str, float | None], scores: Mapping[str, Sequence[float]]) -> None:
    """Print predictions next to the means over seeds."""
    for name, values in scores.items():
        value = predictions.get(name)
        said = f"{value:.0f}" if isinstance(value, int | float) else "–"
        print(f"{name:<10} predicted {said:>3}, measured {fmean(values):.1f} (seeds: {', '.join(map(str, values))})")


def losses(supervised: Mapping[str, Sequence[float]], scores: Mapping[str, Sequence[float]]) -> None:
    """Print SUP and Δ, means over seeds."""
    for name, values in supervised.items():
        print(f"{name:<10} SUP {fmean(values):.1f}, Δ = SUP − ZS = {fmean(values) - fmean(scores[name]):.1f}")


def correlations(alignment: Mapping[str, Sequence[float]], scores: Mapping[str, Sequence[float]]) -> None:
    """Print Pearson's correlation over all models, and over the models of each objective."""
    groups = {f"{name} only": (alignment[name], scores[name]) for name in scores}
    pooled = [list(chain.from_iterable(each[name] for name in scores)) for each in (alignment, scores)]
    for name, (first, second) in {"all models": (pooled[0], pooled[1]), **groups}.items():
        rho = f"{np.corrcoef(first, second)[0, 1]:+.2f}" if len(first) >= LEAST else "    –"
        print(f"{name:<15} {rho} ({len(first)} models)")


def verdicts(report: Path) -> None:
    """Print the verdict on each claim of a report."""
    table = Table.of_markdown((report / "claims.md").read_text(encoding="utf-8"))
    for row in table.rows:
        print(f"{row[1]}: {row[0]}")


def _neighbours_kept(language: Transform, sentences: Sequence[Sentence]) -> float:
    """The share of neighbouring words of the source that are neighbours in the language, in either order."""
    kept = total = 0
    for number, sentence in enumerate(sentences):
        places = image_of(language, sentence, number, Account()).origin
        kept += sum(abs(i - j) == 1 for i, j in pairwise(places))
        total += len(places) - 1
    return kept / total


def _say(right: bool, message: str) -> None:
    print(f"{'Right' if right else 'Not yet'}: {message}")
