"""What operators do to the scene: weights, bones, actions, drivers, objects beside others. Only what is named is touched."""
from __future__ import annotations

from contextlib import contextmanager

import bpy
import numpy as np
from mathutils import Matrix, Vector

from .scene import modifiers_below

EXPRESSION_MAX = 250  # Blender cuts expressions at 255 characters


# Weights -------------------------------------------------------------------------------------------

def own_weights(obj: bpy.types.Object, names: list[str]) -> np.ndarray:
    """[vertices of the mesh itself, names]."""
    column = {obj.vertex_groups[name].index: i for i, name in enumerate(names) if name in obj.vertex_groups}
    out = np.zeros((len(obj.data.vertices), len(names)), np.float32)
    for row, vertex in zip(out, obj.data.vertices):
        for held in vertex.groups:
            if held.group in column:
                row[column[held.group]] = held.weight
    return out


def locked_columns(obj: bpy.types.Object, names: list[str]) -> np.ndarray:
    return np.array([name in obj.vertex_groups and obj.vertex_groups[name].lock_weight for name in names], bool)


def with_locks(old: np.ndarray, new: np.ndarray, locked: np.ndarray, limit: int = 0) -> np.ndarray:
    """New weights, but locked columns are the old ones; the others share what these leave of one. limit: influences a vertex keeps, locked ones first."""
    out = new.astype(np.float64).copy()
    out[:, locked] = old[:, locked]
    free = np.clip(1 - old[:, locked].sum(1), 0, 1)
    open_ = out[:, ~locked]
    empty = (open_.sum(1) <= 0) & (free > 0)
    open_[empty] = old[empty][:, ~locked]
    if limit:
        room = np.maximum(limit - (old[:, locked] > 0).sum(1), 0)
        rank = np.argsort(np.argsort(-open_, axis=1, kind="stable"), axis=1)
        open_[rank >= room[:, None]] = 0
    total = open_.sum(1)
    out[:, ~locked] = open_ * np.where(total > 0, free / np.where(total > 0, total, 1), 0)[:, None]
    return out.astype(np.float32)


def write_weights(obj: bpy.types.Object, names: list[str], weights: np.ndarray) -> None:
    """Exactly these weights in the groups of these names; other groups stay. A group that is not there is made if it gets weight."""
    every = list(range(len(weights)))
    for i, name in enumerate(names):
        column = weights[:, i]
        group = obj.vertex_groups.get(name)
        if group is None:
            if not (column > 0).any():
                continue
            group = obj.vertex_groups.new(name=name)
        group.remove(every)
        for vertex in np.nonzero(column > 0)[0]:
            group.add([int(vertex)], float(column[vertex]), "REPLACE")


# Objects -------------------------------------------------------------------------------------------

@contextmanager
def active(context: bpy.types.Context, obj: bpy.types.Object, mode: str):
    """An object in a mode; the active object, the selection and its mode are what they were afterwards."""
    layer = context.view_layer
    before, selected, was = layer.objects.active, list(context.selected_objects), None
    if before is not None and before.mode != "OBJECT":
        was = before.mode
        bpy.ops.object.mode_set(mode="OBJECT")
    for other in selected:
        other.select_set(False)
    hidden = obj.hide_get()
    obj.hide_set(False)
    layer.objects.active = obj
    obj.select_set(True)
    try:
        bpy.ops.object.mode_set(mode=mode)
        yield
    finally:
        bpy.ops.object.mode_set(mode="OBJECT")
        obj.select_set(False)
        obj.hide_set(hidden)
        for other in selected:
            other.select_set(True)
        layer.objects.active = before
        if was:
            bpy.ops.object.mode_set(mode=was)


def beside(obj: bpy.types.Object, new: bpy.types.Object) -> None:
    for collection in obj.users_collection or [bpy.context.scene.collection]:
        collection.objects.link(new)


def copy_modifiers(source: list[bpy.types.Modifier], target: bpy.types.Object) -> None:
    for modifier in source:
        made = target.modifiers.new(modifier.name, modifier.type)
        for prop in modifier.bl_rna.properties:
            if not prop.is_readonly and prop.identifier not in ("name", "type"):
                try:
                    setattr(made, prop.identifier, getattr(modifier, prop.identifier))
                except (AttributeError, TypeError):
                    pass  # what a modifier computes for itself


def shown_copy(obj: bpy.types.Object, shape, name: str) -> bpy.types.Object:
    """An object that shows a body's vertices as the Armature modifier would leave them: its modifiers below act on it as well, it follows the body."""
    from .scene import at_rest
    with at_rest(obj):
        depsgraph = bpy.context.evaluated_depsgraph_get()
        mesh = bpy.data.meshes.new_from_object(obj.evaluated_get(depsgraph), preserve_all_data_layers=True, depsgraph=depsgraph)
    mesh.name = name
    made = bpy.data.objects.new(name, mesh)
    made.cutis.shows = obj
    made.parent = obj
    made.hide_select = True
    made.hide_render = True
    beside(obj, made)
    copy_modifiers(modifiers_below(obj), made)
    return made


def remove_shown(obj: bpy.types.Object) -> None:
    mesh = obj.data
    bpy.data.objects.remove(obj)
    if mesh.users == 0:
        bpy.data.meshes.remove(mesh)


# Armatures and actions -----------------------------------------------------------------------------

def make_bones(context, armature: bpy.types.Object, joints: list[dict]) -> list[str]:
    """joints: name, parent (a name or None), head, tail in armature space, deform; or `matrix` and `length` in place of head and tail."""
    made: list[str] = []
    with active(context, armature, "EDIT"):
        edit = armature.data.edit_bones
        for joint in joints:
            bone = edit.new(joint["name"])
            if "matrix" in joint:
                bone.head, bone.tail = (0, 0, 0), (0, joint["length"], 0)
                bone.matrix = Matrix(joint["matrix"])
                bone.length = joint["length"]
            else:
                bone.head, bone.tail = Vector(joint["head"]), Vector(joint["tail"])
            bone.use_deform = joint.get("deform", True)
            made.append(bone.name)
        real = dict(zip((joint["name"] for joint in joints), made))  # parents may come after their children
        for name, joint in zip(made, joints):
            if joint["parent"]:
                edit[name].parent = edit.get(real.get(joint["parent"], joint["parent"]))
    return made


def insert_armature_modifier(obj: bpy.types.Object, armature: bpy.types.Object) -> bpy.types.Modifier:
    below = len(modifiers_below(obj))
    modifier = obj.modifiers.new("Armature", "ARMATURE")
    modifier.object = armature
    place = len(obj.modifiers) - 1 - below
    if place != len(obj.modifiers) - 1:
        with bpy.context.temp_override(object=obj):
            bpy.ops.object.modifier_move_to_index(modifier=modifier.name, index=place)
    return modifier


ROTATION = {"QUATERNION": ("rotation_quaternion", 4), "AXIS_ANGLE": ("rotation_axis_angle", 4)}


def write_action(armature: bpy.types.Object, name: str, frames: list[float], channels: dict[str, np.ndarray]) -> bpy.types.Action:
    """A new action: for every bone its basis matrices [frames, 4, 4] as location and rotation in the bone's own mode, and scale where it is not one."""
    action = bpy.data.actions.new(name)
    action.use_fake_user = True
    for bone_name, matrices in channels.items():
        bone = armature.pose.bones[bone_name]
        path = f'pose.bones["{bpy.utils.escape_identifier(bone_name)}"].'
        parts = [Matrix(m).decompose() for m in matrices]
        _curves(action, path + "location", frames, np.array([p[0] for p in parts]), bone_name, 0.0)
        attribute, width = ROTATION.get(bone.rotation_mode, ("rotation_euler", 3))
        values, before = [], None
        for _, turn, _ in parts:
            if before is not None and turn.dot(before) < 0:
                turn.negate()
            if width == 4 and attribute == "rotation_quaternion":
                values.append(tuple(turn))
            elif width == 4:
                axis, angle = turn.to_axis_angle()
                values.append((angle, *axis))
            else:
                values.append(tuple(turn.to_euler(bone.rotation_mode, values_euler(values, bone.rotation_mode)) if values else turn.to_euler(bone.rotation_mode)))
            before = turn
        _curves(action, path + attribute, frames, np.array(values), bone_name, None)
        _curves(action, path + "scale", frames, np.array([p[2] for p in parts]), bone_name, 1.0)
    return action


def values_euler(values, mode):
    from mathutils import Euler
    return Euler(values[-1], mode)


def _curves(action, path, frames, values, group, still) -> None:
    if still is not None and np.abs(values - still).max() < 1e-6:
        return
    for index in range(values.shape[1]):
        curve = action.fcurves.new(path, index=index, action_group=group)
        curve.keyframe_points.add(len(frames))
        curve.keyframe_points.foreach_set("co", np.stack([frames, values[:, index]], 1).astype(np.float32).ravel())
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR"
        curve.update()


# Drivers -------------------------------------------------------------------------------------------

def number(value: float, digits: int = 7) -> str:
    text = f"{value:.{digits}g}"
    return text.replace("e-0", "e-").replace("e+0", "e")


class Chain:
    """Drivers in plain arithmetic, which Blender evaluates without Python: values on the way are custom properties of one object."""

    def __init__(self, owner: bpy.types.Object, prefix: str):
        self.owner, self.prefix, self.count = owner, prefix, 0

    def value(self, expression: str, variables: dict[str, object]) -> str:
        """A property that follows an expression; its name."""
        name = f"{self.prefix}{self.count}"
        self.count += 1
        self.owner[name] = 0.0
        self.drive(self.owner, f'["{name}"]', -1, expression, variables)
        return name

    def drive(self, owner, path: str, index: int, expression: str, variables: dict[str, object]) -> None:
        """variables: a property's name, or (armature, bone, transform type) of a bone's own rotation."""
        if len(expression) > EXPRESSION_MAX:
            raise ValueError(f"an expression of {len(expression)} characters is too long for a driver")
        curve = owner.driver_add(path, index) if index >= 0 else owner.driver_add(path)
        driver = curve.driver
        driver.type = "SCRIPTED"
        for name, what in variables.items():
            variable = driver.variables.new()
            variable.name = name
            if isinstance(what, str):
                variable.type = "SINGLE_PROP"
                variable.targets[0].id = self.owner
                variable.targets[0].data_path = f'["{what}"]'
            else:
                armature, bone, kind = what
                variable.type = "TRANSFORMS"
                target = variable.targets[0]
                target.id, target.bone_target, target.transform_type = armature, bone, kind
                target.transform_space, target.rotation_mode = "LOCAL_SPACE", "QUATERNION"
        driver.expression = expression

    def sum(self, terms: list[tuple[float, str]], constant: float = 0.0) -> str:
        """constant + sum of factor times property, in as many steps as expressions have room for; the property's name."""
        expression, variables = self.sum_text(terms, constant)
        return self.value(expression, variables)

    def sum_text(self, terms: list[tuple[float, str]], constant: float = 0.0) -> tuple[str, dict[str, str]]:
        terms = [(factor, name) for factor, name in terms if factor != 0]
        while len(terms) > 14:
            terms = [(1.0, self.sum(terms[i:i + 14])) for i in range(0, len(terms), 14)]
        text, variables = number(constant) if constant or not terms else "", {}
        for letter, (factor, name) in zip("abcdefghijklmnopqrstuvwxyz", terms):
            text += ("" if factor < 0 or not text else "+") + f"{number(factor)}*{letter}"
            variables[letter] = name
        return text, variables


def forget_chain(owner: bpy.types.Object, prefix: str) -> None:
    for name in [key for key in owner.keys() if key.startswith(prefix)]:
        owner.driver_remove(f'["{name}"]')
        del owner[name]
