"""Build Everyday English from its original files. Its trees and French grammar are copied from the shipped
version, because building them requires a parser that Calque does not include.

CALQUE_DATA=... python -m tests.experiments.data.everyday EVERYDAY
"""

import lzma
import os
import re
import shutil
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import Any

from calque.derive.errors import BadInput
from calque.derive.files import Artefact, input_digest, making
from calque.derive.readers.conllu import read_conllu
from calque.derive.readers.english import cut_tokens, split_sentences
from calque.derive.readers.examples import read_iob2
from calque.derive.readers.lines import read_lines
from calque.derive.sentence import Sentence, iob2
from calque.derive.source import SPLITS
from calque.derive.sources.everyday import GRAMMAR, TEXT, TREEBANK, TREES, TYPES
from calque.derive.sources.files import EVERYDAY, EVERYDAY_ENGLISH, EasyText
from calque.derive.vocabulary import most_frequent

PAIRS = ("parallel/manythings/fra-eng.tsv", "parallel/manythings/deu-eng.tsv")
NOTICES = ("README.md", "LICENSE-CC-BY-2.0-FR.txt", "LICENSE-CC-BY-SA-4.0.txt")
GOLD = "ud/UD_English-EWT/en_ewt-ud-{}.conllu"
ENTITIES = "ner/uner-en_ewt/en_ewt-ud-{}*.iob2"  # the training file is called train or train.older
# The entity reader expects the tag in the column after the word.
COLUMNS = "# global.columns = ID FORM UNER:TAG UPOS HEAD DEPREL\n"
_JOINED = re.compile(r"(.+)(n['’]t|['’](?:s|m|re|ve|ll|d))|(can)(not)|(gon|wan)(na)|(got)(ta)", re.IGNORECASE)


def make_everyday(data: Path, folder: Path) -> dict[str, Any]:
    """Build the files in `folder`, atomically, from the originals below `data`. Return the manifest's facts:
    the originals' digests, counts and exclusions."""
    places = [*PAIRS, *(file.format(split) for split in SPLITS for file in (GOLD, ENTITIES))]
    originals = [_original(data, place) for place in places]
    digests = {path.relative_to(data).as_posix(): input_digest(path) for path in originals}
    facts: dict[str, Any] = {"originals": digests, "contents": {}}
    with making(folder, EVERYDAY_ENGLISH, facts) as part:
        counts = Counter[str]()
        text = _everyday_text(originals[:2], counts)
        lines = "".join(f"{sentence.text}\n" for sentence in text)
        facts["contents"][TEXT] = _write(part / TEXT, lines, text, counts)
        for split, trees, entities in zip(SPLITS, originals[2::2], originals[3::2], strict=True):
            counts = Counter[str]()
            text, name = list(_with_entities(trees, entities, counts)), TREEBANK.format(split)
            facts["contents"][name] = _write(part / name, COLUMNS + "".join(map(_rows, text)), text, counts)
        if lzma.decompress((part / TEXT).read_bytes()) != lzma.decompress((EVERYDAY / TEXT).read_bytes()):
            raise BadInput("the text differs from Calque's, so Calque's trees do not match it", folder)
        for name in (*NOTICES, TREES, GRAMMAR):
            shutil.copyfile(EVERYDAY / name, part / name)
        shipped = Artefact.open(
            EVERYDAY, EVERYDAY_ENGLISH
        ).facts  # these also count easy sentences by vocabulary size
        facts |= {"easy": shipped["easy"], "models": shipped["models"]}
    return facts


def _original(data: Path, place: str) -> Path:
    matches = sorted(data.glob(place))
    if len(matches) != 1:
        reason = (
            f"{len(matches)} files match; {EVERYDAY_ENGLISH} is built from exactly one (docs/everyday.md)"
        )
        raise BadInput(reason, data / place)
    return matches[0]


def _everyday_text(paths: Sequence[Path], counts: Counter[str]) -> list[Sentence]:
    """Return the distinct easy sentences, sorted by SHA-256, because adjacent sentences in the originals are
    nearly identical."""
    sentences = list[tuple[str, ...]]()
    for path in paths:
        for _, line in read_lines(path):
            for words in split_sentences(line.partition("\t")[0]):
                sentences.append(tuple(chain.from_iterable(map(_syntactic, words))))
    distinct = dict.fromkeys(sentences)
    counts["repeated sentences"] += len(sentences) - len(distinct)
    frequent = most_frequent(Counter(chain.from_iterable(distinct)), TYPES)
    easy = EasyText(TYPES).kept(map(Sentence, distinct), frozenset(frequent), counts)
    stable = [sentence for sentence in easy if cut_tokens(sentence.text) == [list(sentence.words)]]
    counts["sentences that would be read as others"] += len(easy) - len(stable)
    return sorted(stable, key=lambda sentence: sha256(sentence.text.encode()).digest())


def _syntactic(word: str) -> list[str]:
    """Split a word into syntactic words as in the treebank: `do n't`, `Tom 's`, `can not`, `gon na`."""
    match = _JOINED.fullmatch(word)
    if not match:
        return [word]
    first, last = filter(None, match.groups())
    return [*_syntactic(first), last]


def _with_entities(trees: Path, entities: Path, counts: Counter[str]) -> Iterator[Sentence]:
    """Yield a treebank's sentences with entities from Universal NER, without sentences whose words differ
    there."""
    spans = {sentence.words: sentence.spans for sentence in read_iob2(entities, counts)}
    for sentence in read_conllu(trees, counts):
        if sentence.words in spans:
            yield replace(sentence, spans=spans[sentence.words])
        else:
            counts["sentences with other words in Universal NER"] += 1


def _rows(sentence: Sentence) -> str:
    columns = sentence.words, iob2(sentence), sentence.tags, sentence.heads, sentence.relations
    rows = ""
    for number, (word, entity, tag, head, relation) in enumerate(zip(*columns, strict=True), start=1):
        rows += f"{number}\t{word}\t{entity}\t{tag}\t{head + 1}\t{relation}\n"
    return f"{rows}\n"


def _write(path: Path, text: str, sentences: Sequence[Sentence], counts: Counter[str]) -> dict[str, Any]:
    path.write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))
    left_out = dict(sorted((+counts).items()))
    return {"sentences": len(sentences), "words": sum(map(len, sentences)), "left out": left_out}


if __name__ == "__main__":
    make_everyday(Path(os.environ["CALQUE_DATA"]), Path(sys.argv[1]))
