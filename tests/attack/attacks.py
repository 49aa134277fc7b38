"""Attacks on artefacts, each drawn with a seed: it changes the files of one, and everything is put back afterwards."""

import random
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from calque.derive.errors import BadInput
from calque.derive.files import DISK, MANIFEST
from calque.derive.fingerprint import sha256
from tests.attack.targets import MadeAgain, Target

Attack = Callable[[Target, Sequence[Target], random.Random], object]
REFUSED, HARMLESS, AGAIN, SILENT, FAILED = "refused", "harmless", "made again", "silent", "not in one line"


@dataclass(frozen=True)
class Outcome:
    """What an attack on an artefact came to; `told` is the error, if there was one."""

    kind: str
    attack: str
    result: str
    told: str


def bit(target: Target, others: Sequence[Target], dice: random.Random) -> None:
    """Flip a bit."""
    path, data = _drawn(target, dice)
    data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
    path.write_bytes(data)


def cut(target: Target, others: Sequence[Target], dice: random.Random) -> None:
    """Cut a file short."""
    path, data = _drawn(target, dice)
    path.write_bytes(data[: dice.randrange(len(data))])


def digit(target: Target, others: Sequence[Target], dice: random.Random) -> None:
    """Change a digit of a text."""
    texts = [path for path in target.files if path.suffix in (".json", ".jsonl", ".tsv", ".conllu", ".txt")]
    path = dice.choice(texts)
    data = bytearray(path.read_bytes())
    places = [found.start() for found in re.finditer(rb"\d", data)]
    place = dice.choice(places)
    data[place] = dice.choice([figure for figure in b"0123456789" if figure != data[place]])
    path.write_bytes(data)


def removed(target: Target, others: Sequence[Target], dice: random.Random) -> None:
    """Remove a file."""
    dice.choice(target.files).unlink()


def renamed(target: Target, others: Sequence[Target], dice: random.Random) -> None:
    """Change a digit of a name, such as the step of a state: of a file, or of a folder that it is in."""
    within = {path for file in target.files for path in (file, *file.parents) if target.folder in path.parents}
    path = dice.choice(sorted(path for path in within if re.search(r"\d", path.name)))
    place = dice.choice([found.start() for found in re.finditer(r"\d", path.name)])
    names = (f"{path.name[:place]}{digit}{path.name[place + 1 :]}" for digit in "0123456789")
    path.rename(dice.choice([new for name in names if not (new := path.with_name(name)).exists()]))


def file(target: Target, others: Sequence[Target], dice: random.Random) -> None:
    """Put a file of another artefact, or another file of this one, in the place of one of the same kind."""
    path = dice.choice(target.files)
    other = dice.choice([*others, target])
    shutil.copy(dice.choice([found for found in other.files if found.suffix == path.suffix]), path)


def manifest(target: Target, others: Sequence[Target], dice: random.Random) -> None:
    """Put the manifest of another artefact in the place of its own."""
    own, theirs = (one.folder / MANIFEST for one in (target, dice.choice(others)))
    own.stat()
    shutil.copy(theirs, own)


def part(target: Target, others: Sequence[Target], dice: random.Random) -> None:
    """Put a folder of another artefact, such as a checkpoint, in the place of its own folder or file of that name."""
    own, other = target.folder, dice.choice(others).folder
    name = dice.choice(sorted(path.name for path in other.iterdir() if path.is_dir() and (own / path.name).is_dir()))
    shutil.rmtree(own / name)
    shutil.copytree(other / name, own / name)


def folder(target: Target, others: Sequence[Target], dice: random.Random) -> None:
    """Put another artefact in its place, whole."""
    other = dice.choice(others).folder
    shutil.rmtree(target.folder)
    shutil.copytree(other, target.folder)


def exchange(target: Target, others: Sequence[Target], dice: random.Random) -> None:
    """Put another artefact in its place and leave one of its own files, such as the manifest, as it was."""
    kept = dice.choice(target.files)
    name, data = kept.relative_to(target.folder), kept.read_bytes()
    folder(target, others, dice)
    (target.folder / name).parent.mkdir(parents=True, exist_ok=True)
    (target.folder / name).write_bytes(data)


WITHIN: tuple[Attack, ...] = (bit, cut, digit, removed, renamed, file)
"""Attacks on a file."""
BETWEEN: tuple[Attack, ...] = (manifest, part, folder, exchange)
"""Attacks with another artefact of the same sort."""


def attack(targets: Sequence[Target], count: int, seed: int) -> Iterator[Outcome]:
    """Attack artefacts of all kinds in turn, `count` times."""
    kinds = sorted({target.kind for target in targets})
    right: dict[tuple[Path, str], str] = {}
    for number in range(count):
        dice = random.Random(f"{seed} {number}")
        target = dice.choice([target for target in targets if target.kind == kinds[number % len(kinds)]])
        key = target.folder, target.only
        if key not in right:
            with _kept(target):
                right[key] = target.read()
        yield _attacked(target, targets, right[key], dice)


def _attacked(target: Target, targets: Sequence[Target], right: str, dice: random.Random) -> Outcome:
    sort = target.kind.partition(",")[0]
    others = [one for one in targets if one.kind.partition(",")[0] == sort and one != target]
    attacks = WITHIN if target.only or not others else WITHIN + BETWEEN
    while True:
        chosen = dice.choice([attack for attack in attacks if attack is not folder or not target.renamed])
        with _kept(target):
            before = _contents(target)
            with suppress(IndexError, FileNotFoundError, shutil.SameFileError):  # it has no such file, folder or digit
                chosen(target, others, dice)
            if _contents(target) == before:
                continue
            return Outcome(target.kind, chosen.__name__, *_result(target, right))


def _result(target: Target, right: str) -> tuple[str, str]:
    try:
        return (HARMLESS, "") if target.read() == right else (SILENT, "")
    except MadeAgain:
        return AGAIN, ""
    except BadInput as error:
        return (REFUSED if str(target.folder) in str(error) else FAILED), str(error)
    except Exception as error:
        disk = isinstance(error, OSError) and error.errno in DISK and str(target.folder) in str(error.filename)
        return (REFUSED if disk else FAILED), f"{type(error).__name__}: {error}"


def _drawn(target: Target, dice: random.Random) -> tuple[Path, bytearray]:
    path = dice.choice([path for path in target.files if path.stat().st_size])
    return path, bytearray(path.read_bytes())


def _contents(target: Target) -> dict[Path, str]:
    return {path: sha256(path) for path in target.files}


@contextmanager
def _kept(target: Target) -> Iterator[None]:
    """Put the folder back as it was."""
    beside = target.folder.with_name(f"{target.folder.name}.kept")
    shutil.copytree(target.folder, beside)
    try:
        yield
    finally:
        shutil.rmtree(target.folder, ignore_errors=True)
        beside.rename(target.folder)
