"""Blender's objects as arrays and models, without changing them.

A skin is computed in the space of its armature object, as Blender's Armature modifier does: object transforms, uneven scale too, are
undone before and done after. Its mesh is what the modifier sees: shape keys and the modifiers above it are applied, those below are not.
What is switched off to look at it is on again afterwards, whatever happens.
"""
from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field

import bpy
import numpy as np
from mathutils import Matrix
from mathutils.bvhtree import BVHTree

from . import cutis


class Refusal(Exception):
    """What was asked for cannot be done: one line for the user, and nothing was changed."""


# Modifiers that a new Armature modifier goes before: they want the posed body.
AFTER_ARMATURE = {"SUBSURF", "MULTIRES", "CORRECTIVE_SMOOTH", "SMOOTH", "LAPLACIANSMOOTH", "WEIGHTED_NORMAL", "NORMAL_EDIT", "SOLIDIFY", "BEVEL",
                  "TRIANGULATE", "DISPLACE", "CLOTH", "COLLISION"}


def array_of(matrix: Matrix) -> np.ndarray:
    return np.array(matrix, np.float64)


def armature_modifier(obj: bpy.types.Object) -> bpy.types.Modifier | None:
    return next((m for m in obj.modifiers if m.type == "ARMATURE" and m.object is not None), None)


def mesh_of(context: bpy.types.Context) -> bpy.types.Object | None:
    """The mesh that is meant: the active one, the one that a preview or ghost is of, or that the active armature moves."""
    active = context.view_layer.objects.active
    if active is None:
        return None
    if active.type == "MESH":
        return active.cutis.shows or active
    if active.type == "ARMATURE":
        moved = [o for o in context.view_layer.objects if o.type == "MESH" and not o.cutis.shows
                 and any(m.type == "ARMATURE" and m.object == active for m in o.modifiers)]
        return next((o for o in moved if o.select_get()), moved[0] if moved else None)
    return None


def armature_of(obj: bpy.types.Object | None) -> bpy.types.Object | None:
    found = armature_modifier(obj) if obj is not None else None
    return found.object if found else None


def need_mesh(context: bpy.types.Context, obj: bpy.types.Object | None = None) -> bpy.types.Object:
    obj = obj or mesh_of(context)
    if obj is None:
        raise Refusal("Cutis: a mesh, or an armature that moves one, is wanted as the active object")
    if obj.mode == "EDIT":
        raise Refusal(f"Cutis: {obj.name} is in edit mode; leave it first")
    if not len(obj.data.vertices):
        raise Refusal(f"Cutis: {obj.name} has no vertices")
    return obj


def need_skin(context: bpy.types.Context, obj: bpy.types.Object | None = None) -> tuple[bpy.types.Object, bpy.types.Object]:
    obj = need_mesh(context, obj)
    modifier = armature_modifier(obj)
    if modifier is None:
        raise Refusal(f"Cutis: {obj.name} has no Armature modifier with an armature; make one with Rig")
    if modifier.use_bone_envelopes or not modifier.use_vertex_groups or modifier.vertex_group:
        raise Refusal(f"Cutis: the modifier {modifier.name} of {obj.name} uses envelopes or a mask; only vertex groups are understood")
    if not any(bone.use_deform for bone in modifier.object.data.bones):
        raise Refusal(f"Cutis: {modifier.object.name} has no bone that deforms")
    return obj, modifier.object


# Looking without touching --------------------------------------------------------------------------

@contextmanager
def changed(*settings):
    """(owner, attribute, value) for a while."""
    before = [(owner, name, getattr(owner, name)) for owner, name, _ in settings]
    try:
        for owner, name, value in settings:
            if getattr(owner, name) != value:
                setattr(owner, name, value)
        bpy.context.view_layer.update()
        yield
    finally:
        for owner, name, value in before:
            if getattr(owner, name) != value:
                setattr(owner, name, value)
        bpy.context.view_layer.update()


@contextmanager
def current_frame(scene: bpy.types.Scene):
    """Frames may be set inside; the one that was is set again."""
    frame, part = scene.frame_current, scene.frame_subframe
    try:
        yield
    finally:
        scene.frame_set(frame, subframe=part)


@dataclass
class Shape:
    """A mesh as arrays, in its object's own space."""
    vertices: np.ndarray
    faces: np.ndarray           # triangles
    polygons: np.ndarray        # polygon of each triangle
    polygon_count: int
    materials: np.ndarray       # of each triangle
    groups: list = field(default_factory=list)   # per vertex: [(vertex group, weight)]


def _shape(mesh: bpy.types.Mesh, groups: bool) -> Shape:
    mesh.calc_loop_triangles()
    triangles, n = len(mesh.loop_triangles), len(mesh.vertices)
    vertices, faces, polygons, materials = np.empty(3 * n, np.float32), np.empty(3 * triangles, np.int32), np.empty(triangles, np.int32), np.empty(triangles, np.int32)
    mesh.vertices.foreach_get("co", vertices)
    mesh.loop_triangles.foreach_get("vertices", faces)
    mesh.loop_triangles.foreach_get("polygon_index", polygons)
    mesh.loop_triangles.foreach_get("material_index", materials)
    held = [[(g.group, g.weight) for g in v.groups] for v in mesh.vertices] if groups else []
    return Shape(vertices.reshape(-1, 3), faces.reshape(-1, 3).astype(np.uint32), polygons, len(mesh.polygons), materials, held)


def evaluated(obj: bpy.types.Object, groups: bool = False) -> Shape:
    """What the dependency graph has of it now, all modifiers applied."""
    of = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    mesh = of.to_mesh(preserve_all_data_layers=groups, depsgraph=bpy.context.evaluated_depsgraph_get())
    try:
        return _shape(mesh, groups)
    finally:
        of.to_mesh_clear()


def modifiers_below(obj: bpy.types.Object) -> list[bpy.types.Modifier]:
    """Those that see the posed body: below the Armature modifier, or where one would be put."""
    own = armature_modifier(obj)
    if own is not None:
        return list(obj.modifiers)[list(obj.modifiers).index(own) + 1:]
    out: list[bpy.types.Modifier] = []
    for modifier in reversed(obj.modifiers):
        if modifier.type not in AFTER_ARMATURE:
            break
        out.insert(0, modifier)
    return out


@contextmanager
def at_rest(obj: bpy.types.Object, basis: bool = False):
    """The mesh as its Armature modifier sees it, the armature in its rest pose; basis: without shape keys."""
    own, armature = armature_modifier(obj), armature_of(obj)
    off = ([own] if own else []) + modifiers_below(obj)
    settings = [(m, "show_viewport", False) for m in off if m.show_viewport]
    if armature is not None and armature.data.pose_position != "REST":
        settings.append((armature.data, "pose_position", "REST"))
    if basis and obj.data.shape_keys and obj.active_shape_key_index != 0:
        settings.append((obj, "active_shape_key_index", 0))
    if basis and obj.data.shape_keys and not obj.show_only_shape_key:
        settings.append((obj, "show_only_shape_key", True))
    if obj.hide_viewport:
        settings.append((obj, "hide_viewport", False))
    hidden = obj.hide_get()
    if hidden:
        obj.hide_set(False)
    try:
        with changed(*settings):
            yield
    finally:
        if hidden:
            obj.hide_set(True)


def seen_by_armature(obj: bpy.types.Object, basis: bool = False) -> Shape:
    with at_rest(obj, basis):
        shape = evaluated(obj, groups=True)
    if not len(shape.faces):
        raise Refusal(f"Cutis: {obj.name} has no faces")
    if not np.isfinite(shape.vertices).all():
        raise Refusal(f"Cutis: a vertex of {obj.name} is not a finite number")
    return shape


def triangles_of(obj: bpy.types.Object) -> np.ndarray:
    return _shape(obj.data, False).faces


# From what the modifier sees to the vertices that carry vertex groups --------------------------------

class Carried:
    """Values at the vertices that the modifier sees, read off at the mesh's own vertices: the same ones, or by the nearest place of the surface."""

    def __init__(self, obj: bpy.types.Object, shape: Shape):
        self.count, self.rows, self.parts = len(obj.data.vertices), None, None
        if len(shape.vertices) == self.count:
            return
        own = np.empty(3 * self.count, np.float32)
        obj.data.vertices.foreach_get("co", own)
        own = own.reshape(-1, 3)
        tree = BVHTree.FromPolygons(shape.vertices.tolist(), shape.faces.tolist())
        self.rows, self.parts = np.zeros((self.count, 3), int), np.zeros((self.count, 3))
        for i, place in enumerate(own):
            at, _, face, _ = tree.find_nearest(place)
            corners = shape.faces[face]
            a, b, c = shape.vertices[corners].astype(float)
            solved = np.linalg.lstsq(np.stack([b - a, c - a], 1), np.array(at) - a, rcond=None)[0]
            part = np.clip([1 - solved.sum(), *solved], 0, 1)
            self.rows[i], self.parts[i] = corners, part / part.sum()

    def __call__(self, values: np.ndarray) -> np.ndarray:
        return values if self.rows is None else (values[self.rows] * self.parts[..., None]).sum(1)


# Bones and models ------------------------------------------------------------------------------------

STILL = "(still)"  # carries vertices without weight, which Blender leaves where they are


def decomposed(matrix: np.ndarray) -> np.ndarray:
    place, turn, scale = Matrix(matrix).decompose()
    return np.array([*place, turn.x, turn.y, turn.z, turn.w, *scale], np.float32)


def composed(transform: np.ndarray) -> np.ndarray:
    x, y, z, w = (float(v) for v in transform[3:7])
    from mathutils import Quaternion
    return array_of(Matrix.LocRotScale(transform[:3].tolist(), Quaternion((w, x, y, z)).normalized(), transform[7:].tolist()))


class Bones:
    """An armature's bones, parents first, and its poses as nodes of a model: node 0 is the mesh, bone i is node 1 + i."""

    def __init__(self, armature: bpy.types.Object):
        self.armature = armature
        order: list[bpy.types.Bone] = []

        def walk(bone):
            order.append(bone)
            for child in bone.children:
                walk(child)
        for bone in armature.data.bones:
            if bone.parent is None:
                walk(bone)
        self.names = [b.name for b in order]
        index = {name: i for i, name in enumerate(self.names)}
        self.parents = np.array([index[b.parent.name] if b.parent else -1 for b in order], np.int32)
        self.rest_world = np.array([array_of(b.matrix_local) for b in order]).reshape(-1, 4, 4)
        self.deform = [i for i, b in enumerate(order) if b.use_deform]
        self.rest = self.local(self.rest_world)

    def local(self, world: np.ndarray) -> np.ndarray:
        """[bones, 10] of matrices in armature space."""
        out = np.empty((len(world), 10), np.float32)
        for i, parent in enumerate(self.parents):
            out[i] = decomposed(np.linalg.inv(world[parent]) @ world[i] if parent >= 0 else world[i])
        return out

    def posed(self, depsgraph=None) -> np.ndarray:
        """[bones, 4, 4]: matrices of the pose as it is, constraints and drivers done, armature space."""
        armature = self.armature.evaluated_get(depsgraph or bpy.context.evaluated_depsgraph_get())
        bones = armature.pose.bones
        return np.array([bones[name].matrix for name in self.names], np.float64)

    def pose(self, model: cutis.Model, world: np.ndarray) -> np.ndarray:
        """[nodes, 10] of a model made from these bones."""
        out = model.rest_pose()
        out[1:1 + len(world)] = self.local(world)
        return out


@dataclass
class Skin:
    """A mesh object with its armature, and the model made of them in armature space."""
    obj: bpy.types.Object
    armature: bpy.types.Object
    shape: Shape
    bones: Bones
    weights: np.ndarray         # [vertices seen, deforming bones], as the vertex groups have them
    to_armature: np.ndarray     # object space to armature space
    model: cutis.Model
    groups: list                # names of the deforming bones, the columns
    free: np.ndarray            # per vertex seen: it has no weight

    def placed(self, local: np.ndarray) -> np.ndarray:
        """Points of the object's space in armature space."""
        return (local @ self.to_armature[:3, :3].T + self.to_armature[:3, 3]).astype(np.float32)

    def brought_back(self, points: np.ndarray) -> np.ndarray:
        back = np.linalg.inv(self.to_armature)
        return (points @ back[:3, :3].T + back[:3, 3]).astype(np.float32)

    def world_matrices(self, world: np.ndarray) -> np.ndarray:
        """[nodes, 3, 4] for a binding: the mesh's node, bones, and what stays still."""
        out = np.tile(np.eye(4, dtype=np.float32)[:3], (self.model.node_count, 1, 1))
        out[1:1 + len(world)] = world[:, :3]
        return out

    @property
    def scale(self) -> float:
        """Metres of a unit of armature space."""
        return float(np.cbrt(abs(np.linalg.det(array_of(self.armature.matrix_world)[:3, :3])))) * bpy.context.scene.unit_settings.scale_length


def weights_of(obj: bpy.types.Object, shape: Shape, names: list[str]) -> np.ndarray:
    column = {obj.vertex_groups[name].index: i for i, name in enumerate(names) if name in obj.vertex_groups}
    out = np.zeros((len(shape.vertices), len(names)), np.float32)
    for row, held in zip(out, shape.groups):
        for group, weight in held:
            if group in column:
                row[column[group]] = weight
    return out


def make_skin(context: bpy.types.Context, obj: bpy.types.Object | None = None, *, automatic: bool = False, targets: dict | None = None, basis: bool = False) -> Skin:
    """automatic: weights are to be found, so that those there are do not matter."""
    obj, armature = need_skin(context, obj)
    shape, bones = seen_by_armature(obj, basis), Bones(armature)
    to_armature = np.linalg.inv(array_of(armature.matrix_world)) @ array_of(obj.matrix_world)
    if abs(np.linalg.det(to_armature[:3, :3])) < 1e-30 or not np.isfinite(to_armature).all():
        raise Refusal(f"Cutis: the transform of {obj.name} or {armature.name} has no inverse (a scale of zero)")
    groups = [bones.names[i] for i in bones.deform]
    weights = weights_of(obj, shape, groups)
    free = weights.sum(1) < 1e-4  # Blender's own bound
    names, parents, rest, bound = list(bones.names), list(bones.parents), list(bones.rest), list(bones.deform)
    used = weights
    if automatic:
        used = np.zeros_like(weights)
        used[:, 0] = 1
    elif free.any():
        names.append(STILL), parents.append(-1), rest.append(np.array([0, 0, 0, 0, 0, 0, 1, 1, 1, 1], np.float32)), bound.append(len(names) - 1)
        used = np.concatenate([np.where(free[:, None], 0, weights), free[:, None].astype(np.float32)], 1)
    places = (shape.vertices @ to_armature[:3, :3].T + to_armature[:3, 3]).astype(np.float32)
    model = cutis.Model.from_arrays(places, shape.faces, weights=used, joints=names, parents=parents, rest=np.array(rest), bound=bound, name=obj.name,
                                    targets={name: (moved @ to_armature[:3, :3].T).astype(np.float32) for name, moved in (targets or {}).items()})
    return Skin(obj, armature, shape, bones, weights, to_armature, model, groups, free)


def dense(weights) -> np.ndarray:
    return np.asarray(weights.todense() if hasattr(weights, "todense") else weights, np.float32)


def played_method(obj: bpy.types.Object) -> str:
    """What Blender's own modifier plays."""
    return "dqs" if armature_modifier(obj).use_deform_preserve_volume else "lbs"


def sampled(context: bpy.types.Context, armature: bpy.types.Object, first: int, last: int, read) -> list:
    """read() at every frame; the scene's frame is what it was afterwards."""
    out = []
    with current_frame(context.scene):
        for frame in range(first, last + 1):
            context.scene.frame_set(frame)
            out.append(read())
    return out
