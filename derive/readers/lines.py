"""Lines of a text file, decoded strictly: what every reader starts from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from stat import S_ISDIR, S_ISREG

from derive.errors import BadInput, NoFile

_BOM = b"\xef\xbb\xbf"


def check_file(path: Path) -> None:
    """Refuse a path that is no regular file with something in it.

    Raises:
        BadInput: naming the path and what it is: missing (`NoFile`), a directory, a pipe or device, out of reach,
            or empty.
    """
    try:
        status = path.stat()
    except FileNotFoundError:
        raise NoFile("no such file", path) from None
    except (OSError, ValueError) as error:  # a loop of links, a name too long or with a NUL
        reason = error.strerror if isinstance(error, OSError) else error
        raise BadInput(f"cannot be read: {reason}; expected a text file", path) from None
    if S_ISDIR(status.st_mode):
        raise BadInput("is a directory; expected a text file", path)
    if not S_ISREG(status.st_mode):
        raise BadInput("is a pipe or a device; expected a text file, which can be read more than once", path)
    if status.st_size == 0:
        raise BadInput("is empty; expected text", path)


def decode(data: bytes, path: Path, line: int) -> str:
    """Decode UTF-8 that begins at line `line` of the file; CRLF becomes a line feed.

    A byte order mark at the head of the file is dropped.

    Raises:
        BadInput: a NUL byte, bytes that are not UTF-8, or a carriage return that ends no line.
    """
    if b"\0" in data:
        raise BadInput("a NUL byte; expected text, found a binary file", path, line + _lines_before(data, b"\0"))
    if line == 1:
        data = data.removeprefix(_BOM)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        place = line + data.count(b"\n", 0, error.start)
        raise BadInput(f"byte 0x{data[error.start]:02x} is not UTF-8 ({error.reason})", path, place) from None
    if "\r" in text:
        text = text.replace("\r\n", "\n").removesuffix("\r")
        if "\r" in text:
            number = line + text.count("\n", 0, text.index("\r"))
            raise BadInput("a carriage return inside a line; lines end in LF or CRLF", path, number)
    return text


def read_lines(path: Path, *, ended: bool = False) -> Iterator[tuple[int, str]]:
    """Stream a file's lines without their ends, numbered from 1.

    UTF-8 only, a byte order mark is dropped, CRLF counts as a line end. With `ended` the last line
    must have its line end too, for formats where a cut line may look like a whole one.

    Raises:
        BadInput: the file is missing, empty, a directory, binary, not UTF-8, or cut.
    """
    check_file(path)
    with path.open("rb") as file:
        for number, raw in enumerate(file, start=1):
            if ended and not raw.endswith(b"\n"):
                decode(raw, path, number)
                raise BadInput(
                    "the last line has no line end: the file is truncated, or add one if it is whole", path, number
                )
            yield number, decode(raw.removesuffix(b"\n"), path, number)


def tokens(line: str) -> list[str]:
    """The words of a line of tokenised text, which spaces and tabs part.

    Other white space belongs to its word: U+3000 alone is a word of Japanese sets, and `1 000` with a no-break space is
    one word. Whoever made the text counted them so, and links of words count on it.
    """
    return [token for token in line.replace("\t", " ").split(" ") if token]


def one_word(form: str, counts: Counter[str]) -> str:
    """The form without the white space inside it, counted: everywhere else white space parts words."""
    parts = form.split()
    if parts != [form]:
        counts["words that lost white space"] += 1
    return "".join(parts)


def _lines_before(data: bytes, mark: bytes) -> int:
    return data.count(b"\n", 0, data.index(mark))
