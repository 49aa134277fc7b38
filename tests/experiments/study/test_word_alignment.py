import pytest

from calque.analysis.aligners import METHODS
from calque.analysis.papers.links import DIAGONAL, FAST_ALIGN, HEADLINE, systems
from calque.analysis.papers.published import published
from calque.analysis.records.json_rows import read
from calque.analysis.records.record import Record, Run
from calque.analysis.results import Results
from calque.derive.natural import BitextFiles
from calque.experiments.settings.override import override
from calque.experiments.studies.real_text import word_alignment
from calque.experiments.study.gold import MORE, OWN
from tests.derive.test_translation import made
from tests.experiments.conftest import Done, finished

SETS = ("de-en", "en-hi")
LEARNT = ("MLM", "XLM-100", "XLM-ALIGN-100")
TINY = """vocabulary=300 model.layers=2 model.heads=2 model.hidden=16 model.ffn=32 model.length=64
    train.steps=6 train.batch=8 train.warmup=1 train.log_every=2 train.save_every=2""".split()


def write_gold(folder, name, count):
    home, (source, target) = folder / name, name.split("-")
    home.mkdir(parents=True)
    pairs = made(count, seed=len(name) + count)
    (home / f"test.{source}").write_text("".join(" ".join(s).upper() + "\n" for s, _ in pairs))
    (home / f"test.{target}").write_text("".join(" ".join(t) + "\n" for _, t in pairs))
    links = [(n, i + 1, len(s) - i, "S") for n, (s, _) in enumerate(pairs, start=1) for i in range(len(s))]
    (home / "alignv2.txt").write_text("".join(f"{n} {i} {j} {kind}\n" for n, i, j, kind in links))


def made_study(folder):
    for name, count in zip(SETS, (30, 20), strict=True):
        write_gold(folder, name, count)
    pairs = [(" ".join(t), " ".join(s)) for s, t in made(200)]
    tab = folder / "text.tsv"
    tab.write_text("".join(f"{t}\t{s}\n" for t, s in [*pairs, *pairs[:3]]))
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("CALQUE_DATA", str(folder))
        patched.delenv("CALQUE_ENCODER", raising=False)
        real = word_alignment()
    made_up = real.changed(gold=folder, sets=SETS, text={"de-en": (BitextFiles(tab, columns=(1, 0)),)})
    return override(made_up, TINY)


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    return made_study(tmp_path_factory.mktemp("gold"))


@pytest.fixture(scope="module")
def done(study, tmp_path_factory):
    return finished(tmp_path_factory.mktemp("runs"), study)


def read_systems(report):
    records = read(report / "records.jsonl", Record)
    return systems(Results(read(report / "runs.jsonl", Run), records, published("xlm_align", 2)))


def test_every_aligner_is_scored_where_it_can_be(done):
    every = read_systems(done.report)
    found = {
        (name, one.aligner, one.learnt, one.symmetrisation, one.joint)
        for one in every
        if one.is_shown or one.layer == one.main_layer
        for name in one.counts
    }
    expected = {("de-en", FAST_ALIGN, MORE, HEADLINE, False)}
    expected |= {(name, FAST_ALIGN, OWN, HEADLINE, False) for name in SETS}
    expected |= {(name, DIAGONAL, "", "", False) for name in SETS}
    for learnt in LEARNT:
        expected |= {
            ("de-en", how, learnt, "", joint)
            for how in ("ot", "xlm-align", "argmax", "itermax", "argmax-centred")
            for joint in (False, True)
        }
    assert expected <= found
    encoders = [one for one in every if one.layers]
    assert {tuple(one.counts) for one in encoders} == {("de-en",)}  # en-hi has no text to pretrain on
    layers = {(one.layer, one.layer == one.main_layer) for one in encoders if one.learnt == "MLM"}
    assert layers == {(0, False), (1, True), (2, False)}
    scores = [(name, score) for one in every for name, score in one.counts.items()]
    assert all(score.pairs == (30 if name == "de-en" else 20) for name, score in scores)


def test_given_encoder_is_scored_on_every_set(done, tmp_path):
    (checkpoint,) = done.home.glob("de-en/MLM/*/checkpoint")
    places = finished(tmp_path, override(done.study, ["languages.text=", f"encoder={checkpoint}"]))
    chosen = [one for one in read_systems(places.report) if one.layers]
    shown = [one for one in chosen if one.is_shown]
    assert len(shown) == len(METHODS)
    assert all(tuple(one.counts) == SETS for one in shown)
    assert len({(one.aligner, one.joint, one.layer) for one in chosen}) == len(chosen) == 2 * 3 * len(METHODS)


@pytest.mark.slow
def test_fast_align_on_the_real_sets(calque_data, tmp_path):
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("CALQUE_DATA", str(calque_data))
        patched.delenv("CALQUE_ENCODER", raising=False)
        study = override(word_alignment(), ["languages.text="])
    places = Done(tmp_path, study)
    places.finish()
    assert "32.14" in (places.report / "table-2.md").read_text()
    rates = {
        row.gold_set: round(100 * row.value, 2)
        for row in read(places.report / "records.jsonl", Record)
        if row.symmetrisation == HEADLINE
    }
    assert rates == {"de-en": 47.90, "en-fr": 29.29, "ro-en": 51.45, "en-hi": 76.85}
