import json

import pytest

from calque.experiments.settings.catalogue import studies
from tests.experiments.studies.golden import PATH, values

GOLDEN = json.loads(PATH.read_text())


@pytest.mark.parametrize("name", studies())
def test_study_values_are_unchanged(name):
    assert values(name) == GOLDEN[name]


def test_every_study_is_in_the_golden_file():
    assert GOLDEN.keys() == set(studies())
