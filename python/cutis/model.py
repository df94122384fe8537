"""Models: read, look at, make from arrays, save. A model never changes; what edits it returns a new one."""
from __future__ import annotations

import ctypes
import operator
import os
from collections.abc import Mapping, Sequence
from ctypes import byref
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from . import _api
from ._core import Array, Handle, Owner, address, array, c, context, text, view
from ._structs import Options, Report, report

try:
    from scipy import sparse  # type: ignore
except ImportError:
    sparse = None

NONE = -1


@dataclass(frozen=True)
class Node:
    index: int
    name: str | None
    parent: int  #: another node, or -1
    rest: Array  #: local at rest: translation, rotation x y z w, scale
    mesh: int
    skin: int


@dataclass(frozen=True)
class Clip:
    index: int
    name: str | None
    duration: float  #: seconds
    channel_count: int


@dataclass(frozen=True)
class Primitive:
    """Arrays as the file has them, mesh space; views of the model's memory, or None."""
    positions: Array
    indices: Array
    normals: Array | None
    tangents: Array | None
    texcoords: Array | None
    colors: Array | None
    first: Array | None  #: influences of vertex v: first[v] to first[v + 1]
    joints: Array | None
    weights: Array | None
    material: int


@dataclass(frozen=True)
class Mesh:
    name: str | None
    primitives: tuple[Primitive, ...]


class Model(Owner):
    """A skinned model. Read one with cutis.read, make one with cutis.synth or Model.from_arrays."""

    report: Report | None = None  #: what the call that made it says it did

    def __init__(self, handle: Handle, made: Report | None = None):
        self._handle, self.report = handle, made

    @classmethod
    def _made(cls, pointer: ctypes.c_void_p, made: Report | None = None) -> Model:
        return cls(Handle(pointer, c.cutis_model_destroy), made)

    @property
    def _data(self) -> Any:
        """cutis_model_data, owned by the model."""
        return c.cutis_model_get(self.pointer).contents

    def __repr__(self) -> str:
        if self._handle is None:
            return "<cutis.Model, closed>"
        return f"<cutis.Model: {self.vertex_count} vertices, {len(self.faces)} triangles, {len(self.joints)} joints, {len(self.clips)} clips>"

    # What is in it -------------------------------------------------------------------------------

    @property
    def vertex_count(self) -> int:
        """Vertices of one output frame, over all meshes of the scene."""
        return int(c.cutis_model_vertex_count(self.pointer))

    @property
    def node_count(self) -> int:
        return int(self._data.node_count)

    @cached_property
    def vertices(self) -> Array:
        """float32 [vertices, 3]: at rest, world space, in the order of all outputs."""
        out: Array = self.deform("lbs")[0]
        out.flags.writeable = False  # a model never changes
        return out

    @cached_property
    def faces(self) -> Array:
        """uint32 [triangles, 3]: into vertices."""
        out = np.empty((int(c.cutis_model_triangle_count(self.pointer)), 3), np.uint32)
        c.cutis_model_triangles(self.pointer, out.ctypes.data_as(ctypes.POINTER(ctypes.c_uint32)))
        out.flags.writeable = False
        return out

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        data, handle = self._data, self.handle
        rests = [view(ctypes.pointer(data.nodes[i].rest), (10,), np.float32, handle) for i in range(data.node_count)]
        return tuple(Node(i, text(n.name), n.parent, rests[i], n.mesh, n.skin)  # type: ignore[arg-type]
                     for i, n in ((i, data.nodes[i]) for i in range(data.node_count)))

    @cached_property
    def joints(self) -> tuple[Node, ...]:
        """Nodes that are joints of a skin in use, in the order of the skins: the columns of `weights`."""
        return tuple(self.nodes[node] for node in self._columns)

    @cached_property
    def _columns(self) -> dict[int, int]:
        out: dict[int, int] = {}
        for instance in self.instances:
            if instance.skin != NONE:
                skin = self._data.skins[instance.skin]
                for j in range(skin.joint_count):
                    out.setdefault(skin.joints[j], len(out))
        return out

    @cached_property
    def instances(self) -> tuple[Any, ...]:
        """Meshes as the scene shows them: node, mesh, skin, vertex_first, vertex_count."""
        out = ctypes.POINTER(_api.cutis_instance)()
        count = c.cutis_model_instances(self.pointer, byref(out))
        return tuple(report(out[i]) for i in range(count))

    @cached_property
    def clips(self) -> tuple[Clip, ...]:
        data = self._data
        return tuple(Clip(i, text(data.clips[i].name), data.clips[i].duration, data.clips[i].channel_count) for i in range(data.clip_count))

    @cached_property
    def meshes(self) -> tuple[Mesh, ...]:
        data = self._data
        return tuple(Mesh(text(data.meshes[i].name), tuple(self._primitive(data.meshes[i].primitives[p]) for p in range(data.meshes[i].primitive_count)))
                     for i in range(data.mesh_count))

    def _primitive(self, p: Any) -> Primitive:
        n, influences, handle = p.vertex_count, p.influences, self.handle
        first = view(influences.first, (n + 1,), np.uint32, handle)
        total = int(first[-1]) if first is not None else 0
        arrays = {name: view(getattr(p, name), (n, width), np.float32, handle)
                  for name, width in (("positions", 3), ("normals", 3), ("tangents", 4), ("texcoords", 2), ("colors", 4))}
        return Primitive(indices=view(p.indices, (p.index_count,), np.uint32, handle), first=first,  # type: ignore[arg-type]
                         joints=view(influences.joints, (total,), np.uint32, handle), weights=view(influences.weights, (total,), np.float32, handle),
                         material=p.material, **arrays)  # type: ignore[arg-type]

    @cached_property
    def weights(self) -> Any:
        """Rows are vertices, columns `joints`, every row with weight sums to one: scipy's CSR matrix, or a dense array without scipy."""
        rows, columns, values = [], [], []
        for instance in self.instances:
            if instance.skin == NONE:
                continue
            skin, at = self._data.skins[instance.skin], instance.vertex_first
            column = np.array([self._columns[skin.joints[j]] for j in range(skin.joint_count)])
            for primitive in self.meshes[instance.mesh].primitives:
                n = len(primitive.positions)
                if primitive.first is not None and primitive.joints is not None and primitive.weights is not None:
                    row = np.repeat(np.arange(n), np.diff(primitive.first))
                    total = np.bincount(row, primitive.weights, n)
                    rows.append(at + row)
                    columns.append(column[primitive.joints])
                    values.append(primitive.weights / np.where(total[row] > 0, total[row], 1))
                at += n
        shape = (self.vertex_count, len(self.joints))
        i, j, w = (np.concatenate(each) if each else np.empty(0, int) for each in (rows, columns, values))
        if sparse is not None:
            out = sparse.csr_matrix((w.astype(np.float32), (i, j)), shape)
            out.eliminate_zeros()
            for part in (out.data, out.indices, out.indptr):
                part.flags.writeable = False
            return out
        dense = np.zeros(shape, np.float32)
        np.add.at(dense, (i, j), w)
        dense.flags.writeable = False
        return dense

    @property
    def issues(self) -> list[Report]:
        """What reading put right, or the gate repaired."""
        out = ctypes.POINTER(_api.cutis_issue)()
        return [report(out[i]) for i in range(c.cutis_model_issues(self.pointer, byref(out)))]

    def check(self, influences: int = 4) -> list[Report]:
        """What is wrong with the skin, if anything: code, place, text, count, severity."""
        return _issues(lambda out: c.cutis_model_check(self.pointer, influences, out))

    @property
    def _controls(self) -> Array:
        cage = self._data.cage
        if not cage:
            raise ValueError("this model has no cage: see cutis.cage")
        return view(cage.contents.controls, (cage.contents.control_count, 3), np.float32, self.handle)  # type: ignore[return-value]

    def find_clip(self, clip: str | int) -> int:
        """The number of a clip by its name; a number is taken as it is."""
        if not isinstance(clip, str):
            number = operator.index(clip)
            if not 0 <= number < self._data.clip_count:
                raise ValueError(f"clip: {number} is none of {self._data.clip_count}")
            return number
        found = ctypes.c_uint32()
        c.cutis_model_find_clip(self.pointer, clip.encode(), byref(found))
        return found.value

    def find_joint(self, name: str) -> int:
        """The node of a joint by its name."""
        found = ctypes.c_uint32()
        c.cutis_model_find_joint(self.pointer, name.encode(), byref(found))
        return found.value

    # Poses ---------------------------------------------------------------------------------------

    def rest_pose(self) -> Array:
        """float32 [nodes, 10]: local translation, rotation x y z w, scale of every node."""
        out = np.empty((self.node_count, 10), np.float32)
        c.cutis_pose_rest(self.pointer, _transforms(out), None)
        return out

    def world(self, pose: Any) -> Array:
        """float32 [nodes, 3, 4]: world matrices of a pose."""
        pose, out = array(pose, np.float32, (self.node_count, 10), "pose"), np.empty((self.node_count, 3, 4), np.float32)
        c.cutis_pose_world(self.pointer, _transforms(pose), out.ctypes.data_as(ctypes.POINTER(_api.cutis_mat34)))
        return out

    def sample(self, clip: str | int, seconds: Any, morphs: bool = False) -> Any:
        """The pose of a clip at a time, or [times, nodes, 10] at several; with morphs also their weights."""
        from .deforming import Sampler
        sampler, times = Sampler(self, clip), np.atleast_1d(np.asarray(seconds, np.float64))
        poses = np.empty((len(times), self.node_count, 10), np.float32)
        weights = np.empty((len(times), int(c.cutis_model_target_count(self.pointer))), np.float32)
        for i, t in enumerate(times):
            sampler(float(t), poses[i], weights[i])
        if np.ndim(seconds) == 0:
            poses, weights = poses[0], weights[0]
        return (poses, weights) if morphs else poses

    def deform(self, method: str = "lbs", clip: str | int | None = None, fps: float = 30.0, *, poses: Any = None, normals: bool = False,
               device: Any = None, out: Any = None, **options: Any) -> Any:
        """float32 [frames, vertices, 3]: a whole clip, or `poses` [frames, nodes, 10] (cage: controls [frames, controls, 3]), or the rest pose.
        With normals a pair. Options are those of cutis_bind_options: weighted_centres, max_influences, blend, ..."""
        from .deforming import play
        return play(self, method, clip, fps, poses, normals, device, out, options)

    # Making and saving ---------------------------------------------------------------------------

    @classmethod
    def from_arrays(cls, vertices: Any, faces: Any, *, weights: Any = None, joints: Sequence[str] | None = None, parents: Any = None, rest: Any = None,
                    normals: Any = None, texcoords: Any = None, name: str = "mesh", bound: Any = None, targets: Mapping[str, Any] | None = None) -> Model:
        """A model of one mesh. weights: [vertices, joints], dense or scipy's; joints: names; parents: joint or -1 each, before their children;
        rest: world positions [joints, 3], or local transforms [joints, 10]. bound: the joints that columns of weights are of (None: all); the
        others only carry them. targets: displacements [vertices, 3] of morph targets by name."""
        from .building import build
        return cls._made(build(vertices, faces, weights, joints, parents, rest, normals, texcoords, name, bound, targets))

    def with_clip(self, name: str, poses: Any, fps: float = 30.0, times: Any = None) -> Model:
        """The model with one more clip: poses [frames, nodes, 10] at `times` or at so many a second."""
        from .building import add_clip
        poses = array(poses, np.float32, (None, self.node_count, 10), "poses")
        times = np.arange(len(poses), dtype=np.float32) / np.float32(fps) if times is None else array(times, np.float32, (len(poses),), "times")
        return Model._made(add_clip(self, name, poses, times))

    def save(self, path: str | os.PathLike[str], **options: Any) -> None:
        """Write it by the name's ending (.glb .gltf .obj .ply .stl .bvh). Options: weights="u8", compression="meshopt", ascii=True, ..."""
        given = Options("cutis_write_options", options, {"unneeded_nodes": (self.node_count,)})
        c.cutis_model_write(self.pointer, os.fsencode(path), given.reference)


def _transforms(values: Array) -> Any:
    return ctypes.cast(address(values), ctypes.POINTER(_api.cutis_transform))


def _issues(call: Any) -> list[Report]:
    made, out = ctypes.c_void_p(), ctypes.POINTER(_api.cutis_issue)()
    call(byref(made))
    try:
        return [report(out[i]) for i in range(c.cutis_check_report_issues(made, byref(out)))]
    finally:
        c.cutis_check_report_destroy(made)


def read(path: str | os.PathLike[str], clip: str | os.PathLike[str] | None = None, **options: Any) -> Model:
    """Read a model: glTF, GLB, OBJ, PLY, OFF, STL, BVH, Cal3D. clip: a file whose clip is added. Options: up="z", units="cm", gate="repair", strict=True, ..."""
    made = ctypes.c_void_p()
    given = Options("cutis_read_options", {"keep_source": True, **options})
    c.cutis_model_read(context(), os.fsencode(path), given.reference, byref(made))
    model = Model._made(made)
    return model if clip is None else read_clip(model, clip)


def read_clip(model: Model, path: str | os.PathLike[str]) -> Model:
    """The model with the clip of another file; joints are matched by name (retarget: by meaning)."""
    made = ctypes.c_void_p()
    c.cutis_model_read_clip(model.pointer, os.fsencode(path), byref(made))
    return Model._made(made)


def check(path: str | os.PathLike[str]) -> list[Report]:
    """What is wrong with a file: of glTF the errors of the Khronos validator."""
    return _issues(lambda out: c.cutis_file_inspect(context(), os.fsencode(path), out))
