import json
import shutil
from dataclasses import replace

import pytest
from safetensors.torch import load_file
from tokenizers import Tokenizer
from tokenizers.models import WordLevel

from calque.derive.errors import BadInput
from calque.derive.files import MANIFEST
from calque.derive.fingerprint import sha256
from calque.pretrain.objectives.xlm_align import XLMAlign
from calque.pretrain.run import read_metrics
from calque.pretrain.saved_model import METRICS
from calque.pretrain.start import check_start
from tests.pretrain.made import MODEL, TRAIN, check_resumes, of_study, pretrain

WEIGHTS = "model.safetensors"


@pytest.fixture(scope="module")
def cold(study, tmp_path_factory):
    return pretrain(tmp_path_factory.mktemp("cold"), of_study(study))


@pytest.fixture
def moved(cold, tmp_path):
    shutil.copytree(cold, tmp_path / "moved")
    return tmp_path / "moved"


def warm(study, start, **changes):
    return of_study(study, XLMAlign(), seed=1, start=start, **changes)


def test_run_starts_from_given_weights(cold, moved, study, tmp_path):
    still = replace(TRAIN, steps=1, warmup=0, learning_rate=1e-12)
    checkpoint = pretrain(tmp_path / "still", warm(study, cold, train=still))
    before, after = load_file(cold / WEIGHTS), load_file(checkpoint / WEIGHTS)
    assert before.keys() == after.keys()  # the pointer is left out
    assert all((after[name] - value).abs().max() < 1e-9 for name, value in before.items())
    manifest = json.loads((tmp_path / "still" / MANIFEST).read_text())
    assert manifest["identity"]["start"] == sha256(cold / WEIGHTS)
    # Only the starting weights count, not their place.
    assert pretrain(tmp_path / "still", warm(study, moved, train=still)) == checkpoint
    with pytest.raises(BadInput, match="started with start"):
        pretrain(tmp_path / "still", warm(study, None, train=still))


def test_warm_start_resumes_to_the_same_bits(cold, study, tmp_path):
    check_resumes(tmp_path, warm(study, cold))
    logs = [read_metrics(tmp_path / run / METRICS) for run in ("whole", "stopped")]
    first, second = ([(row["loss"], row["reported"]) for row in log] for log in logs)
    assert first == second
    assert logs[0][0]["loss"].keys() == {"mlm", "tlm", "dwa"}
    assert logs[0][0]["reported"].keys() == {"label precision", "label recall", "labelled"}
    assert all(0 <= share <= 1 for row in logs[0] for share in row["reported"].values())


def test_unsuitable_start_is_rejected_before_writing(moved, tmp_path):
    check_start(moved, MODEL)
    config = json.loads((moved / "config.json").read_text())
    for changes, said in (
        ({"model_type": "gpt2"}, "'gpt2' are not supported; supported types are roberta, xlm-roberta, bert"),
        (
            {"vocab_size": 5},
            r"tokenizer\.json: contains ids up to 5, but the model next to it has a table of 5 rows",
        ),
        ({"pad_token_id": 3}, r"tokenizer\.json: padding has the id 1, but the model next to it uses 3"),
        ({"is_decoder": True}, "is_decoder"),
        (
            {"num_hidden_layers": 3, "max_position_embeddings": 9},
            r"shape: layers 3, not 2; .*shape: length 7, not \d+",
        ),
    ):
        (moved / "config.json").write_text(json.dumps(config | changes))
        with pytest.raises(BadInput, match=said):
            check_start(moved, MODEL)
    (moved / "config.json").write_text(json.dumps(config))
    bare = Tokenizer(WordLevel({}, "<unk>"))
    bare.save(str(moved / "tokenizer.json"))
    with pytest.raises(BadInput, match=r"tokenizer\.json: has no types"):
        check_start(moved, MODEL)
    (moved / "tokenizer.json").unlink()
    (moved / "vocab.txt").write_text("<pad>\n")  # AutoTokenizer would read it
    with pytest.raises(
        BadInput, match=r"tokenizer\.json: there is no tokenizer; save one with AutoTokenizer"
    ):
        check_start(moved, MODEL)
    (moved / WEIGHTS).unlink()
    with pytest.raises(BadInput, match=r"no weights: expected model\.safetensors"):
        check_start(moved, MODEL)
    with pytest.raises(BadInput, match="no model here"):
        check_start(tmp_path, MODEL)
