from itertools import islice

import pytest
import torch
from safetensors.torch import load_file
from transformers import AutoModel

from calque.analysis.aligners import BY_NAME, TRAINED, EncoderAligner, LinkReading
from calque.derive.pocket.language import Pocket
from calque.derive.vocabulary import SMALLEST
from calque.experiments.study.natural import FEWEST
from tests.encoders import small_roberta
from tests.experiments.conftest import calque, started
from tests.processes import wait_for
from tests.vocabularies import learn, read_as_saved

STEPS = 150  # states are saved after 50 and 100


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    folder = tmp_path_factory.mktemp("train-aligner")
    sentences = [sentence.words for sentence in islice(Pocket().sentences(FEWEST), FEWEST)]
    images = [tuple(word[::-1] for word in words) for words in sentences]
    for name, side in (("a.txt", sentences), ("b.txt", images)):
        (folder / name).write_text("".join(" ".join(words) + "\n" for words in side))
    vocabulary = learn([*sentences, *images], SMALLEST + 200)
    small_roberta(vocabulary.size, 130).save_pretrained(folder / "model")
    vocabulary.save(folder / "model")
    read_as_saved(folder / "model")
    return folder


def words(folder, out, *more):
    files = [str(folder / name) for name in ("a.txt", "b.txt")]
    options = ["--model", str(folder / "model"), "--out", str(out), "--threads", "1"]
    return ["train-aligner", *files, *options, *more]


@pytest.fixture(scope="module")
def trained(here):
    code, _, err = calque(*words(here, here / "trained", "--steps", str(STEPS)))
    assert code == 0, err
    return here / "trained"


def test_result_is_an_encoder_with_trained_lower_layers(here):
    code, out, err = calque(*words(here, here / "quick", "--steps", "10"))
    assert code == 0 and f"calque align --model {here / 'quick'}" in out, err
    quick = here / "quick"
    assert not list(here.glob(".*.training"))
    assert isinstance(AutoModel.from_pretrained(quick), torch.nn.Module)
    before, after = (load_file(folder / "model.safetensors") for folder in (here / "model", quick))
    changed = {name for name in before if not torch.equal(before[name], after[name])}
    assert before.keys() == after.keys() and changed and {name.split(".")[3] for name in changed} == {"0"}
    pairs = [(("the", "cat"), ("eht", "tac"))]
    aligner = EncoderAligner.open(quick)
    assert aligner.reading == LinkReading(TRAINED, 1)
    (links,) = aligner.align(pairs)
    assert links


@pytest.mark.slow
def test_text_unlike_training_text_keeps_untrained_links(trained):
    pairs = [(tuple("zq xkj vvw qqz jx".split()), tuple("QQ ZJX KW VX JJ ZZQ".split()))] * 3
    usual, centred, likely = (
        list(EncoderAligner.open(trained, method and BY_NAME[method]).align(pairs))
        for method in (None, "argmax-centred", "softmax")
    )
    assert all({*kept} >= {*best} > {*few} for kept, best, few in zip(usual, centred, likely, strict=True))


@pytest.mark.slow
def test_killed_run_resumes_to_the_same_bytes(here, trained):
    again = words(here, here / "again", "--steps", str(STEPS))
    with started(*again) as running:
        wait_for(lambda: any(here.glob(".again.training/*/seed-0-*/resume/step-*")), running)
    assert not (here / "again").exists()
    assert calque(*again)[0] == 0
    assert (here / "again" / "model.safetensors").read_bytes() == (trained / "model.safetensors").read_bytes()
    assert not list(here.glob(".*.training"))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda a, b: (a, b[:-1]), f"{FEWEST - 1} lines, but"),
        (lambda a, b: (a[:50], b[:50]), f"50 sentence pairs; expected at least {FEWEST}"),
    ],
)
def test_useless_training_files_are_rejected(here, tmp_path, change, said):
    sides = [(here / name).read_text().splitlines(keepends=True) for name in ("a.txt", "b.txt")]
    for name, side in zip(("a.txt", "b.txt"), change(*sides), strict=True):
        (tmp_path / name).write_text("".join(side))
    (tmp_path / "model").symlink_to(here / "model")
    code, _, err = calque(*words(tmp_path, tmp_path / "out", "--steps", "2"))
    assert code == 2 and said in err and not (tmp_path / "out").exists()
