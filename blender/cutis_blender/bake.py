"""Bake for engines: helper bones and weights that plain linear blending plays as another method, or as a moving mesh, does.

The body and its armature stay; a copy of both gets the helpers. Their drivers are the library's (docs/formats/drivers.md) in plain
arithmetic, so that they follow in any pose, without Python or this add-on; or they have keys.
"""
from __future__ import annotations

import ctypes

import bpy
import numpy as np
from bpy.props import BoolProperty, EnumProperty, IntProperty, StringProperty

from . import cutis
from .change import Chain, beside, forget_chain, make_bones, number, write_action, write_weights, locked_columns, own_weights
from .compare import METHODS
from .scene import Carried, Refusal, array_of, armature_modifier, composed, dense, evaluated, make_skin, need_mesh, need_skin, sampled, seen_by_armature
from .task import Task

PREFIX = "cutis_helper_"
LETTERS = "abcdefghijklmnop"


def frame_range(self, context) -> tuple[int, int]:
    first = self.frame_start if self.frame_end >= self.frame_start else context.scene.frame_start
    last = self.frame_end if self.frame_end >= self.frame_start else context.scene.frame_end
    if last <= first:
        raise Refusal("Cutis: two frames at least are wanted")
    return first, last


class CUTIS_OT_bake(Task, bpy.types.Operator):
    """A copy with helper bones that engines play by linear blending"""
    bl_idname = "cutis.bake"
    bl_label = "Bake for Engines"
    options = {
        "source": EnumProperty(name="From", items=[("method", "A Method", "What a better blending does in these frames"),
                                                   ("mesh", "A Moving Mesh", "What an object's vertices do in these frames: a simulation, a cache, shape keys")]),
        "method": EnumProperty(name="Method", items=METHODS[:3], default="dqs"),
        "object": StringProperty(name="Object", description="Whose evaluated vertices move as wanted, one for one; empty: the active mesh itself, all its modifiers applied"),
        "helpers": IntProperty(name="Helpers", default=8, min=0, max=128, description="Bones to add"),
        "influences": IntProperty(name="Influences", default=4, min=1, max=16, description="Weights a vertex"),
        "drivers": BoolProperty(name="Drivers", default=True, description="Helpers follow in any pose; else they have keys in these frames"),
        "frame_start": IntProperty(name="First Frame", default=1, description="Of the frames to learn from"),
        "frame_end": IntProperty(name="Last Frame", default=0, description="Before the first: the scene's range"),
        "file": StringProperty(name="File", subtype="FILE_PATH", description="Write the baked model there too (.glb); empty: not"),
    }

    def prepare(self, context):
        obj = need_mesh(context)
        first, last = frame_range(self, context)
        if armature_modifier(obj) is None:
            if self.source != "mesh":
                need_skin(context)
            return self._bare(context, obj, first, last)
        skin = self._skin = make_skin(context)
        if skin.free.any():
            raise Refusal(f"Cutis: {int(skin.free.sum())} vertices of {obj.name} have no weight; give them some, or use Automatic Weights")
        fps, model = context.scene.render.fps / context.scene.render.fps_base, skin.model
        moving = self._moving(context, obj) if self.source == "mesh" else None
        read = sampled(context, skin.armature, first, last, lambda: (skin.bones.posed(), self._vertices(moving, skin, skin.armature) if moving else None))
        poses = np.array([skin.bones.pose(model, world) for world, _ in read])
        if np.abs(poses - poses[0]).max() < 1e-6 and moving is None:
            raise Refusal(f"Cutis: {skin.armature.name} does not move from frame {first} to {last}")
        self._frames = (first, fps)
        options = {"helpers": self.helpers, "influences": self.influences, "drivers": self.drivers and self.helpers > 0}
        if moving is not None:
            positions = np.array([p for _, p in read])
            if options["drivers"] and np.abs(poses - poses[0]).max() < 1e-6:
                options["drivers"] = False  # nothing that helpers could follow
            return lambda: cutis.bake(model, positions=positions, poses=poses, fps=fps, clip_name="baked", **options)
        clip = model.with_clip("baked", poses, fps=fps)
        return lambda: cutis.bake(clip, self.method, clips=["baked"], fps=fps, **options)

    def _moving(self, context, obj):
        moving = bpy.data.objects.get(self.object) if self.object else obj
        if moving is None or moving.type != "MESH":
            raise Refusal(f"Cutis: there is no mesh object '{self.object}'")
        return moving

    def _vertices(self, moving, skin, space):
        shape = evaluated(moving)
        if len(shape.vertices) != len(skin.shape.vertices):
            raise Refusal(f"Cutis: {moving.name} has {len(shape.vertices)} vertices, what is baked has {len(skin.shape.vertices)}")
        to = np.linalg.inv(array_of(space.matrix_world)) @ array_of(moving.matrix_world)
        return (shape.vertices @ to[:3, :3].T + to[:3, 3]).astype(np.float32)

    def _bare(self, context, obj, first, last):
        """Bones from nothing: a mesh that moves and has no armature."""
        if not self.helpers:
            raise Refusal("Cutis: a mesh without an armature needs at least one helper")
        moving, self._skin = self._moving(context, obj), None
        shape = self._shape = seen_by_armature(obj) if moving is not obj else None
        read = sampled(context, obj, first, last, lambda: evaluated(moving))
        if shape is None:
            shape = self._shape = read[0]
        if any(len(each.vertices) != len(shape.vertices) for each in read):
            raise Refusal(f"Cutis: {moving.name} has other vertices in some frames than {obj.name} has")
        fps = context.scene.render.fps / context.scene.render.fps_base
        to = np.linalg.inv(array_of(obj.matrix_world)) @ array_of(moving.matrix_world)
        positions = np.array([(each.vertices @ to[:3, :3].T + to[:3, 3]).astype(np.float32) for each in read])
        model, self._frames, self._obj = cutis.Model.from_arrays(shape.vertices, shape.faces, name=obj.name), (first, fps), obj
        times = np.arange(len(read)) / fps
        return lambda: (cutis.bake(model, positions=positions, helpers=self.helpers, influences=self.influences, fps=fps, clip_name="baked"), times)

    def finish(self, context, made):
        if self._skin is None:
            return self._finish_bare(context, *made)
        skin, report = self._skin, made.report
        drivers = made._data.drivers.contents if made._data.drivers else None
        check_inputs(skin, drivers)
        if self.file:  # what fails here has changed nothing yet
            made.save(bpy.path.abspath(self.file))
        body, armature = copy_body(context, skin)
        names = add_helpers(context, made, skin, armature)
        columns = [*skin.groups, *names]
        values, index = dense(made.weights), {joint.index: i for i, joint in enumerate(made.joints)}
        helpers = dict(zip((int(n) for n in report.helpers), names)) if names else {}
        nodes = [*(1 + skin.bones.names.index(name) for name in skin.groups), *helpers]
        weights = Carried(body, skin.shape)(np.stack([values[:, index[n]] if n in index else np.zeros(len(values), np.float32) for n in nodes], 1))
        old, locked = own_weights(body, columns), locked_columns(body, columns)
        if locked.any():  # a vertex with locked weight keeps all of its own
            kept = (old[:, locked] > 0).any(1)
            weights = np.where(kept[:, None], old, weights)
        write_weights(body, columns, weights)
        armature_modifier(body).use_deform_preserve_volume = False
        if names:
            if drivers is not None:
                drive_helpers(skin, made, drivers, armature, helpers)
            else:
                self._keys(context, made, skin, armature, helpers)
        ratio = f"{report.rms / report.plain_rms:.3f} of plain blending's error" if report.plain_rms else f"{1e3 * report.rms * skin.scale:.3g} mm RMS"
        unseen = f", {report.unseen_driven_rms / report.unseen_plain_rms:.3f} in poses nobody showed" if report.unseen_count and report.unseen_plain_rms else ""
        self.say(context, f"Cutis: {report.helper_count} helpers, {ratio}{unseen}; {body.name} plays it")

    def _keys(self, context, made, skin, armature, helpers):
        """Tracks of the helpers in a new action, together with the curves of the action there is."""
        first, fps = self._frames
        times = cutis.frame_times(made, len(made.clips) - 1, fps)
        poses = made.sample(len(made.clips) - 1, times)
        rests = made.rest_pose()
        channels = {name: np.array([np.linalg.inv(composed(rests[node])) @ composed(pose[node]) for pose in poses]) for node, name in helpers.items()}
        action = write_action(armature, f"{armature.name} baked", [first + t * fps for t in times], channels)
        own = armature.animation_data.action if armature.animation_data else None
        if own is not None:
            for curve in own.fcurves:
                copied = action.fcurves.new(curve.data_path, index=curve.array_index, action_group=curve.group.name if curve.group else "")
                copied.keyframe_points.add(len(curve.keyframe_points))
                for to, of in zip(copied.keyframe_points, curve.keyframe_points):
                    to.co, to.interpolation, to.handle_left, to.handle_right = of.co, of.interpolation, of.handle_left, of.handle_right
                    to.handle_left_type, to.handle_right_type = of.handle_left_type, of.handle_right_type
        armature.animation_data_create().action = action

    def _finish_bare(self, context, made, times):
        if self.file:
            made.save(bpy.path.abspath(self.file))
        obj, (first, fps) = self._obj, self._frames
        body = obj.copy()
        body.data = obj.data.copy()
        body.name = f"{obj.name} baked"
        beside(obj, body)
        body.shape_key_clear() if body.data.shape_keys else None
        body.modifiers.clear()
        if body.animation_data:
            body.animation_data_clear()
        body.data.vertices.foreach_set("co", self._shape.vertices.ravel()) if len(body.data.vertices) == len(self._shape.vertices) else None
        armature = bpy.data.objects.new(f"{obj.name} bones", bpy.data.armatures.new(f"{obj.name} bones"))
        armature.matrix_world = obj.matrix_world
        beside(obj, armature)
        context.view_layer.update()
        size, rests = float(np.ptp(made.vertices, axis=0).max()), made.rest_pose()
        world = made.world(rests).astype(float)
        joints = {j.index: j for j in made.joints}
        named = {i: j.name or f"bone_{i}" for i, j in joints.items()}
        matrices = {i: np.vstack([world[i], [0, 0, 0, 1]]) for i in joints}
        real = make_bones(context, armature, [{"name": named[i], "parent": named.get(made.nodes[i].parent), "matrix": matrices[i], "length": 0.08 * size} for i in joints])
        real = dict(zip(joints, real))
        poses = made.sample(len(made.clips) - 1, times)
        posed = [np.concatenate([made.world(pose).astype(float), np.tile([[[0, 0, 0, 1]]], (made.node_count, 1, 1))], 1) for pose in poses]

        def basis(i, frame):
            parent = made.nodes[i].parent
            rest = np.linalg.inv(matrices[parent]) @ matrices[i] if parent in joints else matrices[i]
            now = np.linalg.inv(posed[frame][parent]) @ posed[frame][i] if parent in joints else posed[frame][i]
            return np.linalg.inv(rest) @ now
        for i in joints:
            armature.pose.bones[real[i]].rotation_mode = "QUATERNION"
        action = write_action(armature, f"{obj.name} baked", [first + t * fps for t in times],
                              {real[i]: np.array([basis(i, f) for f in range(len(times))]) for i in joints})
        armature.animation_data_create().action = action
        write_weights(body, [real[j.index] for j in made.joints], dense(made.weights))
        modifier = body.modifiers.new("Armature", "ARMATURE")
        modifier.object = armature
        self.say(context, f"Cutis: {made.report.helper_count} bones, {1e3 * made.report.rms:.3g} mm off (RMS); {body.name} plays it")


def check_inputs(skin, drivers) -> None:
    """Drivers read a bone's own rotation; one that does not inherit its parent's has another."""
    for k in range(drivers.joint_count if drivers is not None else 0):
        name = skin.bones.names[drivers.joints[k] - 1]
        bone = skin.armature.data.bones[name]
        if not bone.use_inherit_rotation or bone.inherit_scale not in ("FULL", "FIX_SHEAR", "ALIGNED"):
            raise Refusal(f"Cutis: the bone '{name}' does not inherit rotation and scale, so drivers cannot read it; bake with keys")


def copy_body(context, skin):
    """Body and armature once more, with all they have."""
    armature = skin.armature.copy()
    armature.data = skin.armature.data.copy()
    armature.name = f"{skin.armature.name} baked"
    beside(skin.armature, armature)
    body = skin.obj.copy()
    body.data = skin.obj.data.copy()
    body.name = f"{skin.obj.name} baked"
    beside(skin.obj, body)
    body.hide_set(False)
    if body.parent == skin.armature:
        body.parent = armature
    for modifier in body.modifiers:
        if modifier.type == "ARMATURE" and modifier.object == skin.armature:
            modifier.object = armature
    for datablock in (armature, armature.data, body, body.data, body.data.shape_keys):  # drivers that read the old armature read the new one
        for curve in (datablock.animation_data.drivers if datablock and datablock.animation_data else []):
            for variable in curve.driver.variables:
                for target in variable.targets:
                    if target.id == skin.armature:
                        target.id = armature
    context.view_layer.update()
    return body, armature


def add_helpers(context, made, skin, armature) -> list[str]:
    if not made.report.helper_count:
        return []
    world = made.world(made.rest_pose()).astype(float)
    size = float(np.ptp(made.vertices, axis=0).max())
    parents = {1 + i: name for i, name in enumerate(skin.bones.names)}
    joints, taken = [], set(skin.bones.names)
    for node in (int(n) for n in made.report.helpers):
        name = made.nodes[node].name or f"helper_{node}"
        while name in taken:
            name += "_"
        taken.add(name)
        joints.append({"name": name, "parent": parents.get(made.nodes[node].parent), "matrix": np.vstack([world[node], [0, 0, 0, 1]]), "length": 0.05 * size})
    return make_bones(context, armature, joints)


def rest_of(bones: bpy.types.Bone) -> np.ndarray:
    """A bone's rest against its parent, as Blender has it."""
    own = array_of(bones.matrix_local)
    return np.linalg.inv(array_of(bones.parent.matrix_local)) @ own if bones.parent else own


def drive_helpers(skin, made, drivers, armature, helpers: dict[int, str]) -> None:
    """Helpers' location and rotation as sums of products of clamped rotation components: u . (c + Q u) for every channel."""
    forget_chain(armature, PREFIX)
    chain = Chain(armature, PREFIX)
    inputs = [_inputs(chain, armature, skin.bones.names[drivers.joints[k] - 1], drivers.ranges[8 * k:8 * k + 8]) for k in range(drivers.joint_count)]
    for k in range(drivers.driver_count):
        driver = drivers.drivers[k]
        if driver.node not in helpers:
            continue
        bone = armature.pose.bones[helpers[driver.node]]
        bone.rotation_mode = "AXIS_ANGLE"
        u = [name for i in range(driver.input_count) for name in inputs[driver.inputs[i]]]
        n = len(u)
        terms = n + n * (n + 1) // 2
        table = np.ctypeslib.as_array(ctypes.cast(driver.coefficients, ctypes.POINTER(ctypes.c_float)), (terms, 6)).astype(float) if n else np.zeros((0, 6))
        # Along the axes of the node's parent in the file; here along the bone's own.
        turn = rest_of(armature.data.bones[bone.name])[:3, :3].T
        table = np.concatenate([table[:, :3] @ turn.T, table[:, 3:] @ turn.T], 1)
        channels = [_channel(chain, u, table[:, c]) for c in range(6)]
        for c in range(3):
            chain.drive(bone, "location", c, "a", {"a": channels[3 + c]})
            chain.drive(bone, "rotation_axis_angle", 1 + c, "a", {"a": channels[c]})
        chain.drive(bone, "rotation_axis_angle", 0, "min(3.14159265,sqrt(a*a+b*b+c*c))", dict(zip("abc", channels[:3])))


def _inputs(chain, armature, bone: str, ranges) -> list[str]:
    """x, y, z, w - 1 of a bone's own rotation with w not negative, each within its range."""
    rotation = {v: (armature, bone, f"ROT_{v.upper()}") for v in "xyzw"}
    out = []
    for i, v in enumerate("xyz"):
        out.append(chain.value(f"clamp({v} if w>=0 else -{v},{number(ranges[i], 9)},{number(ranges[4 + i], 9)})", {v: rotation[v], "w": rotation["w"]}))
    out.append(chain.value(f"clamp(abs(w)-1,{number(ranges[3], 9)},{number(ranges[7], 9)})", {"w": rotation["w"]}))
    return out


def _channel(chain, u: list[str], coefficients: np.ndarray) -> str:
    """Sum over i of u_i (c_i + sum over j >= i of Q_ij u_j)."""
    n, at, rows = len(u), len(u), []
    for i in range(n):
        quadratic = [(float(q), u[j]) for j, q in zip(range(i, n), coefficients[at:at + n - i])]
        at += n - i
        rows.append(chain.sum(quadratic, float(coefficients[i])))
    parts = []
    for i in range(0, n, 8):  # two variables a product
        pairs = list(zip(LETTERS, LETTERS.upper(), u[i:i + 8], rows[i:i + 8]))
        parts.append(chain.value("+".join(f"{a}*{b}" for a, b, _, _ in pairs), {a: x for a, _, x, _ in pairs} | {b: r for _, b, _, r in pairs}))
    return parts[0] if len(parts) == 1 else chain.value("+".join("abcd"[:len(parts)]), dict(zip("abcd", parts))) if parts else chain.value("0", {})


OPERATORS = (CUTIS_OT_bake,)
