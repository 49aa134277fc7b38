import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calque.derive.on_demand import derive_file
from calque.derive.pocket.language import Pocket
from calque.derive.readers.conllu import read_conllu
from calque.derive.sentence import Sentence
from calque.derive.sources.files import Files
from calque.derive.transform import Account, image_of
from calque.derive.transforms import transform
from calque.derive.words import UPOS
from tests.derive.grammar.made import trees
from tests.treebanks import write_treebank

NAMES = ["inv", "perm", "trans.inv", "trans.perm"]
SENTENCES = tuple(Pocket(types=300).sentences(40))


def written(path, lines):
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


@pytest.mark.parametrize("name", [*NAMES, "syn-romance"])
def test_derived_treebank_is_a_treebank(name, tmp_path):
    path = tmp_path / "a.conllu"
    write_treebank(path, SENTENCES)
    made = transform(name).ready(tmp_path)
    lines = list(derive_file(Files((path,)), made, Account(), tmp_path))
    derived = read_conllu(written(tmp_path / "b", lines))
    for number, (after, before) in enumerate(zip(derived, SENTENCES, strict=True)):
        plain = Sentence(before.words, before.tags, before.heads, before.relations)
        image = image_of(made, plain, number, Account())
        assert after.words == tuple(map(made.spell, image.words))
        assert (after.tags, after.heads, after.relations) == (image.tags, image.heads, image.relations)
    origins = [line.rpartition("Source=")[2] for line in lines if "\t" in line]
    assert sorted(map(int, origins)) == sorted(i + 1 for sentence in SENTENCES for i in range(len(sentence)))


CHANGES = ("agg", "agg-50", "split", "cipher-noun", *(f"drop-{tag.lower()}" for tag in UPOS))
WORDS = ("walked", "houses", "the", "In", "We", "could", "sing", "...")


@st.composite
def compositions(draw):
    parts = draw(st.lists(st.sampled_from((*CHANGES, "inv", "perm", "syn-verbfinal")), max_size=2))
    return ".".join(dict.fromkeys([*parts, draw(st.sampled_from(CHANGES))]))


@st.composite
def annotated(draw):
    heads = draw(trees())
    columns = WORDS, (*UPOS, "PUNCT"), ("nsubj", "obj", "punct", "conj")
    each = (st.lists(st.sampled_from(c), min_size=len(heads), max_size=len(heads)) for c in columns)
    words, tags, relations = map(draw, each)
    relations = ["root" if head < 0 else relation for head, relation in zip(heads, relations, strict=True)]
    return Sentence(tuple(words), tuple(tags), heads, tuple(relations))


def check_readable(sentences, name, folder):
    write_treebank(folder / "before.conllu", sentences)
    cache = folder / "cache"
    lines = derive_file(Files((folder / "before.conllu",)), transform(name).ready(cache), Account(), cache)
    read = list(read_conllu(written(folder / "after.conllu", list(lines))))
    assert len(read) == len(sentences) and all(sentence.heads for sentence in read)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("treebanks")


@settings(max_examples=200)
@given(annotated(), compositions())
def test_derived_treebanks_are_readable(folder, sentence, name):
    check_readable([sentence], name, folder)
