"""Pack a recipe's text and bitexts into the folder that studies of natural languages open."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from derive.artefact import finished, remembering
from derive.errors import BadInput
from derive.files import claimed
from derive.natural.bitext import BitextFiles
from derive.natural.build import derive_natural, natural_fingerprint
from derive.natural.text import TextFiles
from derive.vocabulary import GivenVocabulary
from experiments.data.recipe import Packing, Recipe
from experiments.data.store import State, Store
from experiments.progress import Report


def pack(recipe: Recipe, store: Store, tokenizer: Path | None, out: Path, workers: int, report: Report) -> Path:
    """Pack into a folder of `out` whose name ends with a fingerprint of everything that decides its bytes.

    It is whole or absent; nothing is done where it is there. `tokenizer` is a folder with a tokenizer.json, instead of
    the one that the recipe names. Memory does not grow with the text.

    Raises:
        BadInput: the recipe says nothing of packing or names no tokenizer, or a file is missing or altered.
    """
    packing = recipe.packing
    if packing is None:
        raise BadInput(f"the recipe {recipe.name} says nothing of packing; expected one with [pack]")
    if tokenizer is None and not packing.tokenizer:
        raise BadInput(f"the recipe {recipe.name} names no tokenizer; name the folder of one with --tokenizer")
    vocabulary = GivenVocabulary(tokenizer or store.folder / packing.tokenizer)
    _check_there(recipe, packing, store)
    texts, bitexts = files_of(packing, store.folder)
    with remembering(out):
        fingerprint = natural_fingerprint(texts, bitexts, vocabulary)
        folder = out / f"{recipe.name}-{fingerprint}"
        if not finished(folder):
            with claimed(folder):
                derive_natural(texts, bitexts, vocabulary, folder, workers, report)
    return folder


def _check_there(recipe: Recipe, packing: Packing, store: Store) -> None:
    """Refuse to pack what is not there, before anything is read."""
    wanted = {file for text in packing.texts for file in text.files}
    wanted |= {file for bitext in packing.bitexts for file in bitext.files}
    for output in recipe.outputs:
        if output.place not in wanted:
            continue
        match store.state(output):
            case State.MISSING:
                raise BadInput(f"no such file; `calque data fetch {recipe.name}` gets it", store.path(output))
            case State.ALTERED:
                raise BadInput("not as the recipe says; remove it and fetch it again", store.path(output))


def files_of(
    packing: Packing, folder: Path
) -> tuple[dict[str, TextFiles], dict[tuple[str, str], tuple[BitextFiles, ...]]]:
    """What is packed as files below the data folder, whether they are there or not."""
    texts = {
        text.language: TextFiles(tuple(folder / file for file in text.files), text.column, text.megabytes)
        for text in packing.texts
    }
    bitexts: dict[tuple[str, str], tuple[BitextFiles, ...]] = defaultdict(tuple)
    for bitext in packing.bitexts:
        paths = [folder / file for file in bitext.files]
        beside = paths[1] if paths[1:] else None
        bitexts[bitext.languages] += (BitextFiles(paths[0], beside, bitext.columns),)
    return texts, dict(bitexts)
