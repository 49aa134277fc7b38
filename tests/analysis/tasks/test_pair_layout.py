"""Two texts in a row are laid out as transformers' own tokenizer does it, and models are shown its token types."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import (
    AutoModelForSequenceClassification,
    BertConfig,
    BertForMaskedLM,
    BertTokenizer,
    PreTrainedTokenizerFast,
)

from analysis.tasks.finetune import Finetuned
from analysis.tasks.head import TextHead
from analysis.tasks.questions import QA, SpanRow
from analysis.tasks.rows import Reader, joined
from derive.errors import BadInput
from derive.example import Example
from derive.languages import Languages
from derive.natural.build import derive_natural
from derive.sentence import Sentence, Span
from derive.vocabulary import GivenVocabulary
from pretrain.model import encode
from pretrain.objectives.xlm_align import DWA
from tests.derive.natural.made import inputs

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
WORDS = ("who", "sings", "the", "small", "bird", "on", "a", "wall", ".", "?")
CLS, SEP = ("[CLS]", 2), ("[SEP]", 3)
BERTS = processors.TemplateProcessing(
    single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[CLS, SEP]
)
TEMPLATES: dict[str, Any] = {
    "BERT's": BERTS,
    "BERT's own class": processors.BertProcessing(SEP, CLS),
    "RoBERTa's own class": processors.RobertaProcessing(SEP, CLS),
    "after another": processors.Sequence([processors.ByteLevel(), BERTS]),
}


def saved(folder: Path, template: Any) -> Path:
    """The folder of a tokenizer of whole words with a template."""
    tokenizer = Tokenizer(models.WordLevel({word: i for i, word in enumerate((*SPECIAL, *WORDS))}, "[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.add_special_tokens(list(SPECIAL))
    if template is not None:
        tokenizer.post_processor = template
    folder.mkdir(exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


QUESTION, CONTEXT = "who sings ?", "the small bird sings on a wall ."


def text(words: str, *spans: Span) -> tuple[Sentence, ...]:
    return (Sentence(tuple(words.split()), spans=spans),)


def check(folder: Path, theirs: Any) -> None:
    """Hold rows of pairs and of questions against transformers' tokenizer, where nothing is cut."""
    reader = Reader.of_given(GivenVocabulary(folder).open())
    expected = theirs(QUESTION, CONTEXT, return_token_type_ids=True)
    row, whole = joined(reader, [text(QUESTION), text(CONTEXT)], 0, len(expected.input_ids))
    asked = Example((text(QUESTION), text(CONTEXT, Span(1, 3, "answer"))))
    ((spans,), _) = QA().rows(asked, ("small bird",), (), reader, 128)
    assert isinstance(spans, SpanRow)
    for made in (row, spans):
        assert made.ids.tolist() == expected.input_ids
        assert np.broadcast_to(made.types, len(made.ids)).tolist() == expected.token_type_ids
    shown = [CONTEXT[a:b] for a, b in zip(spans.starts[spans.inside], spans.ends[spans.inside], strict=True)]
    assert whole and "".join(shown) == CONTEXT.replace(" ", "")
    assert CONTEXT[spans.starts[spans.targets[0]] : spans.ends[spans.targets[1]]] == "small bird"
    shorter, whole = joined(reader, [text(QUESTION), text(CONTEXT)], 0, len(expected.input_ids) - 2)
    assert len(shorter.ids) == len(expected.input_ids) - 2 and not whole


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_row_of_two_texts_is_that_of_the_tokenizers_own_template(name: str, tmp_path: Path) -> None:
    folder = saved(tmp_path, TEMPLATES[name])
    check(folder, PreTrainedTokenizerFast(tokenizer_file=str(folder / "tokenizer.json")))


def test_a_row_of_two_texts_is_that_of_multilingual_bert(calque_data: Path, tmp_path: Path) -> None:
    vocabulary = calque_data / "tokenizer" / "mbert-cased-vocab.txt"
    if not vocabulary.is_file():
        pytest.skip("no vocabulary of multilingual BERT")
    theirs = BertTokenizer(vocab=str(vocabulary), do_lower_case=False)
    theirs.save_pretrained(tmp_path)
    check(tmp_path, theirs)


def test_without_a_template_a_row_of_two_texts_is_robertas(tmp_path: Path) -> None:
    reader = Reader.of_given(GivenVocabulary(saved(tmp_path, None)).open())
    row, _ = joined(reader, [text("who"), text("bird")], 0, 9)
    assert row.ids.tolist() == [2, 5, 3, 3, 9, 3] and not row.types.any()


def test_a_template_with_other_token_types_is_refused(tmp_path: Path) -> None:
    odd = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS]:1 $A [SEP] $B:1 [SEP]:1", special_tokens=[CLS, SEP]
    )
    with pytest.raises(BadInput, match=r"\[1, 0, 0, 1, 1\]"):
        Reader.of_given(GivenVocabulary(saved(tmp_path, odd)).open())


def test_the_layout_is_part_of_what_decides_ids(tmp_path: Path) -> None:
    folders = [saved(tmp_path / name, template) for name, template in TEMPLATES.items()]
    assert len({GivenVocabulary(folder).identity() for folder in folders}) == len(TEMPLATES)


SHAPE = BertConfig(
    vocab_size=400,
    hidden_size=16,
    num_hidden_layers=2,
    num_attention_heads=2,
    intermediate_size=24,
    max_position_embeddings=160,
)


def test_a_fine_tuned_model_is_shown_the_token_types(tmp_path: Path) -> None:
    reader = Reader.of_given(GivenVocabulary(saved(tmp_path, BERTS)).open())
    theirs = PreTrainedTokenizerFast(tokenizer_file=str(tmp_path / "tokenizer.json"))
    torch.manual_seed(0)
    model = AutoModelForSequenceClassification.from_config(SHAPE, attn_implementation="sdpa").eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    pairs = [(QUESTION, CONTEXT), (CONTEXT, "a bird .")]
    rows = [joined(reader, [text(a), text(b)], 0, 40)[0] for a, b in pairs]
    with torch.no_grad():
        ours = Finetuned(model, TextHead(), torch.device("cpu")).logits(rows)[:, 0]
        asked = [theirs(a, b, return_tensors="pt", return_token_type_ids=True) for a, b in pairs]
        expected = torch.cat([model(**one).logits for one in asked])
        without = torch.cat([model(one.input_ids).logits for one in asked])
    torch.testing.assert_close(ours, expected, rtol=1e-4, atol=1e-4)
    assert not torch.allclose(without, expected, atol=1e-2)


@pytest.fixture(scope="module")
def languages(tmp_path_factory: pytest.TempPathFactory) -> Languages:
    """Two languages with a bitext and a vocabulary of BERT's kind."""
    folder = tmp_path_factory.mktemp("pairs")
    letters = [mark + letter for mark in ("", "##") for letter in "abcdefghijklmnopqrstuvwxyz.,?!-'"]
    BertTokenizer(vocab={piece: i for i, piece in enumerate((*SPECIAL, *letters))}).save_pretrained(folder / "given")
    derive_natural(*inputs(folder), GivenVocabulary(folder / "given"), folder / "made", rows="all")
    return Languages.open(folder / "made", ["en", "xx"])


def test_objectives_of_pairs_show_the_token_types(languages: Languages) -> None:
    theirs = BertTokenizer.from_pretrained(languages.folder.parent / "given")
    (stream,) = DWA(parallel_fraction=1.0).streams(languages, 160, 0)
    batch: Any = stream.draw(range(4), np.random.default_rng(0))[0]
    for narrow in (batch, batch.part(1, 2), *batch.by_length(2)):
        segments = narrow.rows.segments
        assert segments is not None and segments.shape == narrow.rows.ids.shape
        for ids, types, (first, second) in zip(narrow.clean, segments, narrow.sides.tolist(), strict=True):
            sides, size = (ids[1 : first + 1], ids[first + 2 : first + 2 + second]), first + second + 3
            expected = theirs(*map(theirs.decode, sides), return_token_type_ids=True)
            assert ids[:size].tolist() == expected.input_ids
            assert types[:size].tolist() == expected.token_type_ids and not types[size:].any()
    assert batch.side_rows(0, languages.specials.pad).segments is None
    torch.manual_seed(0)
    model = BertForMaskedLM(SHAPE).eval()
    torch.nn.init.normal_(model.bert.embeddings.token_type_embeddings.weight)
    with torch.no_grad():
        ours = encode(model, batch.rows, 2)
        mask = (batch.rows.ids != 0).long()
        expected = model.bert(batch.rows.ids, mask, batch.rows.segments).last_hidden_state
    torch.testing.assert_close(ours[mask.bool()], expected[mask.bool()], rtol=1e-4, atol=1e-4)
