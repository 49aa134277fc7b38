"""Everyday English, the corpus bundled with Calque: short sentences from Tatoeba, and the English Web
Treebank with Universal NER's entities (docs/everyday.md)."""

from calque.derive.errors import BadInput
from calque.derive.files import Artefact, digest
from calque.derive.order import Reorder, StoredGrammar, TreebankFiles
from calque.derive.parser import StoredTrees
from calque.derive.sources.files import EVERYDAY, EVERYDAY_ENGLISH, EasyText, Files, TaskFiles

TEXT, TREEBANK = "tatoeba.tokens.xz", "ewt-{}.conllup.xz"
TREES, GRAMMAR = "tatoeba.trees.xz", "french.grammar.json.xz"
TYPES = 4_000  # number of distinct words in the text


def everyday(types: int = TYPES) -> Files:
    """Return the sentences of Everyday English that contain only the `types` most frequent words."""
    folder = opened().folder
    train, dev, test = (folder / TREEBANK.format(split) for split in ("train", "dev", "test"))
    tasks = TaskFiles((train,), (test,), (dev,))
    trees = StoredTrees(folder / TEXT, folder / TREES, (train, dev, test))
    easy = EasyText(types, tasks=("pos", "ner"))
    return Files((folder / TEXT,), pos=tasks, ner=tasks, parser=trees, easy=easy)


def french_order() -> Reorder:
    """Return the transform `syn-fr` with a stored grammar."""
    folder = opened().folder
    english = TreebankFiles("en", (folder / TREEBANK.format("train"),))
    return Reorder(StoredGrammar("fr", folder / GRAMMAR), english)


def opened() -> Artefact:
    """Open the folder of Everyday English; raise BadInput if a file is missing or has changed."""
    artefact = Artefact.open(EVERYDAY, EVERYDAY_ENGLISH)
    for name, expected in artefact.digests.items():
        path = EVERYDAY / name
        if not path.is_file() or digest(path) != expected:
            raise BadInput("this file of the package is missing or has changed; reinstall Calque", path)
    return artefact
