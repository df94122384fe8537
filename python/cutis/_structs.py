"""Python's arguments to C's option structs, and C's reports to Python, by the generated descriptions: no struct is written twice."""
from __future__ import annotations

import ctypes
from types import SimpleNamespace
from typing import Any

import numpy as np

from . import _api
from ._core import Array, address, array

_POINTED: dict[Any, tuple[Any, int]] = {
    ctypes.c_float: (np.float32, 1), ctypes.c_double: (np.float64, 1), ctypes.c_uint8: (np.uint8, 1), ctypes.c_uint32: (np.uint32, 1),
    ctypes.c_int32: (np.int32, 1), ctypes.c_bool: (np.bool_, 1), _api.cutis_transform: (np.float32, 10), _api.cutis_float3: (np.float32, 3),
    _api.cutis_mat34: (np.float32, 12), _api.cutis_quat: (np.float32, 4),
}
_SET_BY_US = {"struct_size", "user", "context"}


def enum(name: str, value: str | int, argument: str) -> int:
    """The number of an enum's value by the end of its name, in small letters: "dqs", "u8", "harmonic"."""
    values: dict[str, int] = getattr(_api, name)
    if isinstance(value, int) and value in values.values():
        return value
    words = {key.split("_", 2)[-1].lower(): number for key, number in values.items()}
    words |= {word.removeprefix(name.removeprefix("cutis_").split("_")[-1] + "_"): number for word, number in words.items()}
    found = words.get(str(value).replace("-", "_").lower())
    if found is None:
        raise ValueError(f"{argument}: {value!r} is none of {', '.join(dict.fromkeys(words))}")
    return found


def enum_name(name: str, number: int) -> str:
    values: dict[str, int] = getattr(_api, name)
    return next((key.split("_", 2)[-1].lower() for key, value in values.items() if value == number), str(number))


def _count_field(struct: Any, field: str) -> str | None:
    names = {name for name, _ in struct._fields_}
    stems = (field, field[:-1], field[:-3] + "y" if field.endswith("ies") else field, field.removesuffix("es"))
    return next((f"{stem}_count" for stem in stems if f"{stem}_count" in names), None)


class Options:
    """An option struct filled by keywords; `keep` holds the memory it points at until the call is over."""

    def __init__(self, name: str, given: dict[str, Any], shapes: dict[str, tuple[int | None, ...]] | None = None, **fixed: Any):
        """shapes: of arrays that are not plain lists with a count beside them."""
        self.name, self.kind, self.shapes = name, _api.STRUCTS[name], shapes or {}
        self.struct = self.kind()
        self.keep: list[Any] = []
        types = dict(self.kind._fields_)
        if "struct_size" in types:
            self.struct.struct_size = ctypes.sizeof(self.kind)
        for field, value in {**given, **fixed}.items():
            if field not in types or field in _SET_BY_US or self.counts(field):
                offered = ", ".join(n for n in types if n not in _SET_BY_US and not self.counts(n))
                raise TypeError(f"there is no option {field!r}; there are {offered}")
            if value is not None:
                self.set(field, types[field], value)

    def set(self, field: str, kind: Any, value: Any) -> None:
        enum_of = _api.ENUM_FIELDS.get(f"{self.name}.{field}")
        if enum_of:
            value = enum(enum_of, value, field)
        elif kind is ctypes.c_char_p:
            value = str(value).encode()
        elif kind in _INTEGERS:
            low, high = _INTEGERS[kind]
            if isinstance(value, bool) or int(value) != value or not low <= value <= high:
                raise ValueError(f"{field}: a whole number from {low} to {high} is wanted, this is {value!r}")
            value = int(value)
        elif kind is ctypes.c_bool:
            value = bool(value)
        elif kind in (ctypes.c_float, ctypes.c_double):
            value = float(value)
        elif isinstance(kind, type) and issubclass(kind, ctypes.Structure):
            inner = Options(kind.__name__, dict(value))
            self.keep += inner.keep
            value = inner.struct
        else:
            value = self.pointed(field, kind, value)
        setattr(self.struct, field, value)

    def counts(self, field: str) -> bool:
        """Whether a field is the length of an array, which we fill in."""
        return any(_count_field(self.kind, other) == field for other, _ in self.kind._fields_ if other != field)

    def pointed(self, field: str, kind: Any, value: Any) -> Any:
        count = _count_field(self.kind, field)
        dtype, width = _POINTED.get(getattr(kind, "_type_", None), (None, 0))
        shape = self.shapes.get(field, (None,) if count and width == 1 else None)
        if dtype is None or shape is None:
            raise TypeError(f"{field}: it cannot be given from Python")
        values = array(value, dtype, shape, field)
        self.keep.append(values)
        if count:
            setattr(self.struct, count, len(values))
        return ctypes.cast(address(values), kind)

    @property
    def reference(self) -> Any:
        return ctypes.byref(self.struct)


_INTEGERS = {ctypes.c_uint8: (0, 2**8 - 1), ctypes.c_uint16: (0, 2**16 - 1), ctypes.c_uint32: (0, 2**32 - 1), ctypes.c_uint64: (0, 2**64 - 1),
             ctypes.c_int32: (-2**31, 2**31 - 1), ctypes.c_int64: (-2**63, 2**63 - 1), ctypes.c_int: (-2**31, 2**31 - 1)}


class Report(SimpleNamespace):
    """What a call says it did; fields are those of the C struct, arrays are copies."""

    def as_dict(self) -> dict[str, Any]:
        def plain(value: Any) -> Any:
            if isinstance(value, Report):
                return value.as_dict()
            if isinstance(value, list):
                return [plain(each) for each in value]
            return value.tolist() if isinstance(value, np.ndarray) else value
        return {name: plain(value) for name, value in vars(self).items()}


def report(struct: Any) -> Report:
    """A struct as Python's. Pointers whose length stands in another struct are left out."""
    kind, out = type(struct), {}
    for field, what in kind._fields_:
        if field in _SET_BY_US:
            continue
        value: Any = getattr(struct, field)
        found: Any = None
        enum_of = _api.ENUM_FIELDS.get(f"{kind.__name__}.{field}")
        if enum_of:
            found = enum_name(enum_of, value)
        elif isinstance(value, ctypes.Structure):
            found = report(value)
        elif isinstance(value, ctypes.Array):
            found = np.ctypeslib.as_array(value).copy()
        elif isinstance(value, bytes):
            found = value.decode(errors="replace")
        elif isinstance(value, ctypes._Pointer):
            count = _count_field(kind, field)
            if count is None:
                continue
            found = _items(value, int(getattr(struct, count))) if value else None
        else:
            found = value
        out[field] = found
    return Report(**out)


def _items(pointer: Any, count: int) -> Array | list[Any]:
    kind = pointer._type_
    if kind is ctypes.c_char_p:
        return [pointer[i].decode(errors="replace") if pointer[i] is not None else None for i in range(count)]
    if kind in _POINTED and _POINTED[kind][1] == 1:
        return np.ctypeslib.as_array(pointer, (count,)).copy() if count else np.empty(0, _POINTED[kind][0])
    return [report(pointer[i]) for i in range(count)]
