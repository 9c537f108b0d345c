"""
Immutable values with named fields: frozen data classes without code generation.

`dataclasses` compiles up to eight functions for every class, and imports `inspect` to do so: half
the time of the first `foldline.compact` of a process. The classes here share their methods;
creating an object takes about twice as long. To other code they are data classes with slots:
`dataclasses.fields`, `replace` and `asdict` accept them, and a data class may inherit from them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache, cached_property
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, NoReturn, TypeVar, cast, dataclass_transform

if TYPE_CHECKING:
    from inspect import Signature

Kind = TypeVar("Kind", bound=type)
Value = TypeVar("Value")

MISSING: Final[Any] = object()
"""The default of a field without a default."""


class Field:
    """A field of a value; `field` describes the arguments."""

    __slots__ = ("compare", "default", "default_factory", "hash", "name", "repr")
    name: str

    def __init__(
        self,
        default: Any = MISSING,
        default_factory: Any = MISSING,
        repr: bool = True,
        compare: bool = True,
        hash: bool = True,
    ) -> None:
        self.default, self.default_factory = default, default_factory
        self.repr, self.compare, self.hash = repr, compare, hash

    def make_default(self) -> Any:
        """Return the default value of the field; `MISSING` if there is none."""
        return self.default if self.default_factory is MISSING else self.default_factory()


def field(
    *,
    default: Any = MISSING,
    default_factory: Callable[[], Any] = MISSING,
    repr: bool = True,
    compare: bool = True,
    hash: bool = True,
) -> Any:
    """
    Describe a field, as `dataclasses.field` does.

    Args:
        default: Its default value.
        default_factory: Creates the default value for each object.
        repr: Whether it is part of the repr.
        compare: Whether it is used in comparisons and hashes.
        hash: Whether it is used in hashes.
    """
    return Field(default, default_factory, repr, compare, hash and compare)


def fields(kind: Any) -> tuple[Field, ...]:
    """Return the fields of a value or of its class, in order; none for anything else."""
    found: tuple[Field, ...] = getattr(kind, "__frozen_fields__", ())
    return found


def replace(value: Value, /, **changes: Any) -> Value:
    """
    Return a copy of a value, or of any data class, with some fields replaced.

    Raises:
        TypeError: There is no such field.
    """
    kind: Any = type(value)
    if not isinstance(value, Frozen):
        import dataclasses

        return cast("Value", dataclasses.replace(cast("Any", value), **changes))
    names = kind.__match_args__
    values = [changes.pop(n) if n in changes else getattr(value, n) for n in names]
    made: Value = kind(*values, **changes)
    return made


def to_dict(value: Any) -> dict[str, Any]:
    """Return a value as a dictionary of JSON values, including nested values."""
    return {one.name: _to_plain(getattr(value, one.name)) for one in fields(value)}


def _to_plain(value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        return [_to_plain(item) for item in value]
    if isinstance(value, dict):
        return {name: _to_plain(item) for name, item in value.items()}
    return to_dict(value) if isinstance(value, Frozen) else value


# --- data class protocol ---------------------------------------------------------------------


@cache
def _dataclass(kind: Any) -> Any:
    """Return the data class with the same fields as a class."""
    import dataclasses

    def convert(one: Field) -> Any:
        if one.default_factory is not MISSING:
            given = {"default_factory": one.default_factory}
        else:
            given = {} if one.default is MISSING else {"default": one.default}
        return dataclasses.field(repr=one.repr, compare=one.compare, hash=one.hash, **given)

    hints: dict[str, Any] = {}
    for base in reversed(kind.__mro__):
        hints |= vars(base).get("__annotations__", {})
    listed = [(one.name, hints[one.name], convert(one)) for one in fields(kind)]
    return dataclasses.make_dataclass(kind.__name__, listed, frozen=True)


class _OfDataclass:
    """An attribute that `dataclasses` looks up in a class, created on access."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, instance: object, kind: Any) -> Any:
        return getattr(_dataclass(kind), self._name)


class _Signature:
    """The signature of a class, for `help` and editors, created on access."""

    def __get__(self, instance: object, kind: Any) -> Signature:
        from inspect import signature

        if kind.__init__ is not Frozen.__init__:
            raise AttributeError("__signature__")
        return signature(_dataclass(kind))


# --- construction ----------------------------------------------------------------------------


class Frozen:
    """The shared base of the classes made by `frozen`."""

    # Without annotations, which would be read as fields.
    __slots__ = ()
    __match_args__ = ()
    __dataclass_fields__ = _OfDataclass("__dataclass_fields__")
    __dataclass_params__ = _OfDataclass("__dataclass_params__")
    __signature__ = _Signature()
    _assign = _defaults = _without_default = ()
    _checked = False
    _compared = _hashed = attrgetter("__class__")

    def __init__(self, /, *values: Any, **named: Any) -> None:
        assigned: tuple[Callable[[Any, Any], None], ...] = self._assign
        bound: Sequence[Any] = values
        if named or len(values) != len(assigned):
            bound = _bind(type(self), values, named)
        for assign, value in zip(assigned, bound):  # noqa: B905  # as many, and twice as fast
            assign(self, value)
        if self._checked:
            self.__post_init__()

    def __post_init__(self) -> None:
        """Check the fields, once they are set."""

    def __eq__(self, other: object) -> bool:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return bool(self._compared(self) == self._compared(other))

    def __hash__(self) -> int:
        return hash(self._hashed(self))

    def __repr__(self) -> str:
        texts = (f"{one.name}={getattr(self, one.name)!r}" for one in fields(self) if one.repr)
        return f"{type(self).__qualname__}({', '.join(texts)})"

    def __setattr__(self, name: str, value: object) -> NoReturn:
        from dataclasses import FrozenInstanceError

        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> NoReturn:
        from dataclasses import FrozenInstanceError

        raise FrozenInstanceError(f"cannot delete field {name!r}")

    def __replace__(self, /, **changes: Any) -> Any:
        return replace(self, **changes)

    def __reduce__(self) -> tuple[Any, ...]:
        values = tuple(getattr(self, one.name) for one in fields(self))
        return _rebuild, (type(self), values), getattr(self, "__dict__", None)


def _rebuild(kind: Any, values: Sequence[Any]) -> Any:
    """Rebuild a value from its fields, without repeating its checks."""
    made = object.__new__(kind)
    for assign, value in zip(kind._assign, values, strict=True):
        assign(made, value)
    return made


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(kind: Kind) -> Kind:
    """
    Make a class with annotated fields immutable; the decorator of every value.

    Its objects are compared and hashed by their fields and have slots. A class with a
    `functools.cached_property` has a slot for it. ``__post_init__`` runs after the fields are set.

    Raises:
        TypeError: A field without a default follows one with a default, or is described by
            `dataclasses.field`.
        ValueError: A default is mutable, and shared by all objects.
    """
    space = vars(kind).copy()
    every: dict[str, Field] = {}
    for base in reversed(kind.__mro__[1:]):
        every |= {one.name: one for one in vars(base).get("__frozen_fields__", ())}
    slots = ["__dict__"] * (cached_property in map(type, space.values()))
    for name, hint in space.get("__annotations__", {}).items():
        if not str(hint).startswith(("ClassVar", "typing.ClassVar")):
            slots += [] if name in every else [name]
            every[name] = _read_field(name, space.pop(name, MISSING))
    _check_order(kind.__name__, every.values())
    for name in ("__dict__", "__weakref__"):
        space.pop(name, None)
    compared = attrgetter(*[n for n in every if every[n].compare] or ["__class__"])
    hashed = attrgetter(*[n for n in every if every[n].hash] or ["__class__"])
    space |= {
        "__slots__": slots,
        "__qualname__": kind.__qualname__,
        "__match_args__": tuple(every),
        "__frozen_fields__": tuple(every.values()),
        "_compared": compared,
        "_hashed": hashed,
    }
    bases = tuple(base for base in kind.__bases__ if base is not object)
    bases += () if issubclass(kind, Frozen) else (Frozen,)
    made: Any = type(kind)(kind.__name__, bases, space)
    made._checked = made.__post_init__ is not Frozen.__post_init__
    made._assign = tuple([getattr(made, name).__set__ for name in every])
    made._defaults = tuple([one.default for one in every.values()])
    made._without_default = tuple(
        [(place, one) for place, one in enumerate(every.values()) if one.default is MISSING]
    )
    return made  # type: ignore[no-any-return]  # the same class, with slots


def _read_field(name: str, given: Any) -> Field:
    found = given if type(given) is Field else Field(given)
    found.name = name
    if found.default is not MISSING:
        kind = type(found.default)
        if kind.__module__ == "dataclasses":
            raise TypeError(f"{name} is described by the field of another module")
        if kind.__hash__ is None:
            raise ValueError(f"{name} needs a default_factory: its default could be changed")
    return found


def _check_order(kind: str, every: Iterable[Field]) -> None:
    optional = ""
    for one in every:
        if one.default is not MISSING or one.default_factory is not MISSING:
            optional = one.name
        elif optional:
            raise TypeError(f"{kind}: {one.name!r} without a default follows {optional!r}")


def _bind(kind: Any, values: tuple[Any, ...], named: dict[str, Any]) -> list[Any]:
    """Return a value for every field, by position, by name, or its default."""
    names = kind.__match_args__
    if len(values) > len(names):
        raise TypeError(f"{kind.__name__} has {len(names)} fields, not {len(values)}")
    bound = [*values, *kind._defaults[len(values) :]]
    for name, value in named.items():
        place = names.index(name) if name in names else -1
        if place < len(values):
            raise TypeError(f"{kind.__name__} takes no {name!r}, or has been given it")
        bound[place] = value
    for place, one in kind._without_default:
        if bound[place] is MISSING:
            bound[place] = one.make_default()
            if bound[place] is MISSING:
                raise TypeError(f"{kind.__name__} needs a value for {one.name!r}")
    return bound
