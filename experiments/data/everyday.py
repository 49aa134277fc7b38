"""Building Everyday English from its original files. The trees and the French grammar are copied from
Calque, since they were made with a parser that Calque does not include."""

import lzma
import re
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from hashlib import sha256
from itertools import chain, count
from pathlib import Path
from typing import Any

from calque.derive.artefact import Artefact, input_digest, making
from calque.derive.errors import BadInput
from calque.derive.readers.conllu import read_conllu
from calque.derive.readers.english import cut_tokens, split_sentences
from calque.derive.readers.iob2 import read_iob2
from calque.derive.readers.lines import Lines
from calque.derive.sentence import Sentence, iob2
from calque.derive.source import SPLITS
from calque.derive.sources.everyday import FOLDER, GRAMMAR, KIND, NOTICES, TEXT, TREEBANK, TREES, TYPES, files
from calque.derive.sources.files import EasyText
from calque.derive.vocabulary import most_frequent

PAIRS = ("parallel/manythings/fra-eng.tsv", "parallel/manythings/deu-eng.tsv")
GOLD = "ud/UD_English-EWT/en_ewt-ud-{}.conllu"
ENTITIES = "ner/uner-en_ewt/en_ewt-ud-{}*.iob2"  # its training file is called train or train.older
# The entity reader expects the tag in the column after the word.
COLUMNS = "# global.columns = ID FORM UNER:TAG UPOS HEAD DEPREL\n"
COUNTED = (1_500, 2_000, 3_000, TYPES)  # vocabulary sizes for counting easy sentences
_JOINED = re.compile(r"(.+)(n['’]t|['’](?:s|m|re|ve|ll|d))|(can)(not)|(gon|wan)(na)|(got)(ta)", re.IGNORECASE)


def make_everyday(data: Path, folder: Path, cache: Path) -> dict[str, Any]:
    """Build the files in `folder`, atomically, from the originals below `data`. Return the manifest's facts:
    the originals' digests, counts and exclusions."""
    pairs = [_original(data, place) for place in PAIRS]
    annotated = {key: [_original(data, file.format(key)) for file in (GOLD, ENTITIES)] for key in SPLITS}
    originals = [*pairs, *chain.from_iterable(annotated.values())]
    facts: dict[str, Any] = {
        "originals": {path.relative_to(data).as_posix(): input_digest(path) for path in originals},
        "contents": {},
    }
    with making(folder, KIND, facts) as part:
        for name in NOTICES:
            shutil.copyfile(FOLDER / name, part / name)
        counts: Counter[str] = Counter()
        text = _everyday_text(pairs, counts)
        facts["contents"][TEXT] = _write(part / TEXT, text, [f"{one.text}\n" for one in text], counts)
        for split, (trees, entities) in annotated.items():
            counts = Counter()
            sentences = list(_with_entities(trees, entities, counts))
            path = part / TREEBANK.format(split)
            facts["contents"][path.name] = _write(path, sentences, [COLUMNS, *map(_rows, sentences)], counts)
        facts["easy"] = {str(types): _easy_counts(part, types, cache) for types in COUNTED}
        facts["models"] = _copy_trees(part)
    return facts


def _original(data: Path, place: str) -> Path:
    found = sorted(data.glob(place))
    if len(found) != 1:
        raise BadInput(
            f"{len(found)} files match; {KIND} is built from exactly one (docs/everyday.md)", data / place
        )
    return found[0]


def _everyday_text(paths: Iterable[Path], counts: Counter[str]) -> list[Sentence]:
    """Return the distinct easy sentences in the first column, ordered by SHA-256, because neighbours in the
    original order are nearly identical."""
    columns = (line.partition("\t")[0] for path in paths for _, line in Lines(path))
    read = [
        tuple(chain.from_iterable(map(_syntactic, s)))
        for text in columns
        for s in split_sentences(text, counts)
    ]
    distinct = dict.fromkeys(read)
    counts["repeated sentences"] += len(read) - len(distinct)
    frequent = most_frequent(Counter(chain.from_iterable(distinct)), TYPES)
    kept = EasyText(TYPES).kept(map(Sentence, distinct), frozenset(frequent), counts)
    whole = [sentence for sentence in kept if cut_tokens(sentence.text) == [list(sentence.words)]]
    counts["sentences that would be read as others"] += len(kept) - len(whole)
    return sorted(whole, key=lambda sentence: sha256(sentence.text.encode()).digest())


def _syntactic(word: str) -> list[str]:
    """Split a word into syntactic words as in the treebank: `do n't`, `Tom 's`, `can not`, `gon na`."""
    if not (match := _JOINED.fullmatch(word)):
        return [word]
    first, last = filter(None, match.groups())
    return [*_syntactic(first), last]


def _with_entities(trees: Path, entities: Path, counts: Counter[str]) -> Iterator[Sentence]:
    """Add entities to a treebank's sentences, except to the few whose words differ in the release that
    Universal NER annotates."""
    spans = {sentence.words: sentence.spans for sentence in read_iob2(entities, counts)}
    for sentence in read_conllu(trees, counts):
        if sentence.words in spans:
            yield replace(sentence, spans=spans[sentence.words])
        else:
            counts["sentences with other words in Universal NER"] += 1


def _rows(sentence: Sentence) -> str:
    heads = [head + 1 for head in sentence.heads]
    rows = zip(count(1), sentence.words, iob2(sentence), sentence.tags, heads, sentence.relations)
    return "".join("\t".join(map(str, row)) + "\n" for row in rows) + "\n"


def _write(
    path: Path, sentences: Sequence[Sentence], text: Iterable[str], counts: Counter[str]
) -> dict[str, Any]:
    path.write_bytes(lzma.compress("".join(text).encode(), preset=9 | lzma.PRESET_EXTREME))
    left_out = dict(sorted((+counts).items()))
    return {"sentences": len(sentences), "words": sum(map(len, sentences)), "left out": left_out}


def _copy_trees(part: Path) -> dict[str, Any]:
    """Copy Calque's trees and grammar, if the text is identical to Calque's, and return the facts about the
    models that made them."""
    if lzma.decompress((part / TEXT).read_bytes()) != lzma.decompress((FOLDER / TEXT).read_bytes()):
        raise BadInput("the text differs from Calque's, so Calque's trees do not match it", part)
    for name in (TREES, GRAMMAR):
        shutil.copyfile(FOLDER / name, part / name)
    return dict(Artefact.open(FOLDER, KIND).facts["models"])


def _easy_counts(folder: Path, types: int, cache: Path) -> dict[str, int]:
    source = files(folder, types).ready(cache)
    text = [len(sentence) for chunk in source.chunks() for sentence in source.sentences(chunk)[0]]
    numbers = {"sentences": len(text), "words": sum(text)}
    for task in source.tasks:
        for split, examples in source.task_data(task).examples.items():
            numbers[f"{task} {split}"] = len(examples)
    for split, examples in source.task_data("ner").examples.items():
        numbers[f"entities {split}"] = sum(len(example.texts[0][0].spans) for example in examples)
    return numbers
