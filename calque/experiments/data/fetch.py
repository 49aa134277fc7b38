"""Download and unpack a recipe's files that are missing from the data folder."""

import gzip
import hashlib
import shutil
import tarfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import BadZipFile

import requests
from urllib3.exceptions import HTTPError

from calque.derive.errors import BadInput
from calque.derive.files import claimed, make_folder, whole_file, writing
from calque.derive.fingerprint import sha256
from calque.derive.workers import Progress
from calque.experiments.data.recipe import File, Recipe, by_url

THERE, MISSING, ALTERED = "there", "missing", "altered"
HEADERS = {"User-Agent": "calque (data fetch)", "Accept-Encoding": "identity"}
DAMAGE = (BadZipFile, tarfile.TarError, zlib.error, EOFError, OSError, RuntimeError, ValueError)
TIMEOUT = 30.0  # maximum number of seconds without receiving a byte


def state(folder: Path, file: File) -> str:
    """Return the state of a file: missing, altered, or there with the digest stated in its recipe."""
    path = folder / file.place
    if not path.exists():
        return MISSING
    return THERE if path.is_file() and file.digest in ("", sha256(path)) else ALTERED


def fetch(recipe: Recipe, folder: Path, report: Progress, trust: bool = False) -> list[str]:
    """Fetch the missing files, even if some downloads fail, and return their paths. Raises BadInput for
    altered files, failed downloads and, without `trust`, downloads without a published digest."""
    states = {file: state(folder, file) for file in recipe.files}
    if altered := [file.place for file in states if states[file] == ALTERED]:
        raise BadInput(f"{altered[0]}: differs from the recipe; remove it to fetch it again", folder)
    make_folder(folder)
    fetched, failed, unpinned = list[str](), list[str](), 0
    for files in by_url(file for file in states if states[file] == MISSING).values():
        if not (trust or all(file.sha256 or file.unpacked for file in files)):
            unpinned += 1
            continue
        try:
            _fetch(files, folder, report)
            fetched += [file.place for file in files]
        except BadInput as error:
            failed.append(str(error))
    if unpinned:
        failed.append(f"{recipe.name}: {unpinned:,} downloads have no published digest; --trust fetches them")
    if failed:
        raise BadInput(failed)
    return fetched


def _fetch(files: Sequence[File], folder: Path, report: Progress) -> None:
    url = files[0].url
    name = f".fetching-{hashlib.sha256(url.encode()).hexdigest()[:16]}"
    with claimed(folder / name):
        part = download(files[0], folder / name, report)
        with TemporaryDirectory(prefix=f"{name}-", dir=folder) as work:
            archive = part.rename(Path(work, Path(url).name))
            for file in files:
                unpacked = unpack(archive, file)
                _check(unpacked, file.digest, f"{url}: {file.place}")
                with whole_file(folder / file.place) as new:
                    shutil.move(unpacked, new)  # the folder may be a link to another disk


def download(file: File, part: Path, report: Progress) -> Path:
    """Download a file or its archive to `part` (resumed if its digest is known); delete a damaged one."""
    size = part.stat().st_size if part.exists() and file.sha256 else 0
    headers = HEADERS | ({"Range": f"bytes={size}-"} if size else {})
    try:
        with requests.get(file.url, headers=headers, stream=True, timeout=TIMEOUT) as response:
            if response.status_code != 416:  # otherwise, no bytes are left to receive
                response.raise_for_status()
                _receive(response, file.url, part, size if response.status_code == 206 else 0, report)
        _check(part, file.sha256, file.url)
    except (requests.RequestException, HTTPError) as error:
        raise BadInput(f"failed: {error}; run the command again", file.url) from None
    except BadInput:
        part.unlink(missing_ok=True)
        raise
    return part


def _receive(response: requests.Response, url: str, part: Path, size: int, report: Progress) -> None:
    rest, title = response.raw.length_remaining, f"fetching {Path(url).name}"
    if rest is None and "Transfer-Encoding" not in response.headers:
        raise BadInput("the server states no length, so truncation would go unnoticed", url)
    total = size + (rest or 0)
    with writing(part), part.open("ab" if size else "wb") as file:
        while block := response.raw.read1(1 << 17, decode_content=False):
            size += file.write(block)
            report(title, size, max(total, size + 1))  # a server need not state the length
    report(title, size, size)


def _check(path: Path, expected: str, where: str) -> None:
    if expected and (digest := sha256(path)) != expected:
        raise BadInput(f"expected SHA-256 {expected} but got {digest}", where)


def unpack(archive: Path, file: File) -> Path:
    """Unpack `archive` in its folder; return the file's path. Raises BadInput if damaged."""
    path = archive
    try:
        for member in file.inside.split(" > ") if file.inside else ():
            folder = path.with_name(f"{path.name}.members")
            if not folder.exists():
                with writing(folder):
                    if path.suffix == ".zip":  # zipfile itself skips unsafe paths
                        shutil.unpack_archive(path, folder)
                    else:
                        shutil.unpack_archive(path, folder, filter="data")
            path = folder / member
            if not path.is_file():
                raise BadInput(f"contains no file {member!r}", archive.name)
        if file.unpacked:
            path = archive.with_name("unpacked")
            path.write_bytes(gzip.decompress(archive.read_bytes()))
        if file.where:
            with path.open("rb") as table:
                header, *rows = table
            column, value = file.where.encode().split(b"=")
            place = header.rstrip().split(b"\t").index(column)
            path = path.with_name(f"{path.name}.{file.where}")
            chosen = (row for row in rows if row.rstrip().split(b"\t")[place : place + 1] == [value])
            path.write_bytes(b"".join([header, *chosen]))
    except DAMAGE as error:
        if getattr(error, "errno", None) is not None:  # a disk error, not a damaged archive
            raise
        fault = "damaged, or not in the format that its name suggests"
        raise BadInput(f"{fault}: {error}", archive.name) from None
    return path
