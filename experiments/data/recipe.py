"""A recipe: files of public data by address, size, digest and licence, and where each goes below the data folder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from urllib.parse import urlsplit


@dataclass(frozen=True)
class Output:
    """A file below the data folder, at `place`, with slashes.

    `inside` names a member of the download, a member of that member, and so on; empty, it is the download itself, or
    where that is one compressed file and `decompress` holds, what is in it. Of a table with a header, only the rows
    stay that have the values of `where` in the columns named so, and of each row only its first `columns` (0: all).
    """

    place: str
    inside: tuple[str, ...] = ()
    decompress: bool = False
    where: Mapping[str, str] = field(default_factory=dict)
    columns: int = 0
    bytes: int = 0
    sha256: str = ""


@dataclass(frozen=True)
class Download:
    """A file to fetch. `bytes` is its size, 0 where only `about_bytes`, an estimate, is known.

    `sha256` is empty where no source states a digest; `source` says where size and digest come from.
    """

    url: str
    outputs: tuple[Output, ...]
    licence: str
    terms: str
    source: str
    mirrors: tuple[str, ...] = ()
    bytes: int = 0
    about_bytes: int = 0
    sha256: str = ""
    note: str = ""

    @property
    def name(self) -> str:
        """The last part of its address."""
        return PurePosixPath(urlsplit(self.url).path).name or urlsplit(self.url).netloc

    @property
    def pinned(self) -> bool:
        """Whether digests say what is put in place: the download's, or those of all that comes out of it."""
        return bool(self.sha256) or all(output.sha256 for output in self.outputs)


@dataclass(frozen=True)
class PackedText:
    """Places of a language's text; `column` is that of the text in JSON lines and Parquet.

    `megabytes` takes only the head of each file (0: all of it).
    """

    language: str
    files: tuple[str, ...]
    column: str = "text"
    megabytes: int = 0


@dataclass(frozen=True)
class PackedBitext:
    """The place of sentences beside their translations, in two columns counted from 0, or places of a file for each."""

    languages: tuple[str, str]
    files: tuple[str, ...]
    columns: tuple[int, int] = (0, 1)


@dataclass(frozen=True)
class Packing:
    """What is packed for studies of natural languages; `tokenizer` is the place of a folder, empty if none is named."""

    texts: tuple[PackedText, ...]
    bitexts: tuple[PackedBitext, ...]
    tokenizer: str = ""


@dataclass(frozen=True)
class Recipe:
    """Downloads under a name, those of the recipes that it includes among them, and what is packed of them."""

    name: str
    about: str
    downloads: tuple[Download, ...]
    packing: Packing | None = None

    @property
    def outputs(self) -> Iterator[Output]:
        """All files that it puts in place."""
        return (output for download in self.downloads for output in download.outputs)
