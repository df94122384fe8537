"""Pictures: a model or plain vertices to an array that shows itself in a notebook. Needs what cutis-render needs (EGL, cairo)."""
from __future__ import annotations

import ctypes
import threading
from ctypes import POINTER, byref, cast
from typing import Any

import numpy as np

from . import _api
from ._core import Array, Handle, address, array, c, context
from ._structs import enum
from .measuring import _Surface
from .model import Model

_here = threading.local()  # a renderer belongs to its thread


class Image(np.ndarray):  # type: ignore[type-arg]
    """uint8 [height, width, 4], sRGB; a notebook shows it."""

    def png(self) -> bytes:
        if self.ndim != 3 or self.shape[2] != 4 or self.dtype != np.uint8:
            raise ValueError(f"a picture is uint8 [height, width, 4], this is {self.dtype} {self.shape}")
        pixels = np.ascontiguousarray(self)
        image = _api.cutis_image(pixels.shape[1], pixels.shape[0], cast(address(pixels), POINTER(ctypes.c_uint8)))
        data, size = ctypes.c_void_p(), ctypes.c_size_t()
        c.cutis_image_encode_png(context(), byref(image), byref(data), byref(size))
        try:
            return ctypes.string_at(data.value or 0, size.value)
        finally:
            c.cutis_memory_free(context(), data, size)

    def _repr_png_(self) -> bytes | None:
        return self.png() if self.ndim == 3 and self.shape[2] == 4 and self.dtype == np.uint8 else None


def _renderer() -> Handle:
    if getattr(_here, "renderer", None) is None:
        made = ctypes.c_void_p()
        c.cutis_renderer_create(context(), byref(made))
        _here.renderer = Handle(made, c.cutis_renderer_destroy)
    return _here.renderer  # type: ignore[no-any-return]


def render(what: Model | Any, faces: Any = None, *, values: Any = None, low: float = 0.0, high: float | None = None, colormap: str = "heat", width: int = 640,
           height: int = 480, yaw: float = 30.0, pitch: float = 12.0, wire: bool = False, dark: bool = False, color: Any = None) -> Image:
    """A picture of a model at rest, or of positions [vertices, 3] with faces; `values` per vertex colour it (`colormap`: heat, weight, diverging)."""
    positions, triangles = (what.vertices, what.faces) if isinstance(what, Model) else (what, faces)
    if triangles is None:
        raise TypeError("faces: positions need them")
    surface = _Surface(positions, triangles)
    drawn = _api.cutis_scene_surface(surface=surface.struct, wire=wire, map=enum("cutis_colormap", colormap, "colormap"))
    painted: Array | None = None
    if values is not None:
        painted = array(values, np.float32, (len(surface.positions),), "values")
        drawn.values, drawn.low = cast(address(painted), POINTER(ctypes.c_float)), low
        drawn.high = float(high if high is not None else painted.max() if painted.max() > low else low + 1)
    if color is not None:
        drawn.color = (ctypes.c_float * 4)(*array(color, np.float32, (4,), "color"))
    scene = _api.cutis_scene(surface_count=1, surfaces=ctypes.pointer(drawn), dark=dark, camera=_api.cutis_camera(yaw=yaw, pitch=pitch))
    image = _api.cutis_image()
    c.cutis_renderer_draw(_renderer(), byref(scene), width, height, byref(image))
    try:
        return np.ctypeslib.as_array(image.pixels, (image.height, image.width, 4)).copy().view(Image)
    finally:
        c.cutis_image_destroy(context(), byref(image))
