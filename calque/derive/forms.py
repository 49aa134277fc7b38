"""Names and titles that are generated from a class's fields, so that `parse(value.name) == value`."""

import re
from collections.abc import Callable, Iterator
from dataclasses import MISSING, dataclass, fields
from decimal import Decimal
from itertools import groupby
from typing import Any, ClassVar, Self

DIGITS = r"[0-9]{1,9}"
NUMBER = rf"{DIGITS}(?:\.[0-9]{{1,20}})?"


def fraction(percent: str) -> float:
    """Convert a percentage to a fraction, without the rounding error of division (12.3 / 100)."""
    return float(f"{percent}e-2")


def in_percent(share: float) -> str:
    """Format a fraction as a percentage that `fraction` converts back exactly."""
    return _digits(share, 100)


def _digits(number: float, times: int = 1) -> str:
    return format((Decimal(repr(float(number))) * times).normalize(), "f")


@dataclass(frozen=True)
class Form:
    """A part of a name that sets a `field`: a fixed string for `value`, or a prefix and a value that `read`
    parses and `write` formats; with its `meaning`, and a `title` template."""

    field: str
    name: str
    meaning: str
    value: Any = None
    read: Callable[[str], Any] | None = None
    example: str = ""
    title: str = ", {}"
    pattern: str = ""
    write: Callable[[Any], str] = str

    def parse(self, text: str) -> Any:
        return self.value if self.read is None else self.read(text.removeprefix(self.name))

    def in_name(self, value: Any) -> str:
        return self.name if self.read is None else self.name + self.write(value)

    def in_title(self, value: Any) -> str:
        return self._filled(self.title.replace("{}", self.meaning), value)

    @property
    def example_meaning(self) -> str:
        return self._filled(self.meaning, self.parse(self.name + self.example))

    def _filled(self, text: str, value: Any) -> str:
        if isinstance(value, float):
            return text.format(value=_digits(value), percent=in_percent(value))
        return text.format(value=value)


def word(field: str, value: Any, name: str, meaning: str) -> Form:
    """Create a suffix that sets a field to a fixed value: `-frozen`."""
    return Form(field, name, meaning, value)


def number(field: str, name: str, meaning: str, example: str, read: Callable[[str], Any] = int) -> Form:
    """Create a suffix of letters and a number: `-queue512`."""
    pattern = DIGITS if read is int else NUMBER
    return Form(field, name, meaning, read=read, write=_digits, example=example, pattern=pattern)


def percent(field: str, name: str, meaning: str, example: str, title: str = ", {}") -> Form:
    """Create a suffix for a fraction in percent: `-10`."""
    return Form(field, name, meaning, None, fraction, example, title, NUMBER, in_percent)


class Named:
    """Dataclasses named by `short_name` and non-default values' `forms`; titles start with `full_name`."""

    short_name: ClassVar[str] = ""
    full_name: ClassVar[str] = ""
    forms: ClassVar[tuple[Form, ...]] = ()

    @property
    def name(self) -> str:
        """The name on the command line, in folder names and in records."""
        return self.short_name + self.suffix

    @property
    def title(self) -> str:
        return self.full_name + self.title_suffix if self.full_name else self.name

    @property
    def suffix(self) -> str:
        return "".join(form.in_name(value) for form, value in self._differences())

    @property
    def title_suffix(self) -> str:
        return "".join(form.in_title(value) for form, value in self._differences())

    @classmethod
    def parse(cls, name: str) -> Self | None:
        """Return the instance with this name, or None; raise ValueError if it contains an invalid value."""
        values = cls.parse_fields(name)
        return None if values is None else cls(**values)

    @classmethod
    def parse_fields(cls, name: str) -> dict[str, Any] | None:
        """Return the fields that a name sets, or None if it is not a name of this class."""
        pattern, defaults = re.escape(cls.short_name), cls.defaults()
        for field, forms in groupby(cls.forms, key=lambda form: form.field):
            choices = "|".join(f"({re.escape(form.name)}{form.pattern})" for form in forms)
            pattern += f"(?:{choices}){'' if defaults[field] is MISSING else '?'}"
        if (match := re.fullmatch(pattern, name)) is None:
            return None
        texts = zip(cls.forms, match.groups(), strict=True)
        return {form.field: form.parse(text) for form, text in texts if text is not None}

    @classmethod
    def defaults(cls) -> dict[str, Any]:
        form_class: Any = cls
        return {field.name: field.default for field in fields(form_class)}

    def _differences(self) -> Iterator[tuple[Form, Any]]:
        defaults = self.defaults()
        for form in self.forms:
            value = getattr(self, form.field)
            if value != defaults[form.field] and (form.read or value == form.value):
                yield form, value
