"""Counts of sentences and words in and out, with the reasons for what is left out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from experiments.languages import GoldText

TORN = "more entities than before: the new order splits some, and each piece counts as one"


def of_languages(derived: Mapping[str, Any]) -> Iterator[str]:
    """Sentences and words in and out of languages, a line each, from what their manifest says."""
    for language, counts in derived["languages"].items():
        came, went = counts["in"], counts["out"]
        yield (
            f"{language}: {came['sentences']:,} sentences and {came['words']:,} words in, {went['sentences']:,} and "
            f"{went['words']:,} out; order distance {counts['order distance']:.2f}"
        )
        for why, count in counts["left out"].items():
            yield f"{language}: {count:,} {why}"
        for why, count in counts.get("kept in place", {}).items():
            yield f"{language}: {count:,} {why} kept their order"
        if counts["spans split"]:
            yield f"{language}: {counts['spans split']:,} {TORN}"
        if some := counts.get("shared"):
            yield _of_shared(language, some)
    unseen, rare = derived["vocabulary"]["unseen types"], derived["vocabulary"]["rare words not trained on"]
    yield f"vocabulary: {unseen:,} types never occur in the corpus; dictionary and alignment@1 leave them out"
    if rare:
        yield f"vocabulary: {rare:,} occurrences of rare or very long words are encoded, but train no vocabulary"


def _of_shared(language: str, counts: Mapping[str, int]) -> str:
    """What a language shares with its source: types that occur, sub-words of its text and whole words."""
    shares = (100 * counts[what] / max(1, counts[f"of_{what}"]) for what in ("types", "tokens", "words"))
    return "{}: {:.1f} % of the types, {:.1f} % of the sub-words and {:.1f} % of the words shared".format(
        language, *shares
    )


def of_task(about: Mapping[str, Any]) -> Iterator[str]:
    """Examples of a task that were left out, or whose images differ in more than their order, a line each."""
    for split, counts in about["splits"].items():
        where = f"{about['task']}, {split}"
        for why, count in counts["left out"].items():
            yield f"{where}: {count:,} {why}"
        for language, derived in counts["languages"].items():
            if derived["examples without an image"]:
                yield f"{where}, {language}: {derived['examples without an image']:,} examples without a derived form"
            if derived["spans split"]:
                yield f"{where}, {language}: {derived['spans split']:,} {TORN}"
            for why, count in derived["kept in place"].items():
                yield f"{where}, {language}: {count:,} {why}"


def of_gold(texts: Iterable[GoldText]) -> Iterator[str]:
    """What of gold sets was left out, or is odd, a line each."""
    for text in texts:
        for what, count in text.set.counts.items():
            yield f"{text.name}: {count:,} {what}"


def of_natural(made: Mapping[str, Any]) -> Iterator[str]:
    """Lines in and out of natural languages and their bitexts, from what their manifest says."""
    for name, counts in (made["languages"] | made["bitexts"]).items():
        out = counts["out"]
        words = sum(side["tokens"] for side in out.get("sides", [out]))
        yield f"{name}: {counts['in']['lines']:,} lines in, {out['lines']:,} out, {words:,} sub-words"
        for why, count in counts["left out"].items():
            yield f"{name}: {count:,} {why}"


def of_natural_task(task: str, made: Mapping[str, Any]) -> Iterator[str]:
    """Examples of a task by split and by language, from what its manifest says."""
    named = made["splits"] | made["tests"] | {f"{name}, dev": counts for name, counts in made["devs"].items()}
    named |= {f"{name}, train": counts for name, counts in made.get("trains", {}).items()}
    for where, counts in named.items():
        yield f"{task}, {where}: {counts['examples']:,} examples"
        for why, count in counts["left out"].items():
            yield f"{task}, {where}: {count:,} {why}"
