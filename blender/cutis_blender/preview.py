"""The live preview: an object beside the body that shows it by another method, in every pose and frame.

The body itself is hidden meanwhile and otherwise left alone. What is bound is kept; a pose costs one deformation and one copy into the mesh.
"""
from __future__ import annotations

import bpy
import numpy as np
from bpy.app.handlers import persistent

from . import cutis
from .change import remove_shown, shown_copy
from .scene import Refusal, armature_modifier, array_of, at_rest, make_skin, played_method

_live: dict[str, "Live"] = {}


def key_displacements(obj: bpy.types.Object) -> dict[str, np.ndarray]:
    """What shape keys add, relative to the keys they are relative to."""
    keys, out = obj.data.shape_keys, {}
    if keys is None or not keys.use_relative:
        return out
    places = {}
    for block in keys.key_blocks:
        places[block.name] = np.empty(3 * len(obj.data.vertices), np.float32)
        block.data.foreach_get("co", places[block.name])
    for block in keys.key_blocks[1:]:
        moved = (places[block.name] - places[block.relative_key.name]).reshape(-1, 3)
        if block.vertex_group and block.vertex_group in obj.vertex_groups:
            group = obj.vertex_groups[block.vertex_group].index
            moved *= np.array([[next((g.weight for g in v.groups if g.group == group), 0.0)] for v in obj.data.vertices], np.float32)
        out[block.name] = moved
    return out


class Posable:
    """A skin whose shape keys count: the rest shape is as it was read, and keys that have changed since are added to it."""

    def __init__(self, context, obj: bpy.types.Object):
        targets = key_displacements(obj)
        self.obj, self.skin = obj, make_skin(context, obj)
        if len(self.skin.shape.vertices) != len(obj.data.vertices):
            targets = {}  # modifiers above the armature make vertices that keys do not know
        self.targets = list(targets)
        if targets:
            with at_rest(obj):
                self.started = self.values()
            self.skin = make_skin(context, obj, targets=targets)

    def values(self) -> np.ndarray:
        blocks = self.obj.data.shape_keys.key_blocks
        return np.array([0.0 if blocks[name].mute else blocks[name].value for name in self.targets], np.float32)

    def morphs(self) -> np.ndarray | None:
        return self.values() - self.started if self.targets else None


class Live(Posable):
    def __init__(self, context, obj: bpy.types.Object, shown: bpy.types.Object):
        super().__init__(context, obj)
        self.shown = shown
        self.bindings: dict[tuple, cutis.Binding] = {}
        self.out = np.empty((self.skin.model.vertex_count, 3), np.float32)
        self.matrices = self.skin.world_matrices(self.skin.bones.rest_world)
        self.state: bytes = b""
        self.updates = 0

    def binding(self, method: str, factor: float) -> cutis.Binding:
        key = (method, round(factor, 2))
        if key not in self.bindings:
            options = {} if method == "lbs" or key[1] == 1 else {"blend": np.full(self.skin.model.vertex_count, key[1], np.float32)}
            if len(self.bindings) > 12:
                self.bindings.clear()
            self.bindings[key] = cutis.bind(self.skin.model, method, **options)
        return self.bindings[key]

    def update(self, depsgraph) -> None:
        settings, skin = self.obj.cutis, self.skin
        skin.to_armature = np.linalg.inv(array_of(skin.armature.matrix_world)) @ array_of(self.obj.matrix_world)
        self.matrices[1:1 + len(skin.bones.names)] = skin.bones.posed(depsgraph)[:, :3]
        method = played_method(self.obj) if settings.method == "modifier" else settings.method
        morphs = self.morphs()
        state = self.matrices.tobytes() + method.encode() + bytes(f"{settings.factor:.2f}", "ascii") + (morphs.tobytes() if morphs is not None else b"")
        if state == self.state:
            return
        self.state = state
        self.binding(method, settings.factor).deform(self.matrices, self.out, kind="world", morphs=morphs)
        mesh = self.shown.data
        mesh.vertices.foreach_set("co", np.ascontiguousarray(skin.brought_back(self.out)).ravel())
        mesh.update()
        self.updates += 1


def start(context, obj: bpy.types.Object) -> None:
    """Raises a Refusal, and leaves the scene as it was, where there is nothing to show."""
    make_skin(context, obj)
    for other in find_shown(obj):
        remove_shown(other)
    shown = shown_copy(obj, None, f"{obj.name} preview")
    shown["cutis_preview"] = True
    _live[obj.name] = Live(context, obj, shown)
    obj.hide_set(True)
    _live[obj.name].update(context.evaluated_depsgraph_get())


def stop(obj: bpy.types.Object) -> None:
    _live.pop(obj.name, None)
    for shown in find_shown(obj):
        remove_shown(shown)
    obj.hide_set(False)


def find_shown(obj: bpy.types.Object) -> list[bpy.types.Object]:
    return [o for o in bpy.data.objects if o.cutis.shows == obj and o.get("cutis_preview")]


def find(obj: bpy.types.Object) -> "Live | None":
    return _live.get(obj.name)


def _alive(live: Live) -> bool:
    try:
        return live.shown.name in bpy.data.objects and live.obj.name in bpy.data.objects and live.skin.armature.name in bpy.data.objects
    except ReferenceError:
        return False


@persistent
def on_update(scene, depsgraph=None):
    for name, live in list(_live.items()):
        if not _alive(live):
            del _live[name]
            continue
        live.update(depsgraph or bpy.context.evaluated_depsgraph_get())


@persistent
def on_load(*_):
    """After undo and loading objects are others: previews are made ready again from what the scene says."""
    _live.clear()
    for shown in [o for o in bpy.data.objects if o.get("cutis_preview")]:
        obj = shown.cutis.shows
        if obj is None or armature_modifier(obj) is None:
            continue
        try:
            _live[obj.name] = Live(bpy.context, obj, shown)
        except (Refusal, RuntimeError, ValueError):
            pass  # nothing to show any more: the object stays as it was last


HANDLERS = (("depsgraph_update_post", on_update), ("frame_change_post", on_update), ("load_post", on_load), ("undo_post", on_load), ("redo_post", on_load))


def register():
    for name, function in HANDLERS:
        getattr(bpy.app.handlers, name).append(function)


def unregister():
    _live.clear()
    for name, function in HANDLERS:
        held = getattr(bpy.app.handlers, name)
        if function in held:
            held.remove(function)
