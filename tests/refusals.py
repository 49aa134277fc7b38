import pytest

from calque.derive.errors import BadInput


def refusal(function, *arguments):
    """Return the one-line error message of a call that rejects its arguments."""
    with pytest.raises(BadInput) as caught:
        function(*arguments)
    assert "\n" not in str(caught.value)
    return str(caught.value)
