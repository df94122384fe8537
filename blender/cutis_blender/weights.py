"""Weights: automatic, reduced to few, one bone for loose pieces, mirrored. Locked vertex groups stay, groups that are no bones too."""
from __future__ import annotations

import bpy
import numpy as np
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty
from mathutils.kdtree import KDTree

from . import cutis
from .change import locked_columns, own_weights, with_locks, write_weights
from .rig import piece_labels
from .scene import Carried, Refusal, dense, make_skin
from .task import Task


def finish_weights(skin, seen: np.ndarray, limit: int = 0, rows: np.ndarray | None = None) -> int:
    """Weights of the vertices that the modifier sees, to the vertex groups; `rows`: only these of the mesh's own vertices. Says how many groups were locked."""
    names, obj = skin.groups, skin.obj
    old, new, locked = own_weights(obj, names), Carried(obj, skin.shape)(seen), locked_columns(obj, names)
    out = with_locks(old, new, locked, limit) if locked.any() or limit else new
    if rows is not None:
        out = np.where(rows[:, None], out, old)
    write_weights(obj, names, out)
    return int(locked.sum())


def columns_of(skin, model) -> np.ndarray:
    """A model's weights by the skin's deforming bones."""
    values, names = dense(model.weights), {joint.name: i for i, joint in enumerate(model.joints)}
    return np.stack([values[:, names[name]] if name in names else np.zeros(len(values), np.float32) for name in skin.groups], 1)


def locked_text(count: int) -> str:
    return f", {count} locked groups kept" if count else ""


class CUTIS_OT_automatic(Task, bpy.types.Operator):
    """Automatic weights for the bones that deform the active mesh"""
    bl_idname = "cutis.automatic_weights"
    bl_label = "Automatic Weights"
    options = {
        "influences": IntProperty(name="Influences", default=4, min=1, max=16, description="Weights a vertex"),
        "voxels": IntProperty(name="Voxels", default=128, min=8, max=512, description="Along the longest side: more for limbs that are close together"),
        "softness": FloatProperty(name="Softness", default=0.25, min=0.01, max=0.5, description="Part of a bone next to a joint that bends with it"),
        "every_bone": BoolProperty(name="Every Bone", description="Also bones that artists give no weight: a root that only carries the rig"),
    }

    def prepare(self, context):
        skin = self._skin = make_skin(context, automatic=True)
        options = {"influences": self.influences, "voxels": self.voxels, "softness": self.softness, "every_joint": self.every_bone}
        return lambda: cutis.handles(skin.model, **options)

    def finish(self, context, made):
        locked = finish_weights(self._skin, columns_of(self._skin, made), self.influences)
        report = made.report
        self.say(context, f"Cutis: weights of {len(self._skin.groups)} bones on {report.domain_voxels} voxels, {report.rigid_islands} loose pieces rigid{locked_text(locked)}")


class CUTIS_OT_reduce(Task, bpy.types.Operator):
    """At most so many influences a vertex, which deform as all did"""
    bl_idname = "cutis.reduce_weights"
    bl_label = "Reduce"
    options = {
        "influences": IntProperty(name="Influences", default=4, min=1, max=16, description="At most so many a vertex"),
        "effort": EnumProperty(name="Effort", items=[("normal", "Normal", ""), ("fast", "Fast", ""), ("best", "Best", "")]),
        "max_error": FloatProperty(name="Max Error", default=0, min=0, unit="LENGTH", subtype="DISTANCE",
                                   description="As few influences as keep every vertex within this distance, at most the number above; 0: no bound"),
    }

    def prepare(self, context):
        skin = self._skin = make_skin(context)
        if not skin.weights.any():
            raise Refusal(f"Cutis: no vertex group of {skin.obj.name} has a bone's name and weight")
        bound = self.max_error / skin.scale * context.scene.unit_settings.scale_length
        return lambda: cutis.reduce(skin.model, self.influences, effort=self.effort, **({"max_error": bound} if bound else {}))

    def finish(self, context, made):
        locked = finish_weights(self._skin, columns_of(self._skin, made), self.influences)
        rows, report = made.report.rows, made.report
        other = f"; the largest alone: {rows[1].random_position:.4f} %" if len(rows) > 1 else ""
        self.say(context, f"Cutis: {rows[0].max_influences} influences at most, {report.reduced_count} of {report.vertex_count} vertices changed; "
                          f"{rows[0].random_position:.4f} % of the size off in poses nobody showed{other}{locked_text(locked)}")


class CUTIS_OT_islands(Task, bpy.types.Operator):
    """Loose pieces (buttons, eyes, plates) move as one: every piece but the largest"""
    bl_idname = "cutis.rigid_pieces"
    bl_label = "Rigid Pieces"
    options = {
        "follow": EnumProperty(name="Follow", items=[("bone", "One Bone", "The bone with most of the piece's weight"),
                                                     ("blend", "One Blend", "The same mixture at every vertex: the piece's mean, or the nearest body's where it has none")]),
        "selected": BoolProperty(name="Selected Only", description="Only pieces with a selected vertex"),
    }

    def prepare(self, context):
        skin = self._skin = make_skin(context)
        labels = piece_labels(skin.shape)
        counts = np.bincount(labels)
        if len(counts) < 2:
            raise Refusal(f"Cutis: {skin.obj.name} is one piece")
        chosen = np.arange(len(counts)) != counts.argmax()
        if self.selected:
            if len(skin.shape.vertices) != len(skin.obj.data.vertices):
                raise Refusal(f"Cutis: modifiers of {skin.obj.name} make vertices; a selection does not say which pieces are meant")
            held = np.zeros(len(labels), bool)
            skin.obj.data.vertices.foreach_get("select", held)
            chosen &= np.isin(np.arange(len(counts)), labels[held])
            if not chosen.any():
                raise Refusal("Cutis: no vertex of a loose piece is selected")
        return lambda: self._work(skin, labels, chosen)

    def _work(self, skin, labels, chosen):
        out, total = skin.weights.copy(), skin.weights.sum(1)
        share = skin.weights / np.where(total > 0, total, 1)[:, None]
        kept = np.nonzero(~chosen[labels] & (total > 0))[0]
        tree = KDTree(len(kept))
        for place, vertex in enumerate(kept):
            tree.insert(skin.shape.vertices[vertex], place)
        tree.balance()
        for piece in np.nonzero(chosen)[0]:
            rows = np.nonzero(labels == piece)[0]
            mean = share[rows].mean(0)
            if not mean.any() and len(kept):
                near = min((tree.find(skin.shape.vertices[v]) for v in rows), key=lambda found: found[2])
                mean = share[kept[near[1]]]
            if not mean.any():
                continue
            out[rows] = np.eye(len(mean))[mean.argmax()] if self.follow == "bone" else mean / mean.sum()
        return out, int(chosen.sum()), chosen[labels]

    def finish(self, context, result):
        weights, count, seen_rows = result
        rows = Carried(self._skin.obj, self._skin.shape)(seen_rows[:, None].astype(float))[:, 0] > 0.5
        locked = finish_weights(self._skin, weights, rows=rows)
        self.say(context, f"Cutis: {count} loose pieces move as one{locked_text(locked)}")


class CUTIS_OT_mirror(Task, bpy.types.Operator):
    """Weights of one side to the other: bones by their names' sides, vertices by their places"""
    bl_idname = "cutis.mirror_weights"
    bl_label = "Mirror"
    options = {"from_side": EnumProperty(name="From", items=[("+", "+X", "Of the armature"), ("-", "-X", "Of the armature")])}

    def prepare(self, context):
        skin = self._skin = make_skin(context)
        column = {name: i for i, name in enumerate(skin.groups)}
        other = [column.get(bpy.utils.flip_name(name), i) for i, name in enumerate(skin.groups)]
        if all(i == j for i, j in enumerate(other)):
            raise Refusal(f"Cutis: no two bones of {skin.armature.name} have names that differ by their side (arm.L and arm.R)")
        return lambda: self._work(skin, other)

    def _work(self, skin, other):
        places = skin.placed(skin.shape.vertices)
        sign = 1 if self.from_side == "+" else -1
        near = 1e-6 * float(np.ptp(places, axis=0).max())
        source, target = sign * places[:, 0] >= -near, sign * places[:, 0] < -near
        if not source.any() or not target.any():
            raise Refusal("Cutis: all vertices are on one side of the armature's x axis")
        from mathutils.bvhtree import BVHTree
        faces = skin.shape.faces[source[skin.shape.faces].any(1)]
        tree = BVHTree.FromPolygons(places.tolist(), faces.tolist())
        out, far = skin.weights.copy(), 0.0
        for vertex in np.nonzero(target)[0]:
            at, _, face, distance = tree.find_nearest(places[vertex] * [-1, 1, 1])
            corners = faces[face]
            a, b, c = places[corners].astype(float)
            solved = np.linalg.lstsq(np.stack([b - a, c - a], 1), np.array(at) - a, rcond=None)[0]
            part = np.clip([1 - solved.sum(), *solved], 0, 1)
            part *= source[corners]
            if part.sum() > 0:
                out[vertex] = (skin.weights[corners][:, other] * (part / part.sum())[:, None]).sum(0)
                far = max(far, distance)
        return out, int(target.sum()), far, target

    def finish(self, context, result):
        weights, count, far, seen_rows = result
        rows = Carried(self._skin.obj, self._skin.shape)(seen_rows[:, None].astype(float))[:, 0] > 0.5
        locked = finish_weights(self._skin, weights, rows=rows)
        self.say(context, f"Cutis: {count} vertices mirrored, {far * self._skin.scale:.2g} m from their mirror image at most{locked_text(locked)}")


OPERATORS = (CUTIS_OT_automatic, CUTIS_OT_reduce, CUTIS_OT_islands, CUTIS_OT_mirror)
