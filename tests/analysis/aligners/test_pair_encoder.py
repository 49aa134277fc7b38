"""Links of sentence pairs that are encoded once: as of each pair, layer and method alone."""

import os
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer, models, processors
from transformers import AutoModel, PreTrainedTokenizerFast

from calque.analysis.aligners import pair_encoder
from calque.analysis.aligners.methods import BY_NAME, DEFAULT, OT, SOFTMAX, TRAINED, Method
from calque.analysis.aligners.pair_encoder import EncoderAligner
from calque.derive.errors import BadInput
from calque.derive.links.aligner import Links, Pair
from calque.derive.types import OURS
from tests.analysis.aligners.conftest import LENGTH
from tests.vocabularies import read_as_saved

LAYER = 2
PAIRS: list[Pair] = [
    (("the", "cat"), ("a", "the", "dog")),
    (("the",), ("the", "the")),
    (("sara", "ate", "two", "apples"), ("two", "apples", "sara", "ate")),
]


def one_by_one(folder: Path, method: Method, pair: Pair, joint: bool, marks: tuple[int, int]) -> Links:
    """Links of a pair as the definitions have it: whole model, no batch, no padding."""
    tokenizer = PreTrainedTokenizerFast(tokenizer_file=str(folder / "tokenizer.json"))
    model = AutoModel.from_pretrained(folder, add_pooling_layer=False).eval()
    pieces = [[tokenizer(f" {word}", add_special_tokens=False).input_ids for word in side] for side in pair]
    places = [[place for place, ids in enumerate(side) for _ in ids] for side in pieces]
    source, target = ([i for ids in side for i in ids] for side in pieces)
    start, end = marks

    def hidden(row: list[int], first: int) -> torch.Tensor:
        second = tokenizer("a", "a", return_token_type_ids=True).token_type_ids[-1]
        kinds = [second * (model.config.type_vocab_size > 1 and place >= first) for place in range(len(row))]
        inputs = {"input_ids": torch.tensor([row]), "token_type_ids": torch.tensor([kinds])}
        with torch.no_grad():
            return model(**inputs, output_hidden_states=True).hidden_states[LAYER]

    if joint:
        row = [start, *source, end, *target, end]
        states = hidden(row, len(source) + 2)
        sides = states[:, 1 : 1 + len(source)], states[:, 2 + len(source) : -1]
    else:
        sides = tuple(hidden([start, *ids, end], LENGTH)[:, 1:-1] for ids in (source, target))  # type: ignore[assignment]
    if method.words:
        counts = ([len(ids) for ids in side] for side in pieces)
        means = ([part.mean(1) for part in side.split(sizes, 1)] for side, sizes in zip(sides, counts, strict=True))
        sides = tuple(torch.stack(side, 1) for side in means)  # type: ignore[assignment]
        places = [list(range(len(side))) for side in pieces]
    every = [torch.ones(1, side.shape[1], dtype=torch.bool) for side in sides]
    links = method.extract(method.score(*sides, *every), *every).tolist()
    added = one_by_one(folder, method.also, pair, joint, marks) if method.also else []
    return sorted({*added, *((places[0][i], places[1][j]) for _, i, j in links)})


@pytest.mark.parametrize("joint", [False, True], ids=["alone", "joint"])
@pytest.mark.parametrize("family", ["roberta", "bert"])
def test_a_batch_has_the_links_of_its_pairs(
    family: str, joint: bool, sentence_pairs: list[Pair], request: pytest.FixtureRequest
) -> None:
    folder, marks = request.getfixturevalue(family), {"roberta": (OURS.start, OURS.end), "bert": (2, 3)}[family]
    pairs = sentence_pairs[:12]
    for method in BY_NAME.values():
        aligner = EncoderAligner.open(folder, method, LAYER, joint=joint)
        found = list(aligner.align(pairs))
        assert found == [one_by_one(folder, method, pair, joint, marks) for pair in pairs]
        assert not aligner.left_out.counts


def test_links_added_from_another_method_are_scored_as_the_methods_own(bert: Path, sentence_pairs: list[Pair]) -> None:
    pairs = [((a[0], "\u200b", *a[1:]), b) for a, b in sentence_pairs]  # the tokenizer drops the second word
    both, *parts = (EncoderAligner.open(bert, method, LAYER) for method in (TRAINED, SOFTMAX, DEFAULT))
    found = list(both.align_scored(pairs))
    added = 0
    for pair, links, likely, best in zip(pairs, found, *(part.align(pairs) for part in parts), strict=True):
        assert list(links) == sorted({*likely, *best})
        table = both.matrix(pair)
        assert list(links.values()) == pytest.approx([table[link] for link in links], abs=1e-5)
        added += len({*best} - {*likely})
    assert added > len(pairs)


def test_links_do_not_depend_on_the_neighbours_and_keep_their_order(
    roberta: Path, sentence_pairs: list[Pair], monkeypatch: pytest.MonkeyPatch
) -> None:
    aligner = EncoderAligner.open(roberta, OT, LAYER)
    before = list(aligner.align(sentence_pairs))
    shuffled = list(range(len(sentence_pairs)))
    random.Random(0).shuffle(shuffled)
    after = list(aligner.align([sentence_pairs[i] for i in shuffled]))
    assert after == [before[i] for i in shuffled]
    monkeypatch.setattr(pair_encoder, "WINDOW", 7)
    monkeypatch.setattr(pair_encoder, "CELLS", 100)
    assert list(aligner.align(sentence_pairs)) == before


def test_pairs_are_read_a_window_at_a_time(roberta: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pair_encoder, "WINDOW", 4)
    read = 0

    def endless() -> Iterator[Pair]:
        nonlocal read
        while True:
            read += 1
            yield ("the", "cat"), ("cat", "the")

    found = EncoderAligner.open(roberta, OT, LAYER).align(endless())
    for pair in range(10):
        assert next(found)
        assert read <= pair + 4


def test_a_word_is_linked_if_any_of_its_sub_words_is(bert: Path) -> None:
    """Ids that are given, two words of two and one sub-words a side; the same ids have the same states in layer 0."""
    aligner = EncoderAligner.open(bert, BY_NAME["argmax"], 0)
    aligner.encoder.encoder._model.embeddings.position_embeddings.weight.data.zero_()
    ((found,),) = aligner.encoder.piece_links([([[7, 8], [9]], [[9], [], [8, 7]])], [aligner.reading])
    assert list(found) == [(0, 2), (1, 0)]
    assert all(score == pytest.approx(1, abs=1e-5) for score in found.values())


def test_a_model_of_one_token_type_has_it_on_both_sides_of_a_joint_row(bert: Path, tmp_path: Path) -> None:
    model = AutoModel.from_pretrained(bert)
    table = model.embeddings.token_type_embeddings
    table.weight = torch.nn.Parameter(table.weight[:1].clone())
    model.config.type_vocab_size = 1
    model.save_pretrained(tmp_path)
    shutil.copy(bert / "tokenizer.json", tmp_path)
    found = list(EncoderAligner.open(tmp_path, OT, LAYER, joint=True).align(PAIRS))
    assert found == [one_by_one(tmp_path, OT, pair, True, (2, 3)) for pair in PAIRS]


def test_both_sides_of_a_joint_row_have_the_token_types_of_the_tokenizers_template(bert: Path, tmp_path: Path) -> None:
    """As multilingual E5 and MiniLM: a model with two token types and XLM-R's tokenizer, whose template has one."""
    shutil.copytree(bert, tmp_path / "model")
    tokenizer = Tokenizer.from_file(str(bert / "tokenizer.json"))
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] [SEP] $B [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    tokenizer.save(str(tmp_path / "model" / "tokenizer.json"))
    read_as_saved(tmp_path / "model")
    found = {}
    for folder in (bert, tmp_path / "model"):
        found[folder] = list(EncoderAligner.open(folder, OT, LAYER, joint=True).align(PAIRS))
        assert found[folder] == [one_by_one(folder, OT, pair, True, (2, 3)) for pair in PAIRS]
    assert found[bert] != found[tmp_path / "model"]


def test_embeddings_alone_are_read_of_joint_rows_too(bert: Path) -> None:
    pair: Pair = (("the", "cat"), ("cat", "the", "dog"))
    low, all_ = EncoderAligner.open(bert, OT, 0, joint=True), EncoderAligner.open(bert, OT, 3, joint=True).encoder
    ((links,),) = all_.links([pair], [low.reading])
    assert list(low.align([pair])) == [list(links)] and links


def test_what_has_no_links_is_counted_with_its_line(bert: Path, roberta: Path) -> None:
    long = tuple(["the"] * 1000)
    pairs: list[Pair] = [
        ((), ("the",)),
        (("the",), ()),
        (("the", "\u200b"), ("the",)),
        (long, ("the", "the")),
        ((), ()),
    ]
    aligner = EncoderAligner.open(bert, OT, LAYER)
    found = list(aligner.align(pairs))
    assert [bool(links) for links in found] == [False, False, True, True, False]
    assert found[2] == [(0, 0)]
    assert all(i < LENGTH - 2 for i, _ in found[3])
    assert aligner.left_out.described() == [
        "3 sentence pairs with an empty side (line 1, 2, 5)",
        "1 words that the tokenizer drops (line 3)",
        f"{1000 - (LENGTH - 2):,} words beyond the {LENGTH} ids that the model takes (line 4)",
    ]
    counts = dict(aligner.left_out.counts)
    assert np.isnan(aligner.matrix((("\u200b",), ("the",)))).all()
    assert aligner.left_out.counts == counts  # to look at a pair counts nothing
    joint = EncoderAligner.open(roberta, OT, LAYER, joint=True)
    assert all(list(joint.align([(long, long), (("the",), long), (long, ("the",))])))
    room = LENGTH - 3  # <s> S </s> T </s>
    beyond = [2000 - room, 1001 - room, 1001 - room]
    (said,) = joint.left_out.described()
    assert said == f"{sum(beyond):,} words beyond the {LENGTH} ids that the model takes (line 1, 2, 3)"


@pytest.mark.slow
def test_memory_does_not_grow_with_the_file(bert: Path) -> None:
    """A process of its own: what it takes for twelve times the pairs is what it takes for few."""
    program = (
        "import resource, sys; from itertools import islice, repeat; from pathlib import Path\n"
        "from calque.analysis.aligners.methods import OT\n"
        "from calque.analysis.aligners.pair_encoder import EncoderAligner\n"
        "import torch; torch.set_num_threads(1)\n"
        "aligner = EncoderAligner.open(Path(sys.argv[1]), OT, 1)\n"
        "pairs = repeat((('the', 'the', 'the'), ('the', 'the')))\n"
        "for count in (2048, 24576):\n"
        "    assert sum(1 for _ in aligner.align(islice(pairs, count))) == count\n"
        "    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)\n"
    )
    root = Path(__file__).parents[3]
    ran = subprocess.run(
        [sys.executable, "-c", program, str(bert)],
        capture_output=True,
        text=True,
        check=True,
        cwd=root,
        env=os.environ | {"PYTHONPATH": str(root)},
    )
    few, many = map(int, ran.stdout.split())
    assert many - few < 10 * 1024  # KiB


LAYER = 2


def test_scores_and_matrix_agree(roberta: Path, sentence_pairs: list[Pair]) -> None:
    aligner = EncoderAligner.open(roberta, OT, LAYER)
    for pair, scored in zip(sentence_pairs[:9], aligner.align_scored(sentence_pairs[:9]), strict=True):
        matrix = aligner.matrix(pair)
        assert matrix.shape == (len(pair[0]), len(pair[1]))
        assert np.nanmax(matrix) <= 1 + 1e-5
        assert all(0 < score <= matrix[link] + 1e-5 for link, score in scored.items())


def test_an_aligner_is_called_by_its_method_layer_and_rows(roberta: Path) -> None:
    assert EncoderAligner.open(roberta, OT, LAYER).name == "ot, layer 2"
    assert EncoderAligner.open(roberta, OT, 0, joint=True).name == "ot, layer 0, joint"


def test_models_that_cannot_be_used(bert: Path, roberta: Path, tmp_path: Path) -> None:
    def refused(folder: Path, layer: int = LAYER) -> str:
        with pytest.raises(BadInput) as error:
            EncoderAligner.open(folder, OT, layer)
        return str(error.value)

    assert "no layer 8: the model has 3" in refused(roberta, 8)
    assert "no layer -1" in refused(roberta, -1)
    with pytest.raises(BadInput, match="cannot compute on 'abacus'"):
        EncoderAligner.open(roberta, OT, LAYER, device="abacus")
    assert "no model here" in refused(tmp_path / "nothing")
    bare = tmp_path / "bare"
    bare.mkdir()
    for name in ("config.json", "model.safetensors"):
        (bare / name).write_bytes((bert / name).read_bytes())
    (bare / "tokenizer.json").write_text("{}")
    assert "not a readable tokenizer" in refused(bare)
    (bare / "tokenizer.json").unlink()
    assert "tokenizer.json: no tokenizer here" in refused(bare)
    for model, message in (
        (models.BPE({"the": 0}, []), "drops a letter"),
        (models.WordLevel({"the": 0}), "cannot encode all words: WordLevel error"),
    ):
        Tokenizer(model).save(str(bare / "tokenizer.json"))
        assert message in refused(bare)
    (bare / "tokenizer.json").write_bytes((roberta / "tokenizer.json").read_bytes())
    assert "AutoTokenizer" in refused(bare)
    read_as_saved(bare)
    assert "types for a model of" in refused(bare)
    (bare / "model.safetensors").write_bytes(b"no weights")
    assert refused(bare).startswith(str(bare / "model.safetensors"))
    broken = AutoModel.from_pretrained(bert)
    broken.encoder.layer[0].output.dense.weight.data[0, 0] = torch.nan
    broken.save_pretrained(tmp_path / "nan")
    (tmp_path / "nan" / "tokenizer.json").write_bytes((bert / "tokenizer.json").read_bytes())
    aligner = EncoderAligner.open(tmp_path / "nan", OT, LAYER)
    with pytest.raises(BadInput, match="not finite"):
        list(aligner.align([(("the",), ("the",))]))
