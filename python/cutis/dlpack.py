"""DLPack both ways: memory of torch, cupy and others as outputs, and our device buffers as their tensors.

A tensor that is lent to us is given back (its deleter is called) as soon as the call that wrote it is over.
"""
from __future__ import annotations

import ctypes
from typing import Any

CPU, CUDA, CUDA_HOST = 1, 2, 3


class _Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


class _Managed(ctypes.Structure):
    pass


_Deleter = ctypes.CFUNCTYPE(None, ctypes.POINTER(_Managed))
_Managed._fields_ = [("tensor", _Tensor), ("manager", ctypes.c_void_p), ("deleter", _Deleter)]

_api = ctypes.pythonapi
_api.PyCapsule_GetPointer.restype = ctypes.c_void_p
_api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
_api.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]
_api.PyCapsule_New.restype = ctypes.py_object
_api.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_api.PyCapsule_IsValid.argtypes = [ctypes.py_object, ctypes.c_char_p]
_USED = b"used_dltensor"  # names are not copied by Python: this must live


class Lent:
    """A tensor of another library while we use it: address, shape, in C order and of float32, or an exception that names `argument`."""

    def __init__(self, holder: Any, argument: str, stream: int | None = None):
        capsule = holder.__dlpack__(stream=stream) if stream else holder.__dlpack__()
        self._managed: Any = ctypes.cast(_api.PyCapsule_GetPointer(capsule, b"dltensor"), ctypes.POINTER(_Managed))
        _api.PyCapsule_SetName(capsule, _USED)
        tensor = self._managed.contents.tensor
        self.shape = tuple(tensor.shape[i] for i in range(tensor.ndim))
        self.address = (tensor.data or 0) + tensor.byte_offset
        if (tensor.code, tensor.bits, tensor.lanes) != (2, 32, 1):
            self._fail(f"{argument}: float32 is wanted, this is of code {tensor.code} and {tensor.bits} bits")
        step = 1
        for i in range(tensor.ndim - 1, -1, -1):
            if tensor.strides and tensor.shape[i] > 1 and tensor.strides[i] != step:
                self._fail(f"{argument}: memory in C order is wanted, without gaps")
            step *= tensor.shape[i]

    def _fail(self, line: str) -> None:
        self.release()
        raise TypeError(line)

    def release(self) -> None:
        managed, self._managed = self._managed, None
        if managed and managed.contents.deleter:
            managed.contents.deleter(managed)


def device_of(value: Any) -> tuple[int, int] | None:
    """(kind, number) of what holds a tensor; None: it holds none."""
    if not hasattr(value, "__dlpack__") or not hasattr(value, "__dlpack_device__"):
        return None
    kind, number = value.__dlpack_device__()
    return int(kind), int(number)


_lent_out: dict[int, Any] = {}  # by the address of the struct: what must live until its deleter is called


@_Deleter  # type: ignore[misc]
def _delete(managed: Any) -> None:
    _lent_out.pop(ctypes.addressof(managed.contents), None)


@ctypes.CFUNCTYPE(None, ctypes.c_void_p)  # type: ignore[misc]
def _drop(capsule: int) -> None:
    """The capsule dies without having been used by anybody."""
    holder = ctypes.cast(capsule, ctypes.py_object)
    if _api.PyCapsule_IsValid(holder, b"dltensor"):
        _lent_out.pop(_api.PyCapsule_GetPointer(holder, b"dltensor"), None)


_NAME = b"dltensor"


def lend(address: int, shape: tuple[int, ...], kind: int, number: int, owner: Any) -> Any:
    """A capsule of float32 memory; `owner` lives until whoever took it is done."""
    sizes = (ctypes.c_int64 * len(shape))(*shape)
    tensor = _Tensor(address, kind, number, len(shape), 2, 32, 1, ctypes.cast(sizes, ctypes.POINTER(ctypes.c_int64)), None, 0)
    managed = _Managed(tensor, None, _delete)
    _lent_out[ctypes.addressof(managed)] = (managed, sizes, owner)
    return _api.PyCapsule_New(ctypes.addressof(managed), _NAME, ctypes.cast(_drop, ctypes.c_void_p))
