"""Lines of a report and of commands: counts in and out with reasons, values by name, and what computed them."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from experiments.languages import GoldText

LIBRARIES = ("calque", "torch", "transformers", "tokenizers", "numpy")
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
        if shared := counts.get("shared"):
            kinds = (("types", "types"), ("tokens", "sub-words"), ("words", "words"))
            shares = [f"{100 * shared[key] / max(1, shared[f'of_{key}']):.1f} % of the {what}" for key, what in kinds]
            yield f"{language}: {', '.join(shares[:2])} and {shares[2]} shared"
    unseen, rare = derived["vocabulary"]["unseen types"], derived["vocabulary"]["rare words not trained on"]
    yield f"vocabulary: {unseen:,} types never occur in the corpus; dictionary and alignment@1 leave them out"
    if rare:
        yield f"vocabulary: {rare:,} occurrences of rare or very long words are encoded, but train no vocabulary"


def of_task(about: Mapping[str, Any]) -> Iterator[str]:
    """Examples of a task that were left out, or whose images differ in more than their order, a line each."""
    for split, counts in about["splits"].items():
        where = f"{about['task']}, {split}"
        for why, count in counts["left out"].items():
            yield f"{where}: {count:,} {why}"
        for language, derived in counts["languages"].items():
            if derived["spans split"]:
                yield f"{where}, {language}: {derived['spans split']:,} {TORN}"
            for why, count in derived["kept in place"].items():
                yield f"{where}, {language}: {count:,} {why}"


def of_gold(texts: Iterable[GoldText]) -> Iterator[str]:
    """What of gold sets was left out, or is odd, a line each."""
    for text in texts:
        for what, count in text.set.counts.items():
            yield f"{text.name}: {count:,} {what}"


def of_natural(manifest: Mapping[str, Any]) -> Iterator[str]:
    """Lines in and out of natural languages and their bitexts."""
    bitexts = {"-".join(pair["languages"]): pair for pair in manifest["pairs"]}
    for name, counts in (manifest["languages"] | bitexts).items():
        out = counts["out"]
        words = sum(side["tokens"] for side in out.get("sides", [out]))
        yield f"{name}: {counts['in']['lines']:,} lines in, {out['lines']:,} out, {words:,} sub-words"
        for why, count in counts["left out"].items():
            yield f"{name}: {count:,} {why}"


def of_natural_task(task: str, manifest: Mapping[str, Any]) -> Iterator[str]:
    """Examples of a task by split and by language."""
    splits = manifest["splits"]
    sets = {split: counts for split, counts in splits.items() if "examples" in counts}
    for split, where in (("test", "{}"), ("dev", "{}, dev"), ("train", "{}, train")):
        others = splits.get(split, {"languages": {}})["languages"]
        sets |= {where.format(name): counts for name, counts in others.items()}
    for where, counts in sets.items():
        yield f"{task}, {where}: {counts['examples']:,} examples"
        for why, count in counts["left out"].items():
            yield f"{task}, {where}: {count:,} {why}"


def listed(values: Mapping[str, Any]) -> str:
    """`layers 2, heads 4`; of which kind the values are goes without saying."""
    return ", ".join(f"{key} {value}" for key, value in values.items() if key != "kind")


def counted(number: int, one: str) -> str:
    """`1 model`, `12 models`."""
    return f"{number:,} {one}" if number == 1 else f"{number:,} {one}s"


def computed_with(threads: int, device: str = "", more: Sequence[str] = ()) -> list[tuple[str, str]]:
    """The machine, and the versions of libraries; `more` are needed beside those that every study needs."""
    parts = (platform.machine(), device, f"{threads} thread(s) a model")
    return [
        ("Machine", ", ".join(filter(None, parts))),
        ("Libraries", ", ".join(f"{name} {version(name)}" for name in (*LIBRARIES, *more))),
    ]
