"""Retarget: the motion of a BVH file, or of another armature's action, as an action of the active armature."""
from __future__ import annotations

import os

import bpy
import numpy as np
from bpy.props import BoolProperty, EnumProperty, IntProperty, StringProperty

from . import cutis
from .change import write_action
from .scene import Bones, Refusal, array_of, armature_of, composed, mesh_of, make_skin, sampled
from .task import Task


def target_armature(context) -> bpy.types.Object:
    active = context.view_layer.objects.active
    armature = active if active is not None and active.type == "ARMATURE" else armature_of(mesh_of(context))
    if armature is None:
        raise Refusal("Cutis: an armature, or a mesh that one moves, is wanted as the active object")
    if not armature.data.bones:
        raise Refusal(f"Cutis: {armature.name} has no bones")
    if armature.mode == "EDIT":
        raise Refusal(f"Cutis: {armature.name} is in edit mode; leave it first")
    return armature


def bones_alone(bones: Bones) -> cutis.Model:
    """An armature without a body: a small triangle at every bone stands for its skin."""
    heads = bones.rest_world[:, :3, 3]
    size = max(float(np.ptp(heads, axis=0).max()), 1e-3)
    corners = np.concatenate([heads, heads + [0.01 * size, 0, 0], heads + [0, 0.01 * size, 0]])
    n = len(heads)
    faces = np.stack([np.arange(n), np.arange(n) + n, np.arange(n) + 2 * n], 1)
    return cutis.Model.from_arrays(corners, faces, weights=np.tile(np.eye(n, dtype=np.float32), (3, 1)), joints=bones.names, parents=bones.parents, rest=bones.rest)


def up_axis(armature) -> str:
    """The world's up in the armature's space, where that is an axis."""
    up = np.linalg.inv(array_of(armature.matrix_world)[:3, :3])[:, 2]
    up = up / np.linalg.norm(up)
    axis = int(np.abs(up).argmax())
    return "xyz"[axis] if up[axis] > 0.999 else "auto"


class CUTIS_OT_retarget(Task, bpy.types.Operator):
    """A motion of another rig as a new action of this armature"""
    bl_idname = "cutis.retarget"
    bl_label = "Retarget"
    options = {
        "source": EnumProperty(name="From", items=[("file", "A File", "BVH, or glTF with a clip"), ("armature", "An Armature", "Its action, over the scene's frames")]),
        "filepath": StringProperty(name="File", subtype="FILE_PATH"),
        "clip": IntProperty(name="Clip", default=0, min=0, description="Of the file"),
        "armature": StringProperty(name="Armature", description="Whose action moves"),
        "feet": EnumProperty(name="Feet", items=[("locked", "Locked", "A foot that stands in the motion stands here"), ("free", "Free", "As the bones bring it")]),
        "across": BoolProperty(name="Two Legs and Four", description="Motions of two legs on bodies with four, and the other way round"),
        "start": IntProperty(name="First Frame", default=1, description="Where the action begins"),
    }

    def prepare(self, context):
        armature = self._armature = target_armature(context)
        obj = mesh_of(context)
        bones = self._bones = Bones(armature)
        model = make_skin(context, obj).model if obj is not None and armature_of(obj) == armature else bones_alone(bones)
        fps = self._fps = context.scene.render.fps / context.scene.render.fps_base
        options = {"feet": self.feet, "across": self.across, "up": up_axis(armature), "fps": fps}
        if self.source == "file":
            path = bpy.path.abspath(self.filepath)
            if not path or not os.path.isfile(path):
                raise Refusal(f"Cutis: there is no file '{self.filepath}'")
            self._name = os.path.splitext(os.path.basename(path))[0]
            return lambda: cutis.retarget(model, cutis.read(path), self.clip, **options)
        source = bpy.data.objects.get(self.armature)
        if source is None or source.type != "ARMATURE" or not source.data.bones:
            raise Refusal(f"Cutis: there is no armature '{self.armature}'")
        if source == armature:
            raise Refusal("Cutis: the motion is of this armature itself")
        other = Bones(source)
        alone = bones_alone(other)
        first, last = context.scene.frame_start, context.scene.frame_end
        poses = np.array([other.pose(alone, world) for world in sampled(context, source, first, last, other.posed)])
        if np.abs(poses - poses[0]).max() < 1e-6:
            raise Refusal(f"Cutis: {source.name} does not move from frame {first} to {last}")
        self._name = source.animation_data.action.name if source.animation_data and source.animation_data.action else source.name
        moving = alone.with_clip("motion", poses, fps=fps)
        return lambda: cutis.retarget(model, moving, "motion", rest="zero", **options)

    def finish(self, context, made):
        bones, armature, report = self._bones, self._armature, made.report
        times = cutis.frame_times(made, len(made.clips) - 1, self._fps)
        poses = made.sample(len(made.clips) - 1, times)
        rests = [np.linalg.inv(composed(t)) for t in bones.rest]
        channels = {}
        for i, name in enumerate(bones.names):
            basis = np.array([rests[i] @ composed(pose[1 + i]) for pose in poses])
            if np.abs(basis - np.eye(4)).max() > 1e-6:
                channels[name] = basis
        action = write_action(armature, self._name, [self.start + t * self._fps for t in times], channels)
        armature.animation_data_create().action = action
        slide = f", feet slide {report.slide:.2f} % of the height at most" if np.isfinite(report.slide) else ""
        self.say(context, f"Cutis: {action.name}: {len(times)} frames, {report.mapped_count} of {report.joint_count} bones moved{slide}")


OPERATORS = (CUTIS_OT_retarget,)
