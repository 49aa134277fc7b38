"""Corpora of text in files: pieces are encoded by workers and written in their order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from derive.corpus import CorpusWriter
from derive.errors import BadInput
from derive.files import sha256
from derive.natural.encode_piece import EncodedPiece, EncodePiece, call
from derive.natural.encoded import Encoded
from derive.natural.piece import Files
from derive.natural.seen import Seen
from derive.progress import Progress
from derive.vocabulary import TOKENIZER
from derive.workers import Workers


@dataclass
class Corpora:
    """Writes corpora of files of text with the vocabulary in a folder, whose `size` is V.

    `counts` (V,) int64 are how often each type occurs in all of them.
    """

    vocabulary: Path
    pool: Workers
    progress: Progress
    size: int

    def __post_init__(self) -> None:
        self.counts = np.zeros(self.size, np.int64)
        self._digest = sha256(self.vocabulary / TOKENIZER)

    def write(self, name: str, files: Sequence[Files], folders: Sequence[Path]) -> dict[str, Any]:
        """Write the text of all files, a corpus a language into each folder, and return its account for a manifest.

        Refused are files of which no line is left.
        """
        left_out: Counter[str] = Counter()
        lines = 0
        with ExitStack() as stack:
            writers = [stack.enter_context(CorpusWriter(folder, self.size)) for folder in folders]
            for piece, sides in self._distinct(f"encoding {name}", files, left_out):
                left_out += piece.left_out
                lines += piece.read
                for writer, side in zip(writers, sides, strict=True):
                    self.counts += np.bincount(side.ids, minlength=self.size)
                    writer.append(side.shard(), writer.sentences)
            if not writers[0].sentences:
                raise BadInput(f"{name}: no line of text is left; all are empty or left out")
        out = [{"words": writer.words, "tokens": writer.tokens} for writer in writers]
        return {
            "in": {"lines": lines},
            "out": {"lines": writers[0].sentences, **(out[0] if len(out) == 1 else {"sides": out})},
            "left out": dict(sorted(left_out.items())),
        }

    def _distinct(
        self, stage: str, files: Sequence[Files], left_out: Counter[str]
    ) -> Iterator[tuple[EncodedPiece, list[Encoded]]]:
        """Each piece and its sides, without lines that came before where the files say so."""
        before, hashed = Seen(), any(part.distinct for part in files)
        done, size = 0, sum(part.size for part in files)
        self.progress(stage, 0, size)
        for part in files:
            jobs = (EncodePiece(self.vocabulary, self._digest, piece, hashed) for piece in part.pieces())
            for piece in self.pool.map(call, jobs):
                done += piece.size
                self.progress(stage, done, size)
                sides = piece.sides
                if piece.hashes is not None:
                    new = before.new(piece.hashes)
                    if part.distinct:
                        sides = piece.only(new)
                        left_out["lines that came before"] += int((~new).sum())
                yield piece, sides
        self.progress(stage, size, size)
