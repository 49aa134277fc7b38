import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast

from calque.analysis.tasks.catalogue import POS, QA, PairLabels
from calque.analysis.tasks.task import Reader
from calque.derive.sentence import Example, Sentence, Span
from calque.derive.vocabulary import OURS, open_vocabulary
from calque.pretrain.batch import UNLABELLED

FIRST = len(OURS.ids)

V = FIRST + 26


def spell(word):
    return tuple(FIRST + ord(letter) - ord("a") for letter in word)


SOURCE = Reader(spell)
LETTERS = "abcdefghijklmnopqrstuvwxyz"
words = st.lists(st.text(LETTERS, min_size=1, max_size=12), min_size=1, max_size=12)


def tagged(sentence, length, reader=SOURCE):
    tags = tuple(word[0] for word in sentence)
    return POS().rows(Example(((Sentence(tuple(sentence), tags),),)), LETTERS, reader, length)


@given(words, st.integers(8, 40))
def test_labels_are_at_first_sub_words(sentence, length):
    rows, whole = tagged(sentence, length)
    ids, targets = (np.concatenate([getattr(row, name) for row in rows]) for name in ("ids", "targets"))
    assert max(len(row.ids) for row in rows) <= length
    assert all(
        row.ids[0] == OURS.start and row.ids[-1] == OURS.end and len(row.ids) == len(row.targets)
        for row in rows
    )
    labelled = targets != UNLABELLED
    assert (ids[labelled] == targets[labelled] + FIRST).all()
    assert [LETTERS[label] for label in targets[labelled]] == [word[0] for word in sentence]
    text = [id_ for row in rows for id_ in row.ids[1:-1].tolist()]
    assert text == [id_ for word in sentence for id_ in spell(word)[: length - 2]]
    assert whole == (len(rows) == 1 and all(len(word) <= length - 2 for word in sentence))


WRITTEN = (
    "Der Zug fuhr „pünktlich“ ab.",
    "黑豹队的防守只丢了308分，在联赛中排名第六。",
    "한국어의 조사는 앞말에 붙는다.",
    "ﬁne ½ tea™  a",
)


def test_given_tokenizer_reads_raw_text(calque_encoder):
    from transformers import AutoTokenizer

    theirs = AutoTokenizer.from_pretrained(calque_encoder)
    reader = Reader.of_given(open_vocabulary(calque_encoder))
    for words in map(str.split, WRITTEN):
        text, sentences = " ".join(words), [Sentence(tuple(words))]
        pieces = reader.read(sentences)
        assert pieces.ids.tolist() == theirs(text, add_special_tokens=False).input_ids
        shown = [text[a:b] for a, b in zip(pieces.starts, pieces.ends, strict=True)]
        assert "".join(shown) == "".join(words)
        assert all(part == part.strip() for part in shown)
    chinese = reader.read([Sentence((WRITTEN[1],))])
    number = (chinese.ends > 9) & (chinese.starts < 12)
    assert WRITTEN[1][chinese.starts[number].min() : chinese.ends[number].max()] == "308"


SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
WORDS = ("who", "sings", "the", "small", "bird", "on", "a", "wall", ".", "?")
CLS, SEP = ("[CLS]", 2), ("[SEP]", 3)
BERTS = processors.TemplateProcessing(
    single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[CLS, SEP]
)
TEMPLATES = {
    "BERT's": BERTS,
    "BERT's own class": processors.BertProcessing(SEP, CLS),
    "after another": processors.Sequence([processors.ByteLevel(), BERTS]),
}


def saved(folder, template):
    tokenizer = Tokenizer(models.WordLevel({word: i for i, word in enumerate((*SPECIAL, *WORDS))}, "[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.add_special_tokens(list(SPECIAL))
    if template is not None:
        tokenizer.post_processor = template
    folder.mkdir(exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


QUESTION, CONTEXT = "who sings ?", "the small bird sings on a wall ."


def text(words, *spans):
    return (Sentence(tuple(words.split()), spans=spans),)


def check(folder, theirs):
    reader = Reader.of_given(open_vocabulary(folder))
    expected = theirs(QUESTION, CONTEXT, return_token_type_ids=True)
    labelled, size = Example((text(QUESTION), text(CONTEXT)), "a"), len(expected.input_ids)
    ((row,), whole) = PairLabels().rows(labelled, ("a",), reader, size)
    asked = Example((text(QUESTION), text(CONTEXT, Span(1, 3, "answer"))))
    ((spans,), _) = QA().rows(asked, (), reader, 128)
    for made in (row, spans):
        assert made.ids.tolist() == expected.input_ids
        assert np.broadcast_to(made.types, len(made.ids)).tolist() == expected.token_type_ids
    shown = [CONTEXT[a:b] for a, b in zip(spans.starts, spans.ends, strict=True) if a < b]
    assert whole and "".join(shown) == CONTEXT.replace(" ", "")
    assert CONTEXT[spans.starts[spans.targets[0]] : spans.ends[spans.targets[1]]] == "small bird"
    ((shorter,), whole) = PairLabels().rows(labelled, ("a",), reader, size - 2)
    assert len(shorter.ids) == size - 2 and not whole


@pytest.mark.parametrize("name", TEMPLATES)
def test_rows_of_two_texts_follow_the_tokenizers_template(name, tmp_path):
    folder = saved(tmp_path, TEMPLATES[name])
    check(folder, PreTrainedTokenizerFast(tokenizer_file=str(folder / "tokenizer.json")))
