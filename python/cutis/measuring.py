"""Measures of deformed skin: volume, curvature, crossings, and how far two results are apart."""
from __future__ import annotations

import ctypes
from ctypes import POINTER, byref, cast
from typing import Any

import numpy as np

from . import _api
from ._core import Array, Handle, address, array, c, context
from ._structs import Report, report


class _Surface:
    def __init__(self, positions: Any, faces: Any):
        self.positions, self.faces = array(positions, np.float32, (None, 3), "positions"), array(faces, np.uint32, (None, 3), "faces")
        if self.faces.size and self.faces.max() >= len(self.positions):
            raise ValueError(f"faces: vertex {self.faces.max()} is named, there are {len(self.positions)}")
        self.struct = _api.cutis_surface(vertex_count=len(self.positions), triangle_count=len(self.faces),
                                         positions=cast(address(self.positions), POINTER(ctypes.c_float)), indices=cast(address(self.faces), POINTER(ctypes.c_uint32)))


def measure(positions: Any, faces: Any, rest: Any = None, crossings: bool = False) -> Report:
    """volume, diagonal, bounds, curvature (with edge stretch against `rest`), whether it is closed; with `crossings` also where it crosses itself."""
    surface = _Surface(positions, faces)
    before = array(rest, np.float32, surface.positions.shape, "rest") if rest is not None else None
    curvature, manifold = _api.cutis_curvature(), _api.cutis_manifold()
    c.cutis_surface_curvature(context(), byref(surface.struct), cast(address(before), POINTER(ctypes.c_float)) if before is not None else None, None, byref(curvature))
    c.cutis_surface_manifold(context(), byref(surface.struct), None, byref(manifold))
    bounds = c.cutis_surface_bounds(byref(surface.struct))
    corners = np.array([[getattr(corner, axis) for axis in "xyz"] for corner in (bounds.min, bounds.max)], np.float32)
    out = Report(volume=c.cutis_surface_volume(byref(surface.struct)), diagonal=c.cutis_surface_diagonal(byref(surface.struct)), bounds=corners,
                 curvature=report(curvature), manifold=report(manifold))
    if crossings:
        found = _api.cutis_crossings()
        c.cutis_surface_crossings(context(), byref(surface.struct), None, None, byref(found))
        out.crossings = report(found)
    return out


def compare(positions: Any, reference: Any, faces: Any, rest: Any) -> Report:
    """How far a result is from a reference: position_rms, position_max in % of the rest's diagonal, normal_rms, normal_max in radians."""
    surface = _Surface(rest, faces)
    a, b = (array(each, np.float32, surface.positions.shape, name) for each, name in ((positions, "positions"), (reference, "reference")))
    out = _api.cutis_difference()
    c.cutis_surface_compare(context(), byref(surface.struct), cast(address(a), POINTER(ctypes.c_float)), cast(address(b), POINTER(ctypes.c_float)), byref(out))
    return report(out)


def normals(positions: Any, faces: Any) -> Array:
    """Area-weighted unit normals; vertices at the same place share one."""
    surface, weld = _Surface(positions, faces), np.empty(len(positions), np.uint32)
    out, places = np.empty_like(surface.positions), cast(address(surface.positions), POINTER(ctypes.c_float))
    c.cutis_weld_positions(context(), len(weld), places, cast(address(weld), POINTER(ctypes.c_uint32)))
    c.cutis_surface_normals(context(), byref(surface.struct), cast(address(weld), POINTER(ctypes.c_uint32)), cast(address(out), POINTER(ctypes.c_float)))
    return out


def unite(positions: Any, faces: Any) -> Report:
    """The outside of a closed surface that crosses itself: positions, faces, origins (of each face the one it is cut from) and parts (of each
    corner its place in that face, in parts of its corners)."""
    surface, pointer = _Surface(positions, faces), ctypes.c_void_p()
    c.cutis_surface_unite(context(), byref(surface.struct), None, byref(pointer))
    united = Handle(pointer, c.cutis_united_destroy)
    data = c.cutis_united_get(united).contents
    vertices, triangles = data.surface.vertex_count, data.surface.triangle_count

    def take(values: Any, kind: Any, *shape: int) -> Array:
        return np.ctypeslib.as_array(values, shape).copy() if shape[0] else np.empty(shape, kind)
    return Report(positions=take(data.surface.positions, np.float32, vertices, 3), faces=take(data.surface.indices, np.uint32, triangles, 3),
                  origins=take(data.origins, np.uint32, triangles), parts=take(data.parts, np.float32, triangles, 3, 3))
