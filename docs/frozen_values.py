"""Has the values of Foldline documented like the data classes that they are to their users."""

from __future__ import annotations

from typing import Any

import griffe


class FrozenValues(griffe.Extension):
    """Names the decorator and the fields of a value as the standard library does."""

    def on_class_instance(self, *, cls: Any, **_: Any) -> None:
        """Name the decorator of the standard library."""
        for decorator in cls.decorators:
            if str(decorator.value) == "frozen":
                decorator.value = griffe.ExprName("dataclasses.dataclass")

    def on_attribute_instance(self, *, attr: Any, **_: Any) -> None:
        """Name the description of a field as the standard library does."""
        if isinstance(attr.value, griffe.ExprCall) and str(attr.value.function) == "field":
            attr.value.function = griffe.ExprName("dataclasses.field")
