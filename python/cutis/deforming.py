"""Devices, bindings and frames: poses in, vertices out. A Binding's loop with `out` allocates no arrays."""
from __future__ import annotations

import ctypes
import math
from ctypes import byref
from typing import Any

import numpy as np

from . import _api, dlpack
from ._core import Array, Handle, Owner, address, array, c, context
from ._structs import Options, Report, enum, report
from .model import Model, _transforms

_KINDS = {"local": (np.float32, 10), "world": (np.float32, 12), "palette": (np.float32, 12), "controls": (np.float32, 3)}


class Device(Owner):
    """Where deforming runs: "cpu", "opencl", "cuda", with ":N" for the N-th; threads and isa are of the CPU."""

    def __init__(self, name: str = "cpu", *, threads: int = 0, isa: str = "auto"):
        kind, _, index = name.partition(":")
        options = Options("cutis_device_options", {"kind": kind, "index": int(index or 0), "thread_count": threads, "isa": isa})
        made = ctypes.c_void_p()
        c.cutis_device_create(context(), options.reference, byref(made))
        self._handle = Handle(made, c.cutis_device_destroy)
        self.kind = kind

    @property
    def info(self) -> Report:
        return report(c.cutis_device_describe(self.pointer))

    def finish(self) -> None:
        """Wait until everything that was started is done."""
        c.cutis_device_finish(self.pointer)

    def empty(self, shape: tuple[int, ...]) -> Buffer:
        """float32 memory on the device."""
        return Buffer(self, shape)

    @property
    def _stream(self) -> int | None:
        """CUDA: its stream, so that lenders of memory have their own work done first."""
        if self.kind != "cuda":
            return None
        native, queue = ctypes.c_uint64(), ctypes.c_uint64()
        c.cutis_device_native(self.pointer, byref(native), byref(queue))
        return queue.value or 1


def devices() -> list[Report]:
    """What there is, and what is not with its reason."""
    count = ctypes.c_uint32()
    c.cutis_device_list(context(), 0, None, byref(count))
    infos = (_api.cutis_device_info * count.value)()
    c.cutis_device_list(context(), count, infos, byref(count))
    return [report(each) for each in infos]


_devices: dict[str, Device] = {}


def device_named(device: Device | str | None) -> Device:
    """A device by its name, made once."""
    if isinstance(device, Device):
        return device
    name = device or "cpu"
    if name not in _devices:
        _devices[name] = Device(name)
    return _devices[name]


class Buffer(Owner):
    """float32 memory on a device. torch, cupy and numpy take it by DLPack: torch.from_dlpack(buffer)."""

    def __init__(self, device: Device, shape: tuple[int, ...]):
        self.device, self.shape = device, tuple(int(n) for n in shape)
        if any(n <= 0 for n in self.shape):
            raise ValueError(f"shape: {self.shape} holds nothing")
        made = ctypes.c_void_p()
        c.cutis_buffer_create(device.pointer, 4 * math.prod(self.shape), byref(made))
        self._handle = Handle(made, c.cutis_buffer_destroy, device.handle)
        self.shared = False  #: somebody has taken it by DLPack

    def numpy(self) -> Array:
        """A copy on the host."""
        out = np.empty(self.shape, np.float32)
        c.cutis_buffer_read(self.pointer, 0, address(out), out.nbytes)
        return out

    def write(self, values: Any) -> None:
        values = array(values, np.float32, self.shape, "values")
        c.cutis_buffer_write(self.pointer, 0, address(values), values.nbytes)

    def __dlpack_device__(self) -> tuple[int, int]:
        kinds = {"cpu": dlpack.CPU, "cuda": dlpack.CUDA}
        if self.device.kind not in kinds:
            raise BufferError(f"memory of {self.device.kind} has no place in DLPack")
        return kinds[self.device.kind], int(self.device.info.index) if self.device.kind == "cuda" else 0

    def __dlpack__(self, *, stream: Any = None, **_: Any) -> Any:
        kind, number = self.__dlpack_device__()
        self.device.finish()  # whatever stream the taker uses
        self.shared = True
        return dlpack.lend(int(c.cutis_buffer_handle(self.pointer)), self.shape, kind, number, self.handle)


class Sampler(Owner):
    """A clip made ready: sampler(seconds, pose, morphs) fills a pose in place."""

    def __init__(self, model: Model, clip: str | int):
        made = ctypes.c_void_p()
        c.cutis_sampler_create(model.pointer, model.find_clip(clip), byref(made))
        self._handle = Handle(made, c.cutis_sampler_destroy)
        self.node_count, self.target_count = model.node_count, int(c.cutis_model_target_count(model.pointer))

    @property
    def duration(self) -> float:
        return float(c.cutis_sampler_duration(self.pointer))

    def __call__(self, seconds: float, pose: Array, morphs: Array | None = None) -> None:
        _writable(pose, (self.node_count, 10), "pose")
        if morphs is not None:
            _writable(morphs, (self.target_count,), "morphs")
        weights = ctypes.cast(address(morphs), ctypes.POINTER(ctypes.c_float)) if morphs is not None and morphs.size else None
        c.cutis_sampler_sample(self.pointer, seconds, _transforms(pose), weights)


def _writable(out: Any, shape: tuple[int, ...], name: str) -> None:
    if not isinstance(out, np.ndarray) or out.dtype != np.float32:
        raise TypeError(f"{name}: a float32 array is wanted, this is {getattr(out, 'dtype', type(out).__name__)}")
    if out.shape != shape:
        raise ValueError(f"{name}: the shape {shape} is wanted, this is {out.shape}")
    if not out.flags.writeable:
        raise ValueError(f"{name}: it is read-only")
    if not out.flags.c_contiguous:
        raise ValueError(f"{name}: memory in C order is wanted, without gaps")


class _Output:
    """Where positions or normals go: a numpy array, a Buffer, or a tensor lent by DLPack."""

    def __init__(self, out: Any, shape: tuple[int, ...], device: Device, name: str):
        self.stream, self.kept = _api.cutis_stream(), None
        self.lent: dlpack.Lent | None = None
        self.wrapped: ctypes.c_void_p | None = None
        if isinstance(out, np.ndarray):
            _writable(out, shape, name)
            self.stream.data = address(out)
        elif isinstance(out, Buffer):
            if out.shape != shape:
                raise ValueError(f"{name}: the shape {shape} is wanted, this is {out.shape}")
            self.kept = out.handle
            self.stream.buffer = out.handle.pointer
        else:
            self._lend(out, shape, device, name)

    def _lend(self, out: Any, shape: tuple[int, ...], device: Device, name: str) -> None:
        where = dlpack.device_of(out)
        if where is None:
            raise TypeError(f"{name}: an array is wanted, this is {type(out).__name__}")
        on_host = where[0] in (dlpack.CPU, dlpack.CUDA_HOST)
        if not on_host and (where[0] != dlpack.CUDA or device.kind != "cuda" or where[1] != device.info.index):
            raise ValueError(f"{name}: it lies on another device than the binding ({device.kind})")
        self.lent = dlpack.Lent(out, name, None if on_host else device._stream)
        if self.lent.shape != shape:
            have = self.lent.shape
            self.close()
            raise ValueError(f"{name}: the shape {shape} is wanted, this is {have}")
        if on_host:
            self.stream.data = self.lent.address
            return
        wrapped = ctypes.c_void_p()
        try:
            c.cutis_buffer_wrap(device.pointer, self.lent.address, 4 * math.prod(shape), byref(wrapped))
        except BaseException:
            self.close()
            raise
        self.wrapped = self.stream.buffer = wrapped

    def close(self) -> None:
        if self.wrapped:
            c.cutis_buffer_destroy(self.wrapped)
            self.wrapped = None
        if self.lent:
            self.lent.release()
            self.lent = None


class Binding(Owner):
    """A model bound to a method on a device: binding.deform(pose, out=positions) every frame."""

    def __init__(self, model: Model, method: str = "lbs", device: Device | str | None = None, **options: Any):
        self.model, self.device = model, device_named(device)
        given = Options("cutis_bind_options", options, {"blend": (model.vertex_count,)}, method=method)
        made = ctypes.c_void_p()
        c.cutis_bind(self.device.pointer, model.pointer, given.reference, byref(made))
        self._handle = Handle(made, c.cutis_binding_destroy, model.handle, self.device.handle)
        self.method, self.vertex_count = method, model.vertex_count
        self.changes_topology = method == "patches"
        self._morph_count = int(c.cutis_model_target_count(model.pointer))
        self._counts = {"local": model.node_count, "world": model.node_count}
        bones = int(self.info.bone_count)
        self._counts |= {"palette": bones, "controls": bones}

    @property
    def info(self) -> Report:
        return report(c.cutis_binding_describe(self.pointer))

    def deform(self, pose: Any, out: Any = None, *, normals: Any = None, morphs: Any = None, kind: str | None = None) -> Any:
        """Positions [vertices, 3] of one pose [nodes, 10], or [n, vertices, 3] of n poses. kind: "local" (default), "world" or "palette"
        ([bones, 3, 4]), "controls" ([controls, 3], the default of a cage). out and normals: arrays, Buffers or DLPack tensors."""
        if self.changes_topology:
            raise TypeError("patches make vertices anew in every frame: see cutis.patches")
        kind = kind or ("controls" if self.method == "cage" else "local")
        values, count, single = self._poses(pose, kind)
        shape = (self.vertex_count, 3) if single else (count, self.vertex_count, 3)
        if out is None:
            out = np.empty(shape, np.float32)
        poses = _api.cutis_poses(kind=enum("cutis_pose_kind", kind, "kind"))
        setattr(poses, {"local": "local", "controls": "controls"}.get(kind, "matrices"), ctypes.cast(address(values), _FIELDS[kind]))
        if morphs is not None:
            morphs = array(morphs, np.float32, (self._morph_count,) if single else (count, self._morph_count), "morphs")
            poses.morph_weights = ctypes.cast(address(morphs), ctypes.POINTER(ctypes.c_float))
        self._run(poses, count, out, normals, shape)
        return out

    def _poses(self, pose: Any, kind: str) -> tuple[Array, int, bool]:
        if kind not in _KINDS:
            raise ValueError(f"kind: {kind!r} is none of {', '.join(_KINDS)}")
        dtype, width = _KINDS[kind]
        values = np.asarray(pose)
        if values.dtype != dtype or not values.flags.c_contiguous:
            if values.dtype.kind not in "fiu":
                raise TypeError(f"pose: float32 is wanted, this is {values.dtype}")
            values = np.ascontiguousarray(values, dtype)
        each = self._counts[kind] * width
        inner = (self._counts[kind], 3, 4) if width == 12 else (self._counts[kind], width)
        if values.shape == inner:
            return values, 1, True
        if values.ndim == len(inner) + 1 and values.shape[1:] == inner and len(values) and each:
            return values, len(values), False
        raise ValueError(f"pose: the shape {inner}, or several of them, is wanted, this is {values.shape}")

    def _run(self, poses: Any, count: int, out: Any, normals: Any, shape: tuple[int, ...]) -> None:
        outputs, held = _api.cutis_outputs(), []
        try:
            held.append(_Output(out, shape, self.device, "out"))
            outputs.positions = held[0].stream
            if normals is not None:
                held.append(_Output(normals, shape, self.device, "normals"))
                outputs.normals = held[1].stream
            c.cutis_deform(self.pointer, byref(poses), count, byref(outputs))
            if any(each.wrapped for each in held) or any(isinstance(each, Buffer) and each.shared for each in (out, normals)):
                self.device.finish()  # others may read it at once, on streams of their own
        finally:
            for each in held:
                each.close()


_FIELDS: dict[str, Any] = {"local": ctypes.POINTER(_api.cutis_transform), "world": ctypes.POINTER(_api.cutis_mat34), "palette": ctypes.POINTER(_api.cutis_mat34),
           "controls": ctypes.POINTER(_api.cutis_float3)}


def bind(model: Model, method: str = "lbs", device: Device | str | None = None, **options: Any) -> Binding:
    """Bind once, deform often. Options are those of cutis_bind_options: normals=True, weighted_centres=True, max_influences=4, blend=..., ..."""
    return Binding(model, method, device, **options)


def frame_times(model: Model, clip: str | int, fps: float) -> Array:
    """Seconds of a clip's frames, as the command has them: from 0, the last at or before its end."""
    last = math.floor(model.clips[model.find_clip(clip)].duration * fps + 1e-4)
    return np.arange(last + 1) / fps


def play(model: Model, method: str, clip: str | int | None, fps: float, poses: Any, normals: bool, device: Any, out: Any, options: dict[str, Any]) -> Any:
    if clip is not None and poses is not None:
        raise TypeError("clip and poses: one of them")
    binding, morphs = bind(model, method, device, normals=bool(normals), **options), None
    if clip is not None:
        poses, morphs = model.sample(clip, frame_times(model, clip, fps), morphs=True)
    elif poses is None:
        poses = model._controls[None] if method == "cage" else model.rest_pose()[None]
    if morphs is not None and not morphs.size:
        morphs = None
    shape = (len(poses), model.vertex_count, 3)
    side = np.empty(shape, np.float32) if normals else None
    positions = binding.deform(poses, np.empty(shape, np.float32) if out is None else out, normals=side, morphs=morphs)
    return (positions, side) if normals else positions
