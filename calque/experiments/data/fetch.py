"""Download a recipe's files that are missing from the data folder, and unpack them: members of zip and tar
archives, which may be nested, and rows of tables."""

import gzip
import hashlib
import shutil
import tarfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import BadZipFile

import requests
from urllib3.exceptions import HTTPError

from calque.derive.errors import BadInput, unknown
from calque.derive.files import claimed, make_folder, whole_file, writing
from calque.derive.fingerprint import sha256
from calque.derive.workers import Progress
from calque.experiments.data.recipe import Download, Output, Recipe

THERE, MISSING, ALTERED = "there", "missing", "altered"
HEADERS = {"User-Agent": "calque (data fetch)", "Accept-Encoding": "identity"}
ARCHIVES = {".zip": "zip", ".tar": "tar", ".tar.gz": "gztar", ".tgz": "gztar"}
DAMAGE = (BadZipFile, tarfile.TarError, zlib.error, EOFError, OSError, RuntimeError)
TIMEOUT = 30.0  # maximum number of seconds without receiving a byte


def state(folder: Path, output: Output) -> str:
    """Return the state of a file: missing, altered, or there with the digest stated in its recipe."""
    path = folder / output.place
    if not path.exists():
        return MISSING
    return THERE if path.is_file() and output.sha256 in ("", sha256(path)) else ALTERED


def fetch(recipe: Recipe, folder: Path, report: Progress, trust: bool = False) -> list[str]:
    """Fetch each download whose files are missing, even if other downloads fail, and return the new files'
    paths. Raises BadInput for altered files, failed downloads and, without `trust`, files without a published
    digest."""
    states = {output.place: state(folder, output) for output in recipe.outputs}
    if altered := [place for place in states if states[place] == ALTERED]:
        raise BadInput(f"{altered[0]}: differs from the recipe; remove it to fetch it again", folder)
    make_folder(folder)
    placed, failed, unpinned = list[str](), list[str](), 0
    for download in recipe.downloads:
        if MISSING not in [states[output.place] for output in download.outputs]:
            continue
        if not (trust or download.pinned):
            unpinned += 1
            continue
        try:
            placed += _fetch(download, folder, report)
        except BadInput as error:
            failed.append(str(error))
    if unpinned:
        failed.append(f"{recipe.name}: {unpinned:,} downloads have no published digest; --trust fetches them")
    if failed:
        raise BadInput(failed)
    return placed


def _fetch(download: Download, folder: Path, report: Progress) -> list[str]:
    name = f".fetching-{hashlib.sha256(download.url.encode()).hexdigest()[:16]}"
    with claimed(folder / name):
        part = download_file(download, folder / name, report)
        with TemporaryDirectory(prefix=f"{name}-", dir=folder) as work:
            files = unpack(part.rename(Path(work, "download")), download.name, download.outputs)
            for output in download.outputs:
                _check(files[output.place], output.sha256, f"{download.url}: {output.place}")
            placed = [place for place in files if not (folder / place).exists()]
            for place in placed:
                with whole_file(folder / place) as new:
                    shutil.move(files[place], new)  # the folder may be a link to another disk
    return placed


def download_file(download: Download, part: Path, report: Progress) -> Path:
    """Download a file to `part`, resuming if its digest is known, and return its path. If it is not the
    expected file, delete it and raise BadInput."""
    title, size = f"fetching {download.name}", part.stat().st_size if part.exists() and download.sha256 else 0
    headers = HEADERS | ({"Range": f"bytes={size}-"} if size else {})
    try:
        with requests.get(download.url, headers=headers, stream=True, timeout=TIMEOUT) as response:
            if response.status_code != 416:  # otherwise, no bytes are left to receive
                response.raise_for_status()
                size = size if response.status_code == 206 else 0
                _receive(response, part, size, lambda done, total: report(title, done, total))
        _check(part, download.sha256, download.url)
    except (requests.RequestException, HTTPError) as error:
        raise BadInput(f"failed: {error}; run the command again", download.url) from None
    except BadInput as error:
        part.unlink(missing_ok=True)
        raise BadInput(error.args[0], download.url) from None
    return part


def _receive(response: requests.Response, part: Path, size: int, report: Callable[[int, int], None]) -> None:
    """Append the rest of a file to its first `size` bytes in `part`."""
    rest = response.raw.length_remaining
    if rest is None and "Transfer-Encoding" not in response.headers:
        raise BadInput("the server states no length, so truncation would go unnoticed")
    total = size + (rest or 0)
    with writing(part), part.open("ab" if size else "wb") as file:
        while block := response.raw.read1(1 << 17, decode_content=False):
            size += file.write(block)
            report(size, max(total, size + 1))  # a server need not state the length
    report(size, size)


def _check(path: Path, expected: str, where: str) -> None:
    if expected and (digest := sha256(path)) != expected:
        raise BadInput(f"expected SHA-256 {expected} but got {digest}", where)


def unpack(archive: Path, name: str, outputs: Sequence[Output]) -> dict[str, Path]:
    """Unpack `archive`, which was downloaded as `name`, into its folder. Return the unpacked files by output
    path."""
    files = {}
    try:
        for number, output in enumerate(outputs):
            file, member = archive, name
            for inside in output.inside:
                file, member = _members(file, member) / inside, inside
                if not file.is_file():
                    raise BadInput(f"contains no file {inside!r}", name)
            if output.decompress:
                file = archive.with_name("decompressed")
                file.write_bytes(gzip.decompress(archive.read_bytes()))
            if output.where:
                rows = _rows(file, output.where, name)
                file = file.with_name(f"rows-{number}")
                file.write_bytes(rows)
            files[output.place] = file
    except DAMAGE as error:
        if getattr(error, "errno", None) is not None:  # a disk error, not a damaged archive
            raise
        raise BadInput(f"damaged, or not in the format that its name suggests: {error}", name) from None
    return files


def _members(archive: Path, name: str) -> Path:
    """Unpack a whole archive, unless it has already been unpacked, and return the folder."""
    folder = archive.with_name(f"{archive.name}.members")
    if not folder.exists():
        kinds = [kind for suffix, kind in ARCHIVES.items() if name.endswith(suffix)]
        if not kinds:
            raise BadInput(f"not an archive: its name must end in one of {', '.join(ARCHIVES)}", name)
        with writing(folder):
            shutil.unpack_archive(archive, folder, kinds[0], filter=None if kinds == ["zip"] else "data")
    return folder


def _rows(table: Path, where: Mapping[str, str], name: str) -> bytes:
    """Return a table's header and the rows with the values in `where`."""
    with table.open("rb") as file:
        header, *lines = file
    columns = header.decode(errors="replace").rstrip("\r\n").split("\t")
    if missing := [column for column in where if column not in columns]:
        raise BadInput(unknown("column", missing[0], columns), name, 1)
    expected = {columns.index(column): value.encode() for column, value in where.items()}
    rows = [line for line in lines if expected.items() <= {*enumerate(line.rstrip(b"\r\n").split(b"\t"))}]
    return b"".join([header, *rows])
