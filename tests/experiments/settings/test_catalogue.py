from itertools import groupby

from hypothesis import given, reject
from hypothesis import strategies as st

from calque.derive.forms import fraction
from calque.derive.order import Invert, Permute
from calque.derive.transform import compose
from calque.derive.transforms import Transliterate
from calque.derive.transforms import transform as read_transform
from calque.pretrain.objective import After
from calque.pretrain.objectives import OBJECTIVES, parse

shares = st.integers(1, 999).map(lambda tenths: tenths / 1000)
scripts = st.builds(Transliterate, overlap=st.just(0.0) | shares) | st.builds(Transliterate, overlap=shares)
orders = st.just(Invert()) | st.builds(Invert, p=shares) | st.just(Permute())
transforms = (
    scripts | orders | st.builds(compose, scripts, orders) | st.builds(compose, scripts, orders, orders)
)


@given(transforms)
def test_transform_names_are_parsed_back(transform):
    assert read_transform(transform.name) == transform


@st.composite
def objectives(draw, wrapped=True):
    kind = draw(st.sampled_from(OBJECTIVES))
    values = {}
    for field, forms in groupby(kind.forms, key=lambda form: form.field):
        form = draw(st.none() | st.sampled_from(list(forms)))
        if form is not None:
            number = (
                st.integers(1, 99)
                if form.read is int
                else shares
                if form.read is fraction
                else st.floats(0.01, 99)
            )
            values[field] = form.value if form.read is None else draw(number)
    try:
        objective = kind(**values)
        if wrapped and draw(st.booleans()):
            objective = After(objective, draw(objectives(wrapped=False)), draw(st.just(0.5) | shares))
    except ValueError:
        reject()  # such as XLM-Align without any part
    return objective


@given(objectives())
def test_objective_names_are_parsed_back(objective):
    assert parse(objective.name) == objective
