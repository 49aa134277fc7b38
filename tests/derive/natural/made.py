from itertools import islice

from calque.derive.natural import BitextFiles, TextFiles
from calque.derive.pocket.language import Pocket
from tests.derive.test_spelling import given_vocabulary
from tests.vocabularies import read_as_saved

EN = [" ".join(sentence.words) for sentence in islice(Pocket(types=300).sentences(400), 400)]

XX = [" ".join(reversed(text.split())) for text in EN]


def vocabulary(folder, kind="unigram"):
    folder.mkdir(parents=True, exist_ok=True)
    given_vocabulary(kind).save(str(folder / "tokenizer.json"))
    read_as_saved(folder)
    return folder


def written(path, lines):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def inputs(folder):
    pairs = list(zip(EN, XX, strict=True))
    texts = {
        "en": TextFiles((written(folder / "en-1.txt", EN[:150]), written(folder / "en-2.txt", EN[150:]))),
        "xx": TextFiles((written(folder / "xx.txt", XX),)),
    }
    beside = [written(folder / f"moses.{name}", side[100:]) for name, side in (("en", EN), ("xx", XX))]
    tabs = written(folder / "pairs.tsv", [f"{a}\t{b}\tCC BY" for a, b in pairs[:100]])
    return texts, {("en", "xx"): (BitextFiles(tabs), BitextFiles(beside[0], beside[1]))}
