"""Names and titles generated from the fields of a class: a name is the class's short name and the forms of the values
that differ from their defaults, so that `parse(value.name) == value`."""

import re
from collections.abc import Callable, Iterator
from dataclasses import MISSING, dataclass, fields
from decimal import Decimal
from itertools import groupby
from typing import Any, ClassVar, Self

DIGITS = r"[0-9]{1,9}"
NUMBER = rf"{DIGITS}(?:\.[0-9]{{1,20}})?"


def fraction(percent: str) -> float:
    """A share from its decimal digits in percent, without rounding: 12.3 / 100 is not 0.123."""
    return float(f"{percent}e-2")


def in_percent(share: float) -> str:
    """A share in percent with all its digits, so that `fraction` reads the same number."""
    return _digits(share, 100)


def _digits(number: float, times: int = 1) -> str:
    return format((Decimal(repr(float(number))) * times).normalize(), "f")


@dataclass(frozen=True)
class Form:
    """The written form of one field that differs from its default: a word for one `value`, or a number after `name`,
    which `read` parses (`fraction` parses percent). `meaning` explains it, with {value} or {percent} for the number;
    `title` is the template by which a title appends it; `example` is a number for lists of names."""

    field: str
    name: str
    meaning: str
    value: Any = None
    read: Callable[[str], Any] | None = None
    example: str = ""
    title: str = ", {}"

    @property
    def pattern(self) -> str:
        digits = "" if self.read is None else DIGITS if self.read is int else NUMBER
        return re.escape(self.name) + digits

    def parse(self, text: str) -> Any:
        """The value of a part of a name that matches the pattern."""
        return self.value if self.read is None else self.read(text.removeprefix(self.name))

    def in_name(self, value: Any) -> str:
        if self.read is None:
            return self.name if value == self.value else ""
        return self.name + (in_percent(value) if self.read is fraction else _digits(value))

    def in_title(self, value: Any) -> str:
        return "" if self.read is None and value != self.value else self.title.format(self._meaning(value))

    @property
    def example_meaning(self) -> str:
        return self._meaning(self.parse(self.name + self.example))

    def _meaning(self, value: Any) -> str:
        if self.read is None:
            return self.meaning
        plain = value if isinstance(value, int) else _digits(value)
        return self.meaning.format(value=plain, percent=in_percent(value))


def word(field: str, value: Any, name: str, meaning: str) -> Form:
    """A suffix that sets a field to a fixed value, as in `-frozen`."""
    return Form(field, name, meaning, value)


def number(field: str, name: str, meaning: str, example: str, read: Callable[[str], Any] = int) -> Form:
    """A number after some letters, as in `-queue512`."""
    return Form(field, name, meaning, read=read, example=example)


def percent(field: str, name: str, meaning: str, example: str, title: str = ", {}") -> Form:
    """A share, in percent: `-10`."""
    return Form(field, name, meaning, read=fraction, example=example, title=title)


class Named:
    """A dataclass whose name and title are generated from its forms. `short_name` is the name with all fields at their
    defaults, `full_name` the start of the title. Names have forms in this order, one of several of a field."""

    short_name: ClassVar[str] = ""
    full_name: ClassVar[str] = ""
    forms: ClassVar[tuple[Form, ...]] = ()

    @property
    def name(self) -> str:
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
        """The value with this name; None if the class has none, ValueError if the class refuses it."""
        groups = {field: list(forms) for field, forms in groupby(cls.forms, key=lambda form: form.field)}
        parts = ("|".join(form.pattern for form in forms) for forms in groups.values())
        matched = re.fullmatch(re.escape(cls.short_name) + "".join(f"({part})?" for part in parts), name)
        if matched is None:
            return None
        values = {}
        for (field, forms), text in zip(groups.items(), matched.groups(), strict=True):
            if text:
                values[field] = next(form.parse(text) for form in forms if re.fullmatch(form.pattern, text))
        return cls(**values)

    def _differences(self) -> Iterator[tuple[Form, Any]]:
        own: Any = self
        defaults = {field.name: None if field.default is MISSING else field.default for field in fields(own)}
        for form in self.forms:
            if (value := getattr(self, form.field)) != defaults[form.field]:
                yield form, value
