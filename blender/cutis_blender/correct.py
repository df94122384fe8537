"""Correct: shapes sculpted at poses become shape keys that play by themselves, between the poses too.

A pose is remembered for a shape key, or for a posed copy of the body to sculpt on. The keys' values are then pose space's weights
(docs/spec/pose-space.md 4, 5: PSD, exponential kernel) as drivers in plain arithmetic, which Blender evaluates without Python or this add-on.
"""
from __future__ import annotations

import ctypes
import json

import bpy
import numpy as np
from bpy.props import BoolProperty, EnumProperty, StringProperty

from . import cutis
from .change import Chain, beside, forget_chain, number
from .preview import key_displacements
from .scene import Refusal, make_skin, need_skin, played_method
from .task import Task

PREFIX = "cutis_pose_"
TURNED = 1e-3  # radians from rest that count as moved


def pose_text(bones) -> str:
    """The pose as it is: local transforms of the bones that are not at rest."""
    local = bones.local(bones.posed())
    return json.dumps({name: [round(float(v), 9) for v in now] for name, now, rest in zip(bones.names, local, bones.rest) if np.abs(now - rest).max() > 1e-6})


class CUTIS_OT_remember(bpy.types.Operator):
    """Remember this pose: for the active shape key, or for a posed copy of the body to sculpt on"""
    bl_idname = "cutis.remember_pose"
    bl_label = "Remember Pose"
    bl_options = {"REGISTER", "UNDO"}
    options = {"shape": EnumProperty(name="Shape", items=[("key", "Active Shape Key", "Sculpted, or to be sculpted, in this pose"),
                                                         ("copy", "A Copy To Sculpt", "The body as it is posed, as a mesh of its own")])}

    def execute(self, context):
        from .scene import Bones
        try:
            obj, armature = need_skin(context)
            bones = Bones(armature)
            pose = pose_text(bones)
            if pose == "{}":
                raise Refusal("Cutis: this is the rest pose, which has the rest shape; pose the armature first")
            if self.shape == "key" and (obj.data.shape_keys is None or obj.active_shape_key_index == 0):
                raise Refusal(f"Cutis: {obj.name} has no active shape key beside its basis")
            shape = evaluated_posed(obj) if self.shape == "copy" else None
        except (Refusal, cutis.Error, ValueError) as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        if self.shape == "key":
            name = obj.active_shape_key.name
        else:
            name = f"pose {len(obj.cutis.poses) + 1}"
            made = bpy.data.objects.new(f"{obj.name} {name}", shape)
            made.matrix_world = obj.matrix_world
            beside(obj, made)
        held = next((p for p in obj.cutis.poses if p.name == name), None) or obj.cutis.poses.add()
        held.name, held.pose, held.copy = name, pose, made if self.shape == "copy" else None
        self.report({"INFO"}, f"Cutis: {name}: pose of {len(json.loads(pose))} bones remembered")
        return {"FINISHED"}


def evaluated_posed(obj) -> bpy.types.Mesh:
    """A new mesh: as the Armature modifier leaves it, the modifiers below not applied. It has the mesh's own vertices."""
    from .scene import changed, modifiers_below
    with changed(*[(m, "show_viewport", False) for m in modifiers_below(obj) if m.show_viewport]):
        depsgraph = bpy.context.evaluated_depsgraph_get()
        mesh = bpy.data.meshes.new_from_object(obj.evaluated_get(depsgraph), depsgraph=depsgraph)
    if len(mesh.vertices) != len(obj.data.vertices):
        bpy.data.meshes.remove(mesh)
        raise Refusal(f"Cutis: modifiers above the armature of {obj.name} make vertices; a shape key cannot hold a sculpt of them")
    return mesh


class CUTIS_OT_forget(bpy.types.Operator):
    """Forget a remembered pose"""
    bl_idname = "cutis.forget_pose"
    bl_label = "Forget Pose"
    bl_options = {"REGISTER", "UNDO"}
    options = {"name": StringProperty(name="Name")}

    def execute(self, context):
        try:
            obj, _ = need_skin(context)
            place = next((i for i, p in enumerate(obj.cutis.poses) if p.name == self.name), None)
            if place is None:
                raise Refusal(f"Cutis: no pose '{self.name}' is remembered")
        except Refusal as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        obj.cutis.poses.remove(place)
        return {"FINISHED"}


def same_pose(names, poses) -> str:
    """Which two remembered poses are one."""
    apart = np.abs(poses[:, None] - poses[None]).max((2, 3)) + np.eye(len(poses))
    i, j = np.unravel_index(apart.argmin(), apart.shape)
    return f"the poses of '{names[i]}' and '{names[j]}' are the same" if len(names) > 1 else f"the pose of '{names[0]}' is the rest pose"


def radial(rotations: np.ndarray, sigma: float) -> np.ndarray:
    """Inverse of the matrix of exp(-distance / sigma) between poses [poses, joints, 4]."""
    dots = np.abs(np.einsum("kjc,ljc->klj", rotations, rotations)).clip(0, 1)
    return np.linalg.inv(np.exp(-np.sqrt(((2 * np.arccos(dots)) ** 2).sum(2)) / sigma))


class CUTIS_OT_correct(Task, bpy.types.Operator):
    """Shape keys that follow the poses they were sculpted at, by drivers"""
    bl_idname = "cutis.correct"
    bl_label = "Make Correctives"
    options = {"limit_bones": BoolProperty(name="Only Bones That Differ", default=True,
                                          description="Bones that no remembered pose moves do not count: a step does not undo an elbow's shape")}

    def prepare(self, context):
        obj, _ = need_skin(context)
        held = list(obj.cutis.poses)
        if not held:
            raise Refusal("Cutis: no pose is remembered; pose the armature, choose a shape key, and use Remember Pose")
        skin = make_skin(context, obj, basis=True)
        if len(skin.shape.vertices) != len(obj.data.vertices):
            raise Refusal(f"Cutis: modifiers above the armature of {obj.name} make vertices; shape keys cannot correct them")
        if skin.free.any():
            raise Refusal(f"Cutis: {int(skin.free.sum())} vertices of {obj.name} have no weight")
        poses = np.array([self._pose(skin, p) for p in held])
        deltas = self._deltas(skin, held, poses)
        self._read = (skin, [p.name for p in held], deltas)

        def work():
            shapes = np.array([self._posed(skin, "lbs", d, pose) for d, pose in zip(deltas, poses)])
            made = cutis.fit(skin.model, poses, shapes, [p.name for p in held])
            if made.report.merged_count:
                raise Refusal(f"Cutis: {same_pose([p.name for p in held], poses)}; one shape a pose")
            if made._data.pose_space.contents.translations:
                raise Refusal("Cutis: a bone slides in a remembered pose; drivers tell poses apart by rotations alone")
            return made
        return work

    def _pose(self, skin, held):
        out = skin.model.rest_pose()
        for name, values in json.loads(held.pose).items():
            if name not in skin.bones.names:
                raise Refusal(f"Cutis: the pose '{held.name}' moves the bone '{name}', which {skin.armature.name} does not have")
            out[1 + skin.bones.names.index(name)] = values
        return out

    def _deltas(self, skin, held, poses) -> np.ndarray:
        """What each key adds at rest, armature space: its own displacement, or a sculpted copy's, brought back through the skin."""
        keys, out, turn = key_displacements(skin.obj), [], skin.to_armature[:3, :3]
        for p, pose in zip(held, poses):
            if p.copy is None:
                if p.name not in keys:
                    raise Refusal(f"Cutis: {skin.obj.name} has no shape key '{p.name}' any more; Forget Pose drops what was remembered for it")
                out.append(keys[p.name] @ turn.T)
                continue
            if p.copy.type != "MESH" or len(p.copy.data.vertices) != len(skin.shape.vertices):
                raise Refusal(f"Cutis: {p.copy.name} has {len(p.copy.data.vertices)} vertices, {skin.obj.name} {len(skin.shape.vertices)}")
            goal = np.empty(3 * len(skin.shape.vertices), np.float32)
            p.copy.data.vertices.foreach_get("co", goal)
            out.append(self._brought_back(skin, skin.placed(goal.reshape(-1, 3)), pose))
        return np.array(out, np.float32)

    def _posed(self, skin, method, delta, pose):
        model = cutis.Model.from_arrays(skin.model.vertices + delta, skin.shape.faces, weights=skin.weights, joints=skin.bones.names,
                                        parents=skin.bones.parents, rest=skin.bones.rest, bound=skin.bones.deform)
        return cutis.bind(model, method).deform(pose)

    def _brought_back(self, skin, goal, pose):
        """Every vertex has one affine map, whatever the method: four places tell it."""
        method, step = played_method(skin.obj), 0.1 * float(np.ptp(skin.model.vertices, axis=0).max())
        base = self._posed(skin, method, 0, pose)
        columns = [(self._posed(skin, method, step * np.eye(3, dtype=np.float32)[i], pose) - base) / step for i in range(3)]
        maps = np.stack(columns, 2).astype(float)
        u, s, v = np.linalg.svd(maps)
        inverse = np.einsum("nji,nj,nkj->nik", v, s / (s ** 2 + (s < 0.05) * 0.05 ** 2), u)
        return np.einsum("nij,nj->ni", inverse, goal - base)

    def finish(self, context, made):
        skin, names, deltas = self._read
        obj, armature = skin.obj, skin.armature
        space, report = made._data.pose_space.contents, made.report
        rotations = np.ctypeslib.as_array(ctypes.cast(space.rotations, ctypes.POINTER(ctypes.c_float)), (space.pose_count, space.joint_count, 4)).astype(float)
        joints = [int(space.joints[j]) - 1 for j in range(space.joint_count)]
        relative = relative_to_rest(rotations, rotations[0])
        moved = [j for j in range(len(joints)) if not self.limit_bones or (2 * np.arccos(np.abs(relative[:, j, 3]).clip(0, 1)) > TURNED).any()]
        self._keys(obj, names, deltas @ np.linalg.inv(skin.to_armature[:3, :3]).T)
        forget_chain(armature, PREFIX)
        drive_keys(obj, armature, names, [skin.bones.names[joints[j]] for j in moved], relative[:, moved], report.sigma)
        out = report.one_out
        left = f", {1e3 * out.psd_rms * skin.scale:.3g} mm off in poses left out in turn (without: {1e3 * out.ssd_rms * skin.scale:.3g} mm)" if out.group_count else ""
        self.say(context, f"Cutis: {len(names)} shape keys follow {len(moved)} bones{left}")

    def _keys(self, obj, names, deltas):
        if obj.data.shape_keys is None:
            obj.shape_key_add(name="Basis", from_mix=False)
        blocks = obj.data.shape_keys.key_blocks
        basis = np.empty(3 * len(obj.data.vertices), np.float32)
        blocks[0].data.foreach_get("co", basis)
        for held, delta in zip(list(obj.cutis.poses), deltas):
            if held.copy is None:
                continue
            block = blocks.get(held.name) or obj.shape_key_add(name=held.name, from_mix=False)
            block.data.foreach_set("co", basis + delta.astype(np.float32).ravel())


def relative_to_rest(rotations: np.ndarray, rest: np.ndarray) -> np.ndarray:
    """inverse(rest) * rotation, x y z w, w not negative: a bone's own rotation."""
    a, b = rest * [-1, -1, -1, 1], rotations
    vector = a[..., 3:] * b[..., :3] + b[..., 3:] * a[..., :3] + np.cross(a[..., :3], b[..., :3])
    out = np.concatenate([vector, (a[..., 3] * b[..., 3] - (a[..., :3] * b[..., :3]).sum(-1))[..., None]], -1)
    return out * np.where(out[..., 3:] < 0, -1, 1)


def drive_keys(obj, armature, names, bones, poses, sigma) -> None:
    """Drivers of the keys' values. poses: [1 + keys, bones, 4] with rest first."""
    chain = Chain(armature, PREFIX)
    kernel = []
    for pose in poses:
        squares = []
        for bone, (x, y, z, w) in zip(bones, pose):
            # Half the chord between unit quaternions is the sine of a quarter of the angle: exact near the pose, where arccos is not.
            near = "+".join(f"pow({v}-{number(c)},2)" if c >= 0 else f"pow({v}+{number(-c)},2)" for v, c in zip("xyzw", (x, y, z, w)))
            far = "+".join(f"pow({v}+{number(c)},2)" if c >= 0 else f"pow({v}-{number(-c)},2)" for v, c in zip("xyzw", (x, y, z, w)))
            rotation = {v: (armature, bone, f"ROT_{v.upper()}") for v in "xyzw"}
            squares.append(chain.value(f"pow(4*asin(min(1,sqrt(min({near},{far}))/2)),2)", rotation))
        text, variables = chain.sum_text([(1.0, s) for s in squares])
        kernel.append(chain.value(f"exp(-sqrt({text})/{number(sigma)})", variables))
    inverse = radial(poses, sigma)
    total = chain.sum([(float(s), k) for s, k in zip(inverse.sum(0), kernel)])
    keys = obj.data.shape_keys
    for row, name in zip(inverse[1:], names):
        block = keys.key_blocks[name]
        block.slider_min, block.slider_max = -2, 2
        block.driver_remove("value")
        own = chain.sum([(float(f), k) for f, k in zip(row, kernel)])
        chain.drive(block, "value", -1, "a/b", {"a": own, "b": total})


OPERATORS = (CUTIS_OT_remember, CUTIS_OT_forget, CUTIS_OT_correct)
