"""Rig: a bare body gets parts, joints, an armature with names by its kind, and weights."""
from __future__ import annotations

import bpy
import numpy as np
from bpy.props import BoolProperty, EnumProperty, IntProperty, StringProperty

from . import cutis
from .change import beside, insert_armature_modifier, make_bones, with_locks, locked_columns, own_weights, write_weights
from .scene import Carried, Refusal, array_of, armature_modifier, dense, need_mesh, seen_by_armature
from .task import Task

KINDS = [(kind, kind.capitalize(), "") for kind in ("auto", "human", "quadruped", "bird", "octopus", "insect", "bear", "hand", "fish", "any")]
# Blender's up is z, the library's y (docs/spec/conventions.md): columns are Blender's axes in the library's.
TO_LIBRARY = np.array([[1, 0, 0], [0, 0, 1], [0, -1, 0]], float)


def bone_name(name: str, naming: str, humanoid: dict) -> str:
    if naming == "sides" and name[-2:] in ("_l", "_r"):
        return f"{name[:-2]}.{name[-1].upper()}"
    if naming in ("vrm", "mixamo") and name in humanoid:
        return getattr(humanoid[name], naming)
    return name


def labels_of(obj, shape, parts: str, attribute: str) -> np.ndarray | None:
    if parts == "found":
        return None
    if parts == "materials":
        return shape.materials.astype(np.uint32)
    if parts == "pieces":
        return piece_labels(shape)[shape.faces[:, 0]].astype(np.uint32)
    found = obj.data.attributes.get(attribute)
    if found is None or found.domain != "FACE" or found.data_type != "INT":
        raise Refusal(f"Cutis: {obj.name} has no integer attribute '{attribute}' of its faces")
    if shape.polygon_count != len(obj.data.polygons):
        raise Refusal(f"Cutis: modifiers of {obj.name} change its faces; the attribute '{attribute}' is not theirs")
    values = np.empty(len(found.data), np.int32)
    found.data.foreach_get("value", values)
    if values.min() < 0:
        raise Refusal(f"Cutis: the attribute '{attribute}' has a negative number")
    return values[shape.polygons].astype(np.uint32)


def piece_labels(shape) -> np.ndarray:
    """The connected piece of every vertex."""
    label = np.arange(len(shape.vertices))
    while True:
        least = label[shape.faces].min(1)
        new = label.copy()
        for corner in range(3):
            np.minimum.at(new, shape.faces[:, corner], least)
        new = new[new]
        if np.array_equal(new, label):
            return np.unique(label, return_inverse=True)[1]
        label = new


class CUTIS_OT_rig(Task, bpy.types.Operator):
    """Find parts, joints and weights for the active mesh, and make its armature"""
    bl_idname = "cutis.rig"
    bl_label = "Rig"
    options = {
        "kind": EnumProperty(name="Kind", items=KINDS, default="auto", description="What the body is; its bones are named after it"),
        "naming": EnumProperty(name="Names", items=[("cutis", "upperarm_l", "The library's own"), ("sides", "upperarm.L", "Sides as Blender has them"),
                                                    ("vrm", "VRM", "Of VRM 1.0's humanoid, where it has one"), ("mixamo", "Mixamo", "Where it has one")]),
        "parts": EnumProperty(name="Parts", items=[("found", "Found", "From the shape"), ("materials", "Materials", "One part per material"),
                                                   ("pieces", "Pieces", "One part per connected piece"), ("attribute", "Attribute", "An integer attribute of the faces")]),
        "attribute": StringProperty(name="Attribute", default="part", description="Of the faces, integer: the part of each"),
        "influences": IntProperty(name="Influences", default=4, min=1, max=16, description="Weights a vertex"),
        "twist": BoolProperty(name="Twist Bones", description="Bones halfway along arms and thighs that take half of their twist"),
        "keep": BoolProperty(name="Keep Problems", description="Make it even if its own check finds something wrong"),
    }

    def prepare(self, context):
        obj = need_mesh(context)
        if armature_modifier(obj) is not None:
            raise Refusal(f"Cutis: {obj.name} is moved by an armature already; remove its Armature modifier first, or use Weights")
        if not all(obj.scale) or abs(np.linalg.det(array_of(obj.matrix_world)[:3, :3])) < 1e-30:
            raise Refusal(f"Cutis: the scale of {obj.name} is zero")
        shape, world = seen_by_armature(obj), array_of(obj.matrix_world)
        labels = labels_of(obj, shape, self.parts, self.attribute)
        metres = context.scene.unit_settings.scale_length
        places = (shape.vertices @ world[:3, :3].T + world[:3, 3]) @ TO_LIBRARY.T * metres
        faces = shape.faces[:, ::-1] if np.linalg.det(world[:3, :3]) < 0 else shape.faces
        body = cutis.Model.from_arrays(places, np.ascontiguousarray(faces), name=obj.name)
        options = {"kind": self.kind, "influences": self.influences, "twist": self.twist} | ({"labels": labels, "kind": "any"} if labels is not None else {})
        self._read = (obj, shape, metres)

        def work():
            made = cutis.rig(body, **options)
            if made.report.problems and not self.keep:
                raise Refusal(f"Cutis: {made.report.problems[0]} (Keep Problems makes it all the same)")
            return made
        return work

    def finish(self, context, made):
        obj, shape, metres = self._read
        origin = obj.matrix_world.translation
        armature = bpy.data.objects.new(f"{obj.name} rig", bpy.data.armatures.new(f"{obj.name} rig"))
        armature.location = origin
        armature.show_in_front = True
        beside(obj, armature)
        context.view_layer.update()
        names, joints = self._joints(made, np.array(origin), metres)
        real = dict(zip((joint["name"] for joint in joints), make_bones(context, armature, joints)))
        columns = [real[names[joint.index]] for joint in made.joints]
        weights = Carried(obj, shape)(dense(made.weights))
        locked = locked_columns(obj, columns)
        write_weights(obj, columns, with_locks(own_weights(obj, columns), weights, locked) if locked.any() else weights)
        insert_armature_modifier(obj, armature)
        parts = self._write_parts(obj, shape, made)
        report = made.report
        self.say(context, f"Cutis: {report.kind} (its limbs are {report.deviation:.2f} from that kind's), {report.joint_count} bones, {parts} parts, "
                          f"{len(report.problems or [])} problems")

    def _joints(self, made, origin, metres):
        world = made.world(made.rest_pose())[:, :, 3].astype(float) / metres @ TO_LIBRARY - origin
        humanoid = {bone.joint: bone for bone in made.report.humanoid or []}
        index = {joint.index for joint in made.joints}
        names = {joint.index: bone_name(joint.name or f"joint_{joint.index}", self.naming, humanoid) for joint in made.joints}
        size = float(np.ptp(made.vertices, axis=0).max()) / metres
        joints = []
        for joint in made.joints:
            head = world[joint.index]
            children = [node.index for node in made.nodes if node.parent == joint.index]
            ends = [world[c] for c in children if np.linalg.norm(world[c] - head) > 1e-4 * size]
            parent = joint.parent
            if ends:
                tail = np.mean(ends, 0)
            elif parent in index and np.linalg.norm(head - world[parent]) > 1e-4 * size:
                tail = head + 0.7 * (head - world[parent])
            else:
                tail = head + [0, 0, 0.05 * size]
            if np.linalg.norm(tail - head) < 1e-4 * size:
                tail = head + [0, 0, 0.02 * size]
            joints.append({"name": names[joint.index], "parent": names.get(parent), "head": head, "tail": tail})
        return names, joints

    def _write_parts(self, obj, shape, made) -> int:
        """The part of every face as an attribute, their names as a property of the mesh."""
        mesh = made._data.meshes[0]
        count = int(mesh.part_count)
        if not count or shape.polygon_count != len(obj.data.polygons) or not mesh.primitives[0].parts:
            return count
        of_triangle = np.ctypeslib.as_array(mesh.primitives[0].parts, (len(shape.faces),))
        values = np.zeros(shape.polygon_count, np.int32)
        values[shape.polygons] = of_triangle
        attribute = obj.data.attributes.get("part") or obj.data.attributes.new("part", "INT", "FACE")
        if attribute.domain == "FACE" and attribute.data_type == "INT":
            attribute.data.foreach_set("value", values)
            obj.data["part_names"] = [mesh.part_names[i].decode(errors="replace") for i in range(count)]
        return count


OPERATORS = (CUTIS_OT_rig,)
