"""An objective has one look in all figures of all studies, and no two objectives of a study have the same."""

from calque.analysis.papers.looks import BY_NAME, look, looks
from calque.analysis.records.run import Described, Start
from calque.analysis.results.results import Results
from tests.analysis.runs import number, run, runs

EXAMPLES = (*BY_NAME, "XLM-10", "ALIGN-MLM-100", "XLM-ALIGN-no-dwa", "XLM-ALIGN-gold", "XLM-ALIGN-after-MLM")


def described(name: str) -> tuple[Described, Start | None]:
    """An objective and what it starts from, as a run has them."""
    made = run("trans", name, 0)
    assert made.objective
    return made.objective, made.start


def study_of(*names: str) -> Results:
    records = [number("trans", name, 0, "ZS", "pos", "accuracy", 0.5, 9) for name in names]
    return Results(runs(records), records)


def test_no_two_objectives_look_the_same_and_a_study_changes_no_look() -> None:
    results = study_of(*EXAMPLES)
    found = looks(results)
    assert list(found) == list(EXAMPLES)
    assert len({(one.colour, one.marker) for one in found.values()}) == len(EXAMPLES)
    assert len({one.colour for one in BY_NAME.values()}) == len({one.marker for one in BY_NAME.values()}) == 10
    for name in EXAMPLES:
        alone = look(*described(name))
        if name not in ("XLM-10", "ALIGN-MLM-100"):  # each is here with the objective that it differs from in a number
            assert found[name] == alone == looks(study_of(name))[name]
    assert found["XLM-10"].colour == found["XLM"].colour and found["XLM-10"].marker != found["XLM"].marker
