"""Recipes: public data by address, size, digest and licence, read strictly from TOML (docs/data.md lists the keys)."""

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urlsplit

from calque.derive.errors import BadInput, nearest, unknown

LOCK = "fetched.json"  # the data folder's file of digests: of downloads by address, of files by place
RECIPES = Path(__file__).with_name("recipes.toml")
LONGEST, LONGEST_PART = 1_000, 200
"""Most bytes of a path and of each part of it: systems allow 4,096 and 255, and the data folder needs some of them."""
EACH = "{}"  # the placeholder for each name of `for` or `each`
SIZE = re.compile(r"(?P<about>about )?(?P<bytes>\d+)?(?: (?P<digest>[0-9a-f]{64}))?")  # the values of `each`
LOCAL = ("localhost", "127.0.0.1", "::1")

# Keys of tables, each with its default, which also has the expected type.
RECIPE_KEYS = {"about": "", "includes": (), "licence": "", "terms": "", "file": []}
SIZE_KEYS = {"bytes": 0, "sha256": ""}
FILE_KEYS = SIZE_KEYS | {"url": "", "licence": "", "terms": "", "place": "", "unpack": [], "for": (), "each": {}}
UNPACK_KEYS = SIZE_KEYS | {"place": "", "for": (), "inside": (), "where": {}}
KINDS: dict[type, tuple[str, Callable[[Any], bool]]] = {
    str: ("a text", lambda item: type(item) is str and bool(item.strip())),
    int: ("a whole number from 0 on", lambda item: type(item) is int and item >= 0),
    tuple: ("a list of texts, each once", lambda item: _all(str, item) and all(item) and len({*item}) == len(item)),
    dict: ("a table of texts", lambda item: type(item) is dict and _all(str, [*item.values()])),
    list: ("a list of tables", lambda item: _all(dict, item)),
}
"""By the type of a default: the expected value in words, and whether a value is one. Types are exact: true is not a
whole number."""


@dataclass(frozen=True)
class Output:
    """A file below the data folder, at `place`, with slashes. It is the download itself, or decompressed, or the member
    that `inside` names (or a member of a member, and so on). `where` selects the rows of a table with a header that
    have its values in the columns of its names."""

    place: str
    inside: tuple[str, ...] = ()
    decompress: bool = False
    where: Mapping[str, str] = field(default_factory=dict, hash=False)
    bytes: int = 0
    sha256: str = ""


@dataclass(frozen=True)
class Download:
    """A file to fetch: `bytes` is its size, 0 if unknown; `about_bytes` is an estimate. `sha256` is empty if no source
    states a digest."""

    url: str
    outputs: tuple[Output, ...]
    licence: str
    terms: str
    bytes: int = 0
    about_bytes: int = 0
    sha256: str = ""

    @property
    def name(self) -> str:
        """The last part of its address."""
        return PurePosixPath(urlsplit(self.url).path).name or urlsplit(self.url).netloc

    @property
    def pinned(self) -> bool:
        """Whether digests pin its files: the download's, or all its outputs'."""
        return bool(self.sha256) or all(output.sha256 for output in self.outputs)


@dataclass(frozen=True)
class Recipe:
    """Downloads under a name, included recipes' among them."""

    name: str
    about: str
    downloads: tuple[Download, ...]

    @property
    def outputs(self) -> Iterator[Output]:
        return (output for download in self.downloads for output in download.outputs)


@cache
def _shipped() -> dict[str, Any]:
    return _toml(RECIPES)


def names() -> list[str]:
    """The names of Calque's recipes, sorted."""
    return sorted(_shipped())


def read_recipe(name: str) -> Recipe:
    """The recipe of a name, or of a user's own TOML file."""
    recipe = _read(name, set())
    places, folders = set[PurePosixPath](), set[PurePosixPath]()
    for output in recipe.outputs:
        place = PurePosixPath(output.place)
        if place in places or place in folders or not places.isdisjoint(place.parents):
            raise BadInput(f"{place} is the place of two files, or of a file and a folder", name)
        places.add(place)
        folders.update(place.parents)
    return recipe


def sizes(downloads: Sequence[Download]) -> str:
    """Their total size: stated, estimated, and the number of unknown sizes."""
    total = sum(download.bytes for download in downloads)
    guesses = [download.about_bytes for download in downloads if not download.bytes and download.about_bytes]
    unsized = sum(not download.bytes and not download.about_bytes for download in downloads)
    parts = [f"{total:,} bytes"] if total else []
    if guesses:
        parts.append(f"about {sum(guesses):,} {'more' if total else 'bytes'} (estimates of {len(guesses):,})")
    if unsized:
        parts.append(f"{unsized:,} of unknown size")
    return ", ".join(parts)


def recipes_of(path: Path) -> list[str]:
    """The recipes that put a file where `path` ends, or files below it, fewest files first."""
    ends = {path.parts[i:] for i in range(len(path.parts))}
    found = [name for name in names() if not ends.isdisjoint(_places(name))]
    return sorted(found, key=lambda name: len(_places(name)))


def remedy(path: str | Path | None) -> str:
    """The command that fetches a file, or "" if no recipe has it."""
    recipes = recipes_of(Path(path or ""))
    return f"`calque data fetch {recipes[0]}` gets it" if recipes else ""


@cache
def _places(recipe: str) -> set[tuple[str, ...]]:
    """The files that a recipe puts in place and the folders above them, in parts."""
    files = [PurePosixPath(output.place) for output in read_recipe(recipe).outputs]
    return {place.parts for file in files for place in (file, *file.parents) if place.parts}


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_bytes().decode("utf-8"))
    except FileNotFoundError:
        raise BadInput("there is no such file; expected a recipe", path) from None
    except (OSError, ValueError, RecursionError) as error:  # TOMLDecodeError names the line
        raise BadInput(f"cannot be read as TOML: {error}", path) from None


def _read(name: str, seen: set[str]) -> Recipe:
    """A recipe with the downloads of recipes that it includes and that are not in `seen`, which grows."""
    own = name.endswith(".toml")
    if not own and name not in names():
        raise BadInput(unknown("recipe", name, names()))
    seen.add(name)
    table = _table(_toml(Path(name)) if own else _shipped()[name], RECIPE_KEYS, ("about",), name)
    if not table["file"] and not table["includes"]:
        raise BadInput("expected files, [[file]], or recipes that it includes, includes = [...]", name)
    downloads = list[Download]()
    for file, where in _tables(table, "file", FILE_KEYS, ("url",), name):
        downloads += _downloads(file, table, where)
    for other in table["includes"]:
        if other not in seen:
            downloads += _read(other, seen).downloads
    return Recipe(Path(name).stem, table["about"], tuple(downloads))


def _table(values: Mapping[str, Any], keys: Mapping[str, Any], needed: Sequence[str], where: str) -> dict[str, Any]:
    """The values of a TOML table by key; optional keys default to the values of `keys`."""
    for name, value in values.items():
        if name not in keys:
            more = nearest(name, keys) or f"there are {', '.join(sorted(keys))}"
            raise BadInput(f"unknown key {name[:60]!r}; {more}", where)
        expected, fits = KINDS[type(keys[name])]
        if not fits(value):
            raise BadInput(f"{name} is {expected}, not {str(value)[:60]!r}", where)
    for name in needed:
        if name not in values:
            raise BadInput(f"{name} is missing; expected {KINDS[type(keys[name])][0]}", where)
    return {**keys, **values}


def _all(kind: type, values: Any) -> bool:
    return type(values) is list and all(type(value) is kind for value in values)


def _tables(
    table: Mapping[str, Any], name: str, keys: Mapping[str, Any], needed: Sequence[str], where: str
) -> Iterator[tuple[dict[str, Any], str]]:
    for number, values in enumerate(table[name], start=1):
        place = f"{where}, {name} {number}"
        yield _table(values, keys, needed, place), place


def _downloads(file: Mapping[str, Any], recipe: Mapping[str, Any], where: str) -> Iterator[Download]:
    """The download of a `file` table, or one for each name of its `for` or `each`. The size and the digest of `each`
    are the file's, or those of the one file that is unpacked from it."""
    if bool(file["place"]) == bool(file["unpack"]):
        raise BadInput("expected either the place of the file, or what is unpacked, [[file.unpack]]", where)
    rows = file["each"] or dict.fromkeys(file["for"], "")
    if not rows:
        yield _download(file, recipe, where)
        return
    for name, size in rows.items():
        if not (match := SIZE.fullmatch(size)):
            raise BadInput(f"{name} is BYTES SHA256, BYTES, or about BYTES, not {size[:80]!r}", where)
        number = int(match["bytes"] or 0)
        values = {"bytes": 0 if match["about"] else number, "sha256": match["digest"] or ""}
        one = {**file, "url": file["url"].replace(EACH, name)}
        if file["place"]:
            one |= {"place": file["place"].replace(EACH, name), **values}
        elif file["each"]:
            (unpack,) = file["unpack"]
            one["unpack"] = [{**unpack, "place": unpack["place"].replace(EACH, name), **values}]
        yield _download(one, recipe, where, number if match["about"] else 0)


def _download(file: Mapping[str, Any], recipe: Mapping[str, Any], where: str, about_bytes: int = 0) -> Download:
    rights = {name: file[name] or recipe[name] for name in ("licence", "terms")}
    for name, value in rights.items():
        if not value:
            raise BadInput(f"{name} is missing; expected it here, or for all files of the recipe", where)
    for url in (file["url"], rights["terms"]):
        if why := refusal(url):
            raise BadInput(why, where)
    size = {"bytes": file["bytes"], "sha256": _digest(file, where)}
    outputs = [Output(_safe("place", file["place"], where), **size)] if file["place"] else []
    for unpack, place in _tables(file, "unpack", UNPACK_KEYS, ("place",), where):
        outputs += _outputs(unpack, place)
    return Download(file["url"], tuple(outputs), **rights, **size, about_bytes=about_bytes)


def _outputs(unpack: Mapping[str, Any], where: str) -> Iterator[Output]:
    """The outputs of an `unpack` table, one for each text of its `for`."""
    digest = _digest(unpack, where)
    if unpack["for"] and (unpack["bytes"] or digest or EACH not in unpack["place"]):
        raise BadInput(f"with for, place has {EACH}, and size and digest are left out", where)
    for text in unpack["for"] or (EACH,):
        yield Output(
            place=_safe("place", unpack["place"].replace(EACH, text), where),
            inside=tuple(_safe("inside", name.replace(EACH, text), where) for name in unpack["inside"]),
            decompress=not unpack["inside"],
            where={column: value.replace(EACH, text) for column, value in unpack["where"].items()},
            bytes=unpack["bytes"],
            sha256=digest,
        )


def _digest(table: Mapping[str, Any], where: str) -> str:
    digest = str(table["sha256"])
    if digest and not re.fullmatch(r"[0-9a-f]{64}", digest):
        raise BadInput(f"sha256 is 64 hexadecimal digits in lower case, not {digest[:80]!r}", where)
    return digest


def _safe(name: str, path: str, where: str) -> str:
    """A path that only leads down, without hidden files and folders."""
    parts = path.split("/")
    if any(not part or part.startswith(".") or not part.isprintable() or set(part) & set("\\:*?") for part in parts):
        raise BadInput(f"{name} is a path below a folder, as in ud/UD_English-EWT/x.conllu, not {path[:80]!r}", where)
    if len(path.encode()) > LONGEST or max(len(part.encode()) for part in parts) > LONGEST_PART:
        raise BadInput(f"{name} is longer than {LONGEST:,} bytes, or {LONGEST_PART} between slashes", where)
    if name == "place" and parts[0].casefold() == LOCK:
        raise BadInput(f"place is {path[:80]!r}, the file with the digests of fetched files; expected another", where)
    return path


def refusal(url: str, local: Sequence[str] = LOCAL) -> str:
    """Why an address is refused, or "": https is allowed, and http on this machine, whose names are `local`."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
        host.encode("idna")
    except ValueError as error:
        return f"{url[:80]!r} is not an address: {error}"
    if not host or not url.isascii() or not url.isprintable() or " " in url:
        return f"{url[:80]!r} is not an address; expected https://..."
    if parts.username is not None:
        return f"an address with a user's name in it, at {host}; expected a public one"
    if parts.scheme == "https" or (parts.scheme == "http" and host in local):
        return ""
    return f"{url[:80]}: only https is fetched (http only from this machine)"
