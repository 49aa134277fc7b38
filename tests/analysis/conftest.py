from itertools import islice

import pytest
import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import BertConfig, BertModel
from transformers.utils.logging import disable_progress_bar

from calque.analysis.aligners import EncoderAligner, PairEncoder
from calque.derive.pocket.language import Pocket
from calque.derive.vocabulary import SMALLEST
from tests.encoders import SIZES, small_roberta
from tests.vocabularies import learn, read_as_saved


@pytest.fixture(scope="session")
def make_checkpoint(tmp_path_factory):
    """`make_checkpoint(types, languages=1, length=64)`: an untrained model of one layer with `types` rows."""

    def make(types, languages=1, length=64):
        options = {"attention_probs_dropout_prob": 0.0, "layer_norm_eps": 1e-5, "initializer_range": 0.1}
        folder = tmp_path_factory.mktemp("run") / "checkpoint"
        small_roberta(types, length, 1, type_vocab_size=languages, **options).save_pretrained(folder)
        return folder

    return make


LENGTH = 256
"""The number of ids that either model takes."""


@pytest.fixture(scope="session")
def sentence_pairs():
    words = [sentence.words for sentence in islice(Pocket().sentences(120), 120)]
    return [(a, b[::-1]) for a, b in zip(words[::2], words[1::2], strict=True)]


@pytest.fixture(scope="session")
def roberta(tmp_path_factory, sentence_pairs):
    """A checkpoint as pretraining saves it: a head, `tokenizer.json`, no pooler."""
    folder = tmp_path_factory.mktemp("roberta") / "checkpoint"
    vocabulary = learn([words for pair in sentence_pairs for words in pair], SMALLEST + 60)
    small_roberta(2 * vocabulary.size, LENGTH, 3).save_pretrained(folder)
    vocabulary.save(folder)
    read_as_saved(folder)
    return folder


@pytest.fixture(scope="session")
def bert(tmp_path_factory, sentence_pairs):
    """WordPiece, two token types; the tokenizer maps a zero-width space to nothing."""
    disable_progress_bar()
    folder = tmp_path_factory.mktemp("bert") / "model"
    letters = sorted(
        {letter for pair in sentence_pairs for side in pair for word in side for letter in word.lower()}
    )
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters]
    pieces += [*(f"##{letter}" for letter in letters), "the"]
    tokenizer = Tokenizer(models.WordPiece({piece: i for i, piece in enumerate(pieces)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    torch.manual_seed(1)
    config = BertConfig(
        vocab_size=len(pieces), num_hidden_layers=3, max_position_embeddings=LENGTH, pad_token_id=0, **SIZES
    )
    BertModel(config).save_pretrained(folder)
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


def opened(folder, method, layer, joint):
    aligner = EncoderAligner.open(folder, method, layer)
    types = (0, int(joint and aligner.vocabulary.is_bert))
    encoder = PairEncoder(aligner.encoder.encoder, aligner.vocabulary.specials, types, joint)
    return EncoderAligner(encoder, aligner.vocabulary, aligner.reading)
