import json

import pytest

from calque.experiments.settings.catalogue import studies
from tests.experiments.studies.golden import PATH, values

GOLDEN = json.loads(PATH.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", studies())
def test_a_study_has_the_values_that_it_had(name):
    assert values(name) == GOLDEN[name]


def test_every_study_has_its_values_kept():
    assert GOLDEN.keys() == set(studies())
