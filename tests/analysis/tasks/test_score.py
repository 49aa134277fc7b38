import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st
from seqeval.metrics import f1_score

from calque.analysis.tasks.catalogue import MLQA
from calque.analysis.tasks.score import answer_scores, entities, entity_f1

UPOS = "ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X".split()
IOB2 = "O B-PER I-PER B-LOC I-LOC B-MISC-x I-MISC-x".split()
ODD = "O . B I E S B- E-PER S-PER EX -LRB- I-PER".split()


def paired(tags):
    word = st.tuples(st.sampled_from(tags), st.sampled_from(tags))
    return st.lists(st.lists(word, min_size=1, max_size=8), min_size=1, max_size=4)


def seqeval_f1(gold, predicted):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns about bare tags and undefined F1
        return float(f1_score(gold, predicted))


def columns(sentences):
    return [[a for a, _ in words] for words in sentences], [[b for _, b in words] for words in sentences]


@given(st.one_of(paired(UPOS), paired(IOB2), paired(ODD)))
def test_f1_equals_seqeval(sentences):
    gold, predicted = columns(sentences)
    if any(entities(gold)):
        assert entity_f1(gold, predicted).value == pytest.approx(seqeval_f1(gold, predicted), abs=1e-12)
    else:
        with pytest.raises(ValueError, match="no entity"):
            entity_f1(gold, predicted)


ANSWERS = st.text(st.sampled_from(list("aAnthe b.,'-\n é“”北1")), max_size=12)


def of_others(gold, predicted):
    """F1 and exact match by torchmetrics, whose F1 of two empty answers is 1, as in SQuAD 2; SQuAD v1.1 has
    0."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # warnings of its own imports
        from torchmetrics.functional.text import squad
    preds = [{"prediction_text": said, "id": str(i)} for i, (said,) in enumerate(predicted)]
    target = [
        {"answers": {"answer_start": [0] * len(texts), "text": list(texts)}, "id": str(i)}
        for i, texts in enumerate(gold)
    ]
    found = squad(preds, target)
    return float(found["f1"]) / 100, float(found["exact_match"]) / 100


@given(
    st.lists(
        st.tuples(st.lists(ANSWERS.map("x{}".format), min_size=1, max_size=3), ANSWERS),
        min_size=1,
        max_size=6,
    )
)
def test_answer_scores_equal_torchmetrics(pairs):
    gold, predicted = [right for right, _ in pairs], [(said,) for _, said in pairs]
    scores = answer_scores(gold, predicted)
    f1, exact = of_others(gold, predicted)
    assert scores["f1"].value == pytest.approx(f1, abs=1e-6)  # theirs is in 32 bits
    assert scores["exact"].value == pytest.approx(exact, abs=1e-6)


@pytest.mark.parametrize(
    ("language", "right", "said", "f1", "exact"),
    [
        ("en", "The Eiffel Tower", "eiffel tower!", 1.0, 1.0),
        ("de", "der alte Mann", "alter Mann", 0.5, 0.0),
        ("de", "die Brücke", "Brücke", 1.0, 1.0),
        ("es", "la casa", "una casa", 1.0, 1.0),
        ("zh", "北京市", "北京", 0.8, 0.0),
        ("zh", "1999年", "1999 年。", 1.0, 1.0),
        ("ar", "الكتاب", "كتاب", 1.0, 1.0),
        ("hi", "दिल्ली।", "दिल्ली", 1.0, 1.0),
        ("vi", "của anh", "anh", 1.0, 1.0),
        ("en", "the", "of", 0.0, 0.0),
    ],
)
def test_answers_follow_their_languages_rules(language, right, said, f1, exact):
    scores = MLQA().in_language(language).scores([[right]], [(said,)])
    assert scores["f1"].value == pytest.approx(f1) and scores["exact"].value == exact
