"""`calque look`: a look into a model equals transformers and brute force, in the terminal, in Python and in a page."""

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from sklearn.decomposition import PCA
from transformers import RobertaForMaskedLM
from typer.testing import CliRunner

import calque
from calque.analysis.checkpoint import Checkpoint, Guess, Neighbour
from calque.analysis.looking.live import live_data
from calque.analysis.looking.look import look
from calque.analysis.looking.parts import WIDTH, Alignment, Blank, Derivation, EmbeddingMap, Look, Neighbours
from calque.analysis.records.record import ROTATED
from calque.analysis.report.look_html import look_html
from calque.analysis.report.page import write_look
from calque.derive.errors import BadInput
from calque.derive.languages import Languages
from calque.experiments.cli import app
from calque.experiments.report import summarise
from calque.pretrain.model import build
from tests.browser import inspect
from tests.experiments.conftest import Done

NAME = "trans.inv"


@pytest.fixture(scope="module")
def model(done: Done) -> Checkpoint:
    return calque.load(done.model("ALIGN-MLM").checkpoint)


@pytest.fixture(scope="module")
def found(model: Checkpoint) -> Look:
    return look(model)


@pytest.fixture
def elsewhere(model: Checkpoint, tmp_path: Path) -> Path:
    """The checkpoint alone, without its run."""
    return Path(shutil.copytree(model.folder, tmp_path / "model"))


def run(*words: str | Path) -> tuple[int, str, str]:
    ran = CliRunner().invoke(app, ["look", *map(str, words)])
    return ran.exit_code, ran.stdout, ran.stderr


def rows_of(found: Look, model: Checkpoint) -> list[list[int]]:
    """The ids of the sentence and of its derivation, with special ids."""
    assert found.derivation
    texts = {"source": found.derivation.source, NAME: found.derivation.words}
    return [model.tokenizers[name](" ".join(words))["input_ids"] for name, words in texts.items()]


def words_of(found: Look, model: Checkpoint) -> list[np.ndarray]:
    """The matrices (words, ids) that average over the ids of each word of both sides."""
    assert found.derivation
    matrices = []
    for name, words in (("source", found.derivation.source), (NAME, found.derivation.words)):
        sizes = [len(model.tokenizers[name](word, add_special_tokens=False)["input_ids"]) for word in words]
        place = np.repeat(np.arange(len(words)), sizes)
        matrices.append((place == np.arange(len(words))[:, None]) / np.array(sizes)[:, None])
    return matrices


def test_the_sentence_of_the_corpus_is_derived_as_calque_derives_it(found: Look) -> None:
    assert found.derivation
    derived = calque.derive(" ".join(found.derivation.source), NAME)
    assert (found.derivation.words, found.derivation.origin) == (derived.words, derived.origin)


def test_a_sentence_that_is_typed_is_derived_around_its_masks(model: Checkpoint, found: Look) -> None:
    assert found.derivation
    words = [*found.derivation.source[:2], "<mask>", *found.derivation.source[3:]]
    pair = look(model, " ".join(words)).derivation
    assert pair and pair.origin == found.derivation.origin
    whole = dict(zip(found.derivation.origin, found.derivation.words, strict=True)) | {2: "<mask>"}
    assert pair.words == tuple(whole[place] for place in pair.origin)


def test_every_word_is_masked_in_turn_in_every_language(model: Checkpoint, found: Look) -> None:
    assert found.derivation
    sentences = {"source": found.derivation.source, NAME: found.derivation.words}
    assert [(blank.language, blank.word) for blank in found.blanks] == [
        (name, word) for name, words in sentences.items() for word in words
    ]
    for blank in found.blanks:
        words = [*sentences[blank.language]]
        words[blank.place] = "<mask>"
        assert list(blank.guesses) == model.fill(" ".join(words), blank.language)


def test_several_masks_are_filled_from_left_to_right(model: Checkpoint, found: Look) -> None:
    assert found.derivation
    words = ["<mask>", *found.derivation.source[1:-1], "<mask>"]
    blanks = look(model, " ".join(words)).blanks
    assert [blank.place for blank in blanks if blank.language == "source"] == [0, len(words) - 1]
    ids = torch.tensor([model.tokenizers["source"](" ".join(words))["input_ids"]])
    with torch.inference_mode():
        scores = model.model(input_ids=ids).logits[0].softmax(-1)
    best = [blank.guesses[0].probability for blank in blanks if blank.language == "source"]
    assert best == pytest.approx([float(scores[place].max()) for place in (1, -2)])


def test_cosines_and_links_equal_brute_force_over_the_states_of_transformers(model: Checkpoint, found: Look) -> None:
    assert found.alignment and found.derivation
    sides = []
    for ids, matrix in zip(rows_of(found, model), words_of(found, model), strict=True):
        with torch.inference_mode():
            states = model.model(input_ids=torch.tensor([ids]), output_hidden_states=True).hidden_states
        sides.append(matrix @ states[found.alignment.layer][0, 1:-1].double().numpy())
    mean = np.concatenate(sides).mean(0)
    a, b = ((side - mean) / np.linalg.norm(side - mean, axis=1, keepdims=True) for side in sides)
    assert found.alignment.cosines == pytest.approx(a @ b.T, abs=1e-5)
    best = {(i, int(row.argmax())) for i, row in enumerate(a @ b.T)}
    assert found.alignment.links == sorted(best & {(int(row.argmax()), j) for j, row in enumerate((a @ b.T).T)})


def test_attention_is_that_of_transformers_over_both_sides_in_one_row(model: Checkpoint, found: Look) -> None:
    assert found.attention is not None
    first, second = rows_of(found, model)
    eager = RobertaForMaskedLM.from_pretrained(model.folder, attn_implementation="eager").eval()
    with torch.inference_mode():
        layers = eager(input_ids=torch.tensor([first + second[1:]]), output_attentions=True).attentions
    rows, columns = words_of(found, model)
    for layer, shares in zip(layers, found.attention, strict=True):
        block = layer[0].mean(0)[1 : len(first) - 1, len(first) : -1].numpy()
        assert shares == pytest.approx(rows @ block @ (columns > 0).T, abs=1e-6)
        assert (shares.sum(1) < 1).all()
    assert model.model.config._attn_implementation == "sdpa", "the model is as before"


def test_attention_needs_a_row_that_holds_both_sides(model: Checkpoint) -> None:
    longest, fit = model.tokenizers["source"].model_max_length, set()
    for number in (longest // 2 - 2, longest // 2 - 1):
        found = look(model, " ".join(["the"] * number))
        fit.add(sum(map(len, rows_of(found, model))) - 1 <= longest)
        assert (found.attention is not None) == (not found.left_out) == (number == longest // 2 - 2)
    assert fit == {True, False}


def test_maps_are_the_first_principal_components_of_embeddings_before_and_after_training(
    done: Done, model: Checkpoint, found: Look
) -> None:
    training = done.model("ALIGN-MLM").training
    data = Languages.open(done.data, training.languages)
    begun = build(training.model, data.rows, seed=training.seed, specials=data.specials)
    for shown, trained in ((found.map, model.model), (found.before, begun)):
        assert shown
        sides = []
        for side, name in enumerate(("source", NAME)):
            ids = [model.tokenizers[name](pair[side], add_special_tokens=False)["input_ids"] for pair in shown.words]
            table = trained.get_input_embeddings().weight.detach().double().numpy()[[i for (i,) in ids]]
            sides.append(table / np.linalg.norm(table, axis=1, keepdims=True))
        expected = PCA(2, svd_solver="full").fit_transform(np.concatenate(sides)).reshape(2, -1, 2).swapaxes(0, 1)
        signs = np.sign((expected * shown.places).sum((0, 1)))
        assert shown.places == pytest.approx(expected * signs, abs=1e-5)
        assert shown.found == ((sides[0] @ sides[1].T).argmax(1) == np.arange(len(sides[0]))).sum()
        for word, image in shown.words:
            assert calque.derive(word, NAME).words == (image,)


def test_the_sentence_and_the_words_of_the_map_are_frequent(done: Done, model: Checkpoint, found: Look) -> None:
    assert found.derivation and found.map
    data = Languages.open(done.data, [NAME])
    vocabulary, corpus = data.vocabulary, data["source"].corpus
    tokenizer = model.tokenizers["source"]
    rarest = [vocabulary.counts[corpus[line]].min() for line in range(600) if len(corpus.line_pieces(line)) in (7, 8)]
    ids = tokenizer(" ".join(found.derivation.source), add_special_tokens=False)["input_ids"]
    assert len(found.derivation.source) in (7, 8) and vocabulary.counts[ids].min() == max(rarest)
    names = {i: model.name(i)[0] for i in vocabulary.types.tolist()}
    whole = {name: int(vocabulary.counts[i]) for i, name in names.items() if name and vocabulary.encode(name) == (i,)}
    frequent = sorted((count for name, count in whole.items() if name.isalpha() and len(name) > 1), reverse=True)
    assert [whole[word] for word, _ in found.map.words] == frequent[:30]
    assert all(len(word) > 1 and word.isalpha() for word, _ in found.map.words)


def test_the_words_of_a_sentence_with_neighbours_are_its_longest(model: Checkpoint, found: Look) -> None:
    assert found.derivation
    sentence = sorted({*found.derivation.source}, key=len)
    chosen = list(dict.fromkeys(each.word for each in found.neighbours))
    assert list(map(len, chosen)) == list(map(len, sentence[::-1][: len(chosen)])) and len(chosen) == 4


def test_the_map_says_how_many_words_are_aligned_before_and_after_a_rotation(model: Checkpoint, found: Look) -> None:
    shares = model.alignment()
    assert found.map and found.map.held_out == (shares["held-out"], shares[ROTATED])
    raw, rotated = (f"{100 * share:.0f} %" for share in found.map.held_out)
    assert found.map.summary.endswith(f"{raw}, and {rotated} after one rotation")


def test_a_map_is_drawn_in_proportion(found: Look) -> None:
    figures = re.findall("<figure class=map>.*?</figure>", look_html([("m", found)]), re.DOTALL)
    for shown, figure in zip((found.before, found.map), figures, strict=True):
        assert shown
        dots = np.array(re.findall(r'<circle class=(?:source|image) cx="(.+?)" cy="(.+?)"', figure), float)
        width, height = map(float, re.findall(r'viewBox="0 0 (\d+) (\d+)"', figure)[0])
        assert (dots > 0).all() and (dots < (width, height)).all()
        up, places = dots * (1, -1), shown.places.reshape(-1, 2)
        assert (up - up.min(0)) / np.ptp(up, 0) == pytest.approx((places - places.min(0)) / np.ptp(places, 0), abs=1e-3)
        ends = np.array(re.findall(r'<path d="M(\S+) (\S+)L(\S+) (\S+)"/>', figure), float)
        assert (ends == dots.reshape(-1, 4)).all()


def test_a_text_fills_the_model_s_length_and_no_more(model: Checkpoint) -> None:
    longest = model.tokenizers["source"].model_max_length
    assert model.fill(" ".join(["<mask>", *["the"] * (longest - 3)]))
    with pytest.raises(BadInput, match=rf"{longest + 1} ids in the text; expected at most {longest}"):
        model.fill(" ".join(["<mask>", *["the"] * (longest - 2)]))


def test_a_look_is_the_same_each_time(model: Checkpoint, found: Look) -> None:
    assert look(calque.load(model.folder)).json == found.json


def test_words_of_any_language_have_neighbours_in_each(model: Checkpoint, found: Look) -> None:
    assert found.map
    words = [found.map.words[0][0], found.map.words[1][1]]
    for each in look(model, words=words).neighbours:
        assert each.of == ("source" if each.word == words[0] else NAME)
        assert list(each.nearest) == model.nearest(each.word, each.of, each.language)


def test_a_model_without_its_run_shows_what_needs_no_derivation(elsewhere: Path, found: Look) -> None:
    assert found.derivation
    alone = look(calque.load(elsewhere), " ".join(found.derivation.source))
    assert alone.blanks == tuple(blank for blank in found.blanks if blank.language == "source")
    assert alone.derivation is alone.alignment is alone.attention is alone.map is None
    assert alone.left_out[0].startswith(f"{NAME}: ") and not found.left_out and "left out" in str(alone)
    assert not look(calque.load(elsewhere)).blanks
    page = elsewhere / "page.html"
    write_look(page, "t", alone)
    assert "Embedding map" not in page.read_text(encoding="utf-8") and "Guesses" in page.read_text(encoding="utf-8")


def test_the_terminal_has_80_columns_and_json_every_number(model: Checkpoint, found: Look) -> None:
    code, text, _ = run(model.folder)
    assert code == 0 and max(map(len, text.splitlines())) <= WIDTH and found.derivation
    assert all(word in text for word in found.derivation.source)
    code, text, _ = run(model.folder, "--json")
    assert code == 0 and json.loads(text) == json.loads(json.dumps(found.json))


def test_the_terminal_has_the_numbers_of_the_parts() -> None:
    """In their order; [] mark counterparts and * links."""
    cosines = np.arange(1, 10).reshape(3, 3) / 10
    attention = np.array([[[0.1, 0.2, 0.4], [0.3, 0.2, 0.1], [0.5, 0.1, 0.1]]])
    made = Look(
        ("source", NAME),
        (Blank("source", 0, "a", (Guess("b", "source", 0.251),)),),
        (Neighbours("a", "source", NAME, (Neighbour("C", NAME, 0.12), Neighbour("A", NAME, -0.5))),),
        Derivation(NAME, ("a", "b", "c"), ("C", "B", "A"), (2, 1, 0)),
        Alignment(4, cosines, [(0, 2), (2, 1)]),
        attention,
        EmbeddingMap((("a", "A"), ("b", "B")), np.zeros((2, 2, 2)), 2),
        EmbeddingMap((("a", "A"), ("b", "B")), np.zeros((2, 2, 2)), 1),
        {"C": "c"},
    )
    assert "C (c) 0.12" in str(made) and "b 25" in str(made)
    assert re.findall(r"[*[]*-?\d[\d.]*\]?", str(made)) == [
        *("25", "0.12", "-0.50"),
        *("4", "0.10", "0.20", "*[0.30]", "0.40", "[0.50]", "0.60", "[0.70]", "*0.80", "0.90", "2", "3", "1"),
        *("1", "67", "37", "2", "3"),
        *("2", "2", "1"),
    ]


@pytest.mark.parametrize(("number", "fits"), [(8, True), (9, False)])
def test_a_matrix_that_is_wider_than_the_terminal_is_summed_up(number: int, fits: bool) -> None:
    words = tuple("a" * 9 for _ in range(number))
    pair, links = Derivation(NAME, words, words, tuple(range(number))), [(i, i) for i in range(number)]
    lines = str(Look((), derivation=pair, alignment=Alignment(1, np.eye(number), links))).splitlines()
    assert len(lines) == 2 + fits * (number + 1) and max(map(len, lines)) <= WIDTH


def test_bad_input_is_one_line_and_writes_nothing(model: Checkpoint, elsewhere: Path, tmp_path: Path) -> None:
    page = tmp_path / "look.html"
    smaller = json.loads((elsewhere / "config.json").read_text())
    state = json.loads((elsewhere / "tokenizer.json").read_text())
    state["model"]["vocab"]["xyzzy"] = smaller["vocab_size"]
    (elsewhere / "tokenizer.json").write_text(json.dumps(state))
    for words in (
        [elsewhere],  # another vocabulary
        [tmp_path],  # no model
        [model.folder, "--sentence", "the xyzzy <s> ."],
        [model.folder, "--sentence", "the " * 40],
        [model.folder, "--sentence", "  "],
        [model.folder, "--json"],
        [model.folder, "--words", "xyzzyplugh"],
        [model.folder, "--language", "klingon"],
    ):
        code, text, error = run(*words, "--html", page)
        assert (code, text, error.count("\n")) == (2, "", 1) and error.startswith("calque: error: ")
        assert not page.exists()
    for place in (tmp_path, elsewhere / "config.json", Path("/proc/look.html"), elsewhere / "config.json/look.html"):
        code, text, error = run(elsewhere, "--html", place)
        assert (code, text, error.count("\n")) == (2, "", 1) and str(place) in error
    assert json.loads((elsewhere / "config.json").read_text()) == smaller


def test_the_report_looks_into_a_model_of_each_objective(done: Done, tmp_path: Path) -> None:
    page = (done.report / "report.html").read_text(encoding="utf-8")
    (inside,) = re.findall(r'<section id="look-inside">.*?</section>', page, re.DOTALL)
    assert all(part in inside for part in ("Fill a mask", "Nearest words", "Embedding map", "ALIGN-MLM"))
    assert inside.count("<figure class=map>") > len(done.models()) and len(page) < 3_000_000
    summarise(done.study, done.root, tmp_path / "again")
    assert (tmp_path / "again/report.html").read_text(encoding="utf-8") == page
    bare = Done(Path(shutil.copytree(done.root, tmp_path / "runs")), done.study)
    for each in bare.models():
        shutil.rmtree(each.checkpoint)
    summarise(bare.study, bare.root, tmp_path / "bare")
    assert 'id="look-inside"' not in (tmp_path / "bare/report.html").read_text(encoding="utf-8")


def test_a_model_without_a_prediction_head_guesses_nothing(model: Checkpoint, elsewhere: Path) -> None:
    weights = elsewhere / "model.safetensors"
    encoder = {name: tensor for name, tensor in load_file(weights).items() if "lm_head" not in name}
    save_file(encoder, weights, {"format": "pt"})
    headless = calque.load(elsewhere)
    seen = look(headless, words=["the"])
    assert not seen.blanks and seen.neighbours and "prediction head" in str(seen)
    with pytest.raises(BadInput, match="prediction head"):
        headless.fill("the <mask>")


def test_large_models_are_not_put_into_a_page(model: Checkpoint, found: Look, monkeypatch: pytest.MonkeyPatch) -> None:
    size = sum(each.numel() for each in model.model.parameters())
    for most in (size, size - 1):
        monkeypatch.setattr("calque.analysis.looking.live.MOST", most)
        assert (live_data(model, {"source": ["a"]}, {}) is None) == (most < size)
    monkeypatch.setattr("calque.analysis.report.look_html.LIVE_LETTERS", 0)
    assert "<select>" not in look_html([("m", replace(found, live=None))])


LOOK = """function look(view, page) {{
  const box = page.querySelector(".live"), input = box.querySelector("input");
  const shown = () => [...box.querySelectorAll("td")].map((cell) => cell.textContent);
  const type = (text) => {{ input.value = text; input.dispatchEvent(new view.Event("input")); }};
  const first = shown(), found = {texts}.map(([language, text]) => [...box.logits(0, language, text)]);
  type({word}); const near = shown();
  type("xyzzy <mask>"); const refused = [shown().length, box.querySelector("output").textContent];
  const requests = view.performance.getEntriesByType("resource").length;
  return {{ found, first, near, refused, requests }};
}}"""


def test_the_page_computes_the_logits_of_transformers(model: Checkpoint, found: Look, tmp_path: Path) -> None:
    assert found.derivation and found.map
    write_look(tmp_path / "look.html", "t", found)
    known = {name: {model.name(i)[0] for i in ids} for name, ids in found.live["types"].items()} if found.live else {}
    texts: list[tuple[str, str]] = []
    for name, words in (("source", found.derivation.source), (NAME, found.derivation.words)):
        kept = [word for word in words if word in known[name]]
        texts += [(name, " ".join([*kept[:i], "<mask>", *kept[i + 1 :]])) for i in range(len(kept))]
    word = found.map.words[0][0]
    script = LOOK.format(texts=json.dumps(texts), word=json.dumps(word))
    page = (tmp_path / "look.html").read_text(encoding="utf-8")
    console, seen = inspect(page, script, [(1400, "light")], tmp_path).values()
    assert (console, seen["requests"]) == ([], 0)
    rounded = RobertaForMaskedLM.from_pretrained(model.folder).half().float().eval()
    for (language, text), logits in zip(texts, seen["found"], strict=True):
        ids = torch.tensor([model.tokenizers[language](text)["input_ids"]])
        with torch.inference_mode():
            expected = rounded(input_ids=ids).logits[0, ids[0] == model.tokenizers["source"].mask_token_id][0]
        assert np.abs(np.array(logits) - expected.numpy()).max() < 1e-4
    assert len(seen["first"]) == 5 and seen["refused"][0] == 0 and "xyzzy" in seen["refused"][1]
    assert seen["near"][0].startswith(found.glossed(model.nearest(word)[0].word))


def test_a_sentence_without_a_mask_is_refused_by_fill(model: Checkpoint) -> None:
    with pytest.raises(BadInput, match="0 masks"):
        model.fill("the .")
