"""Character skinning: read or make a model, deform it by any method on any device, fit, reduce, rig, bake and measure it.

    m = cutis.read("hero.glb")
    frames = m.deform("dqs", clip="walk", fps=30)        # float32 [frames, vertices, 3]
    four = cutis.reduce(m, 4); four.save("hero4.glb")

Everything of the C library is here too, as it stands in its headers: cutis.c.cutis_model_read(...).
"""
from __future__ import annotations

from ._core import Cancelled, Error, c, progress
from ._core import _VERSION as __version__
from ._structs import Report
from .deforming import Binding, Buffer, Device, Sampler, bind, devices, frame_times
from .fitting import bake, cage, fit, handles, limit, reduce, retarget, rig, skeleton, synth
from .measuring import compare, measure, normals, unite
from .model import Clip, Mesh, Model, Node, Primitive, check, read, read_clip
from .patching import patches
from .rendering import Image, render

__all__ = [
    "Binding", "Buffer", "Cancelled", "Clip", "Device", "Error", "Image", "Mesh", "Model", "Node", "Primitive", "Report", "Sampler", "__version__",
    "bake", "bind", "c", "cage", "check", "compare", "devices", "fit", "frame_times", "handles", "limit", "measure", "normals", "patches", "progress",
    "read", "read_clip", "reduce", "render", "retarget", "rig", "skeleton", "synth", "unite",
]
