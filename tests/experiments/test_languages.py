"""Derived languages of a study: which transforms and sources fit together."""

from calque.derive.order import Invert
from calque.derive.pocket.facts import Facts
from calque.derive.sources.pocket import PocketEnglish
from calque.derive.words import Drop
from calque.experiments.languages import DerivedLanguages


def test_questions_about_facts_need_unchanged_words() -> None:
    source = PocketEnglish(facts=Facts())
    assert DerivedLanguages(source=source, transforms=(Drop("DET"),), vocabulary=600).mistakes()
    assert not DerivedLanguages(source=source, transforms=(Invert(),), vocabulary=600).mistakes()
