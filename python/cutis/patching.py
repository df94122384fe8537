"""Blending patches: every frame has vertices and triangles of its own."""
from __future__ import annotations

import ctypes
from collections.abc import Iterator
from ctypes import byref
from typing import Any

import numpy as np

from . import _api
from ._core import Array, address, array, c
from .deforming import Binding, _FIELDS, frame_times
from .model import Model


def patches(model: Model, clip: str | int | None = None, fps: float = 30.0, *, poses: Any = None, device: Any = None, **options: Any) -> Iterator[tuple[Array, Array]]:
    """(vertices, faces) of every frame. The model needs parts (cutis.skeleton). Options: patch_band="none", patch_fill, patch_removal."""
    if (clip is None) == (poses is None):
        raise TypeError("clip and poses: one of them")
    binding = Binding(model, "patches", device, **options)
    given = model.sample(clip, frame_times(model, clip, fps)) if clip is not None else array(poses, np.float32, (None, model.node_count, 10), "poses")
    info = binding.info
    for pose in given:
        yield _frame(binding, np.ascontiguousarray(pose), int(info.vertex_count), int(info.triangle_count))


def _frame(binding: Binding, pose: Array, vertex_count: int, triangle_count: int) -> tuple[Array, Array]:
    places, faces, counts = np.empty((vertex_count, 3), np.float32), np.empty((triangle_count, 3), np.uint32), np.zeros(2, np.uint32)
    given = _api.cutis_poses(local=ctypes.cast(address(pose), _FIELDS["local"]))
    outputs = _api.cutis_outputs()
    outputs.positions.data, outputs.topology.indices.data, outputs.topology.counts.data = address(places), address(faces), address(counts)
    c.cutis_deform(binding.pointer, byref(given), 1, byref(outputs))
    return places[: counts[0]], faces[: counts[1]]
