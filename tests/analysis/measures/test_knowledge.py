"""Questions about facts: scores against transformers' own, models that know, and what chance and the null are."""

from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import RobertaForMaskedLM

from calque.analysis.measures.knowledge import answers, knowledge
from calque.analysis.records.record import BOTH, CARRIED, KNOWN, Items, MeasuredModel
from calque.derive.build import derive_languages
from calque.derive.dictionary import DictionaryConfig
from calque.derive.example import Question
from calque.derive.languages import Languages
from calque.derive.order import Invert
from calque.derive.pocket.facts import Facts
from calque.derive.pocket.language import Pocket
from calque.derive.script import Transliterate
from calque.derive.sources.pocket import PocketEnglish, Sizes
from calque.derive.transform import compose, image_of_question
from tests.analysis.conftest import MakeCheckpoint

CPU, LENGTH, LANGUAGE = torch.device("cpu"), 24, "trans.inv"
TRANSFORM = compose(Transliterate(), Invert())
FEW = Sizes(1, 1, 1)
SOURCE = PocketEnglish(Pocket(types=300), 300, FEW, FEW, FEW, Facts(subjects=12, values=3, mentions=30))


@pytest.fixture(scope="module")
def languages(tmp_path_factory: pytest.TempPathFactory) -> Languages:
    folder = tmp_path_factory.mktemp("facts")
    derive_languages(SOURCE, [TRANSFORM], 500, DictionaryConfig(0.5), folder / "data", folder / "cache")
    return Languages.open(folder / "data", [LANGUAGE])


@pytest.fixture(scope="module")
def questions() -> list[tuple[Question, Question]]:
    return [(q, image_of_question(q, TRANSFORM, number)) for number, q in enumerate(SOURCE.questions())]


def test_an_answer_is_the_candidate_that_transformers_prefers(
    languages: Languages,
    questions: list[tuple[Question, Question]],
    make_checkpoint: MakeCheckpoint,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("calque.analysis.measures.knowledge.ROWS", 4)
    checkpoint = make_checkpoint(languages.rows, languages=3, length=LENGTH)
    model = RobertaForMaskedLM.from_pretrained(checkpoint).eval()
    encode, specials = languages.vocabulary.encode, languages.specials
    for side, name in enumerate(("source", LANGUAGE)):
        asked = [pair[side] for pair in questions]
        found = answers(model, languages, name, asked)
        table = languages[name].table
        for question, given in list(zip(asked, found.tolist(), strict=True))[::7]:
            total = torch.zeros(len(question.candidates))
            for cloze in question.clozes:
                ids = [specials.start]
                for place, word in enumerate(cloze.sentence.words):
                    ids += [specials.mask] if place == cloze.place else table[list(encode(word))].tolist()
                row = torch.tensor([[*ids, specials.end]])
                with torch.no_grad():
                    logits = model(input_ids=row, token_type_ids=torch.full_like(row, side)).logits[0]
                words = [int(table[encode(word)[0]]) for word in question.candidates]
                total += logits[ids.index(specials.mask)].log_softmax(0)[words]
            assert given == int(total.argmax())


def altered(checkpoint: Path, languages: Languages, words: list[str]) -> Path:
    """A model to which all words are alike but for some of the source and their images, which it prefers."""
    model = RobertaForMaskedLM.from_pretrained(checkpoint)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
        rows = np.array([languages.vocabulary.encode(word)[0] for word in words], np.int64)
        model.lm_head.bias[torch.from_numpy(np.concatenate([rows, languages[LANGUAGE].table[rows]]))] = 1.0
    model.save_pretrained(checkpoint.parent / f"prefers {len(words)}")
    return checkpoint.parent / f"prefers {len(words)}"


def test_a_model_that_has_one_answer_is_right_as_often_as_the_null(
    languages: Languages, questions: list[tuple[Question, Question]], make_checkpoint: MakeCheckpoint
) -> None:
    asked, images = map(list, zip(*questions, strict=True))
    words = sorted({question.candidates[0] for question in asked})
    checkpoint = altered(make_checkpoint(languages.rows, length=LENGTH), languages, words)
    made = knowledge(MeasuredModel(checkpoint, "run", LANGUAGE, step=7), languages, asked, images).records
    found = {(record.measure, record.metric): record for record in made}
    assert len(found) == len(made) == 3 * 12 + 1
    told = set(languages.dictionary("source", LANGUAGE)[:, 0].tolist())
    for measure, shared in ((KNOWN, False), (CARRIED, False), (BOTH, True)):
        of = [question for question in asked if question.shared is shared]
        record = found[measure, "all"]
        assert (record.run, record.count, record.step, record.language) == ("run", len(of), 7, LANGUAGE)
        hits = [int(question.answer == question.candidates[0]) for question in of]
        assert record.items == Items.over(hits, [1] * len(of))
        assert record.value == pytest.approx(np.mean(hits))
        # Permuted, each relation has as many such answers as before, so the null says that the model knows nothing.
        assert found[measure, "null"].value == found[measure, "null-95"].value == pytest.approx(np.mean(hits))
        assert found[measure, "chance"].value == pytest.approx(1 / 3)
        seen = [languages.vocabulary.encode(question.answer)[0] in told for question in of]
        assert found[measure, "seen"].count == sum(seen)
        assert found[measure, "held-out"].count == len(of) - sum(seen)
        # Nor does it where the dictionary has that answer and no other, though it is right each time.
        for kind in ("seen", "held-out"):
            assert found[measure, f"{kind}-null"].value == pytest.approx(found[measure, kind].value)
            assert found[measure, f"{kind}-null-95"].value == found[measure, f"{kind}-null"].value
            assert found[measure, f"{kind}-null"].count == found[measure, kind].count
        assert found[measure, "subject-seen"].count + found[measure, "subject-held-out"].count == len(of)
    assert found[CARRIED, "known"].count == round(found[KNOWN, "all"].value * found[KNOWN, "all"].count)
    assert found[CARRIED, "known"].value == 1.0
