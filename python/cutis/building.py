"""cutis_model_data from arrays: what Model.from_arrays and with_clip hand to the gate, which checks everything again."""
from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from ctypes import POINTER, byref, cast
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _api
from ._core import Array, address, array, c, context

if TYPE_CHECKING:
    from .model import Model

_PATHS = (("translation", slice(0, 3)), ("rotation", slice(3, 7)), ("scale", slice(7, 10)))


def _pointer(values: Array | None, kind: Any) -> Any:
    return cast(address(values), POINTER(kind)) if values is not None else None


def _rows(weights: Any, vertex_count: int, joint_count: int) -> tuple[Array, Array, Array]:
    """first, joints, weights of the entries above zero, by vertex."""
    if hasattr(weights, "tocsr"):
        rows = weights.tocsr(copy=True)
        rows.sum_duplicates()
        if rows.shape != (vertex_count, joint_count):
            raise ValueError(f"weights: the shape {(vertex_count, joint_count)} is wanted, this is {rows.shape}")
        return rows.indptr.astype(np.uint32), rows.indices.astype(np.uint32), array(rows.data, np.float32, (None,), "weights")
    dense = array(weights, np.float32, (vertex_count, joint_count), "weights")
    vertex, joint = np.nonzero(dense)
    first = np.zeros(vertex_count + 1, np.uint32)
    np.cumsum(np.bincount(vertex, minlength=vertex_count), out=first[1:])
    return first, joint.astype(np.uint32), np.ascontiguousarray(dense[vertex, joint])


def _rests(rest: Any, parents: Array, count: int) -> Array:
    """Local transforms of joints given by world positions or by themselves."""
    values = np.asarray(rest)
    if values.ndim == 2 and values.shape[1] == 10:
        return array(rest, np.float32, (count, 10), "rest")
    places = array(rest, np.float32, (count, 3), "rest")
    out = np.tile(np.array([0, 0, 0, 0, 0, 0, 1, 1, 1, 1], np.float32), (count, 1))
    out[:, :3] = places - np.where(parents[:, None] >= 0, places[np.maximum(parents, 0)], 0)
    return out


def _inverse_binds(rests: Array, parents: Array) -> Array:
    """World at rest, inverted: [joints, 12]."""
    local = (_api.cutis_transform * len(rests)).from_buffer(rests)  # type: ignore[arg-type]
    world: list[Any] = []
    out = (_api.cutis_mat34 * len(rests))()
    for i, parent in enumerate(parents):
        own = c.cutis_mat34_from_transform(byref(local[i]))
        world.append(c.cutis_mat34_multiply(byref(world[parent]), byref(own)) if parent >= 0 else own)
        if not c.cutis_mat34_invert(byref(world[i]), byref(out[i])):
            raise ValueError(f"rest: the transform of joint {i} is singular")
    binds: Array = np.ctypeslib.as_array(ctypes.cast(out, POINTER(ctypes.c_float)), (len(rests), 12)).copy()
    return binds


def _targets(mesh: Any, primitive: Any, targets: Mapping[str, Any], vertex_count: int) -> list[Any]:
    moved = [array(values, np.float32, (vertex_count, 3), f"targets: {name}") for name, values in targets.items()]
    each = (_api.cutis_morph_target * len(moved))(*(_api.cutis_morph_target(positions=_pointer(values, ctypes.c_float)) for values in moved))
    names = (ctypes.c_char_p * len(moved))(*(str(name).encode() for name in targets))
    primitive.targets, mesh.target_count, mesh.target_names = each, len(moved), names
    return [moved, each, names]


def build(vertices: Any, faces: Any, weights: Any, joints: Sequence[str] | None, parents: Any, rest: Any, normals: Any, texcoords: Any, name: str,
          bound: Any = None, targets: Mapping[str, Any] | None = None) -> ctypes.c_void_p:
    places = array(vertices, np.float32, (None, 3), "vertices")
    triangles = array(faces, np.uint32, (None, 3), "faces")
    n = len(places)
    if triangles.size and triangles.max() >= n:
        raise ValueError(f"faces: vertex {triangles.max()} is named, there are {n}")
    sides = array(normals, np.float32, (n, 3), "normals") if normals is not None else None
    coordinates = array(texcoords, np.float32, (n, 2), "texcoords") if texcoords is not None else None
    primitive = _api.cutis_primitive(vertex_count=n, index_count=triangles.size, material=-1)
    primitive.indices, primitive.positions = _pointer(triangles, ctypes.c_uint32), _pointer(places, ctypes.c_float)
    primitive.normals, primitive.texcoords = _pointer(sides, ctypes.c_float), _pointer(coordinates, ctypes.c_float)
    skinned = weights is not None
    if skinned != (joints is not None) or skinned != (rest is not None):
        raise TypeError("weights, joints and rest come together")
    count = len(joints) if joints is not None else 0
    nodes = (_api.cutis_node * (1 + count))(*(c.cutis_node_default() for _ in range(1 + count)))
    nodes[0].name, nodes[0].mesh = name.encode(), 0
    data = _api.cutis_model_data(node_count=1 + count, mesh_count=1)
    keep: list[Any] = [places, triangles, sides, coordinates, nodes]
    if skinned:
        keep += _skin(data, primitive, nodes, weights, list(joints or ()), parents, rest, n, bound)
    mesh = _api.cutis_mesh(name=name.encode(), primitive_count=1)
    if targets:
        keep += _targets(mesh, primitive, targets, n)
    mesh.primitives = ctypes.pointer(primitive)
    data.nodes, data.meshes = nodes, ctypes.pointer(mesh)
    made = ctypes.c_void_p()
    c.cutis_model_create(context(), byref(data), _api.cutis_gate["CUTIS_GATE_REFUSE"], byref(made))
    return made


def _skin(data: Any, primitive: Any, nodes: Any, weights: Any, joints: list[str], parents: Any, rest: Any, vertex_count: int, bound: Any) -> list[Any]:
    count = len(joints)
    columns = np.arange(count, dtype=np.uint32) if bound is None else array(bound, np.uint32, (None,), "bound")
    if columns.size and (columns.max() >= count or len(np.unique(columns)) != len(columns)):
        raise ValueError(f"bound: {count} joints are there, each once")
    above = array(parents if parents is not None else np.arange(count) - 1, np.int32, (count,), "parents")
    wrong = next((i for i in range(count) if not -1 <= above[i] < i), None)
    if wrong is not None:
        raise ValueError(f"parents: joint {wrong} has the parent {above[wrong]}; parents come before their children, -1 is none")
    rests = np.ascontiguousarray(_rests(rest, above, count))
    first, which, values = _rows(weights, vertex_count, len(columns))
    if values.size and values.min() < 0:
        raise ValueError("weights: one is negative")
    for i, name in enumerate(joints):
        nodes[1 + i].name, nodes[1 + i].parent = str(name).encode(), int(above[i]) + 1 if above[i] >= 0 else -1
        nodes[1 + i].rest = _api.cutis_transform.from_buffer(rests[i:i + 1])  # type: ignore[arg-type]
    own, binds = columns + np.uint32(1), np.ascontiguousarray(_inverse_binds(rests, above)[columns])
    skin = c.cutis_skin_default()
    skin.joint_count, skin.joints, skin.inverse_binds = len(own), _pointer(own, ctypes.c_uint32), _pointer(binds, _api.cutis_mat34)
    influences = primitive.influences
    influences.first, influences.joints, influences.weights = _pointer(first, ctypes.c_uint32), _pointer(which, ctypes.c_uint32), _pointer(values, ctypes.c_float)
    nodes[0].skin = 0
    data.skin_count, data.skins = 1, ctypes.pointer(skin)
    return [rests, first, which, values, own, binds, skin]


def add_clip(model: Model, name: str, poses: Array, times: Array) -> ctypes.c_void_p:
    """Tracks of what moves: a node and path with one value all along has none unless it is not at rest."""
    data, rest, channels, keep = model._data, model.rest_pose(), [], []
    if not len(poses):
        raise ValueError("poses: there are none")
    for node in range(data.node_count):
        if data.nodes[node].matrix:
            continue
        for path, part in _PATHS:
            values = np.ascontiguousarray(poses[:, node, part])
            if np.array_equal(values, np.broadcast_to(rest[node, part], values.shape)):
                continue
            keep.append(values)
            channels.append(_api.cutis_channel(node=node, path=_api.cutis_path[f"CUTIS_PATH_{path.upper()}"], key_count=len(times),
                                               times=_pointer(times, ctypes.c_float), values=_pointer(values, ctypes.c_float)))
    if not channels:
        raise ValueError("poses: nothing moves")
    tracks = (_api.cutis_channel * len(channels))(*channels)
    clips = (_api.cutis_clip * (data.clip_count + 1))()
    for i in range(data.clip_count):
        clips[i] = data.clips[i]
    clips[data.clip_count] = _api.cutis_clip(name=name.encode(), channel_count=len(channels), channels=tracks)
    changed = _api.cutis_model_data()
    ctypes.memmove(byref(changed), byref(data), ctypes.sizeof(changed))
    changed.clip_count, changed.clips = data.clip_count + 1, clips
    made = ctypes.c_void_p()
    c.cutis_model_create(context(), byref(changed), _api.cutis_gate["CUTIS_GATE_REFUSE"], byref(made))
    return made
