"""Compare: a ghost of another method at this frame, how far it is from what Blender shows as colours, and volumes; the live preview's switch."""
from __future__ import annotations

import bpy
import numpy as np
from bpy.props import EnumProperty, FloatProperty

from . import cutis, preview
from .change import remove_shown, shown_copy
from .scene import need_mesh, need_skin, played_method
from .task import Task

METHODS = [("sbs", "Spherical", "One rotation centre per bone set; keeps volume"), ("dqs", "Dual Quaternion", "Keeps volume, bulges a little"),
           ("cor", "Optimized Centres", "Keeps volume, no bulge"), ("lbs", "Linear", "Fast, loses volume"), ("rigid", "Rigid", "Each vertex follows its largest weight")]
COLOURS = "cutis_error"


def heat(values: np.ndarray) -> np.ndarray:
    """Blue, through green and yellow, to red; values 0 to 1."""
    x = np.clip(values, 0, 1)[:, None]
    stops, colours = np.array([0, 0.33, 0.66, 1]), np.array([[0.05, 0.1, 0.6], [0.05, 0.55, 0.3], [0.95, 0.75, 0.1], [0.8, 0.02, 0.02]])
    mixed = np.stack([np.interp(x[:, 0], stops, colours[:, i]) for i in range(3)], 1)
    return np.concatenate([mixed, np.ones_like(x)], 1).astype(np.float32)


def ghosts(obj) -> list[bpy.types.Object]:
    return [o for o in bpy.data.objects if o.cutis.shows == obj and o.get("cutis_ghost")]


def error_material() -> bpy.types.Material:
    material = bpy.data.materials.get("Cutis error")
    if material is None:
        material = bpy.data.materials.new("Cutis error")
        material.use_nodes = True
        nodes = material.node_tree.nodes
        colours = nodes.new("ShaderNodeVertexColor")
        colours.layer_name = COLOURS
        material.node_tree.links.new(colours.outputs["Color"], nodes["Principled BSDF"].inputs["Base Color"])
    return material


class CUTIS_OT_compare(Task, bpy.types.Operator):
    """A ghost of another method at this frame, coloured by its distance from what Blender shows"""
    bl_idname = "cutis.compare"
    bl_label = "Compare"
    options = {
        "method": EnumProperty(name="Method", items=METHODS, default="dqs"),
        "full": FloatProperty(name="Red At", default=0, min=0, unit="LENGTH", subtype="DISTANCE", description="Distance that is red; 0: the largest there is"),
    }

    def prepare(self, context):
        posable = preview.Posable(context, need_skin(context)[0])
        skin, morphs = posable.skin, posable.morphs()
        self._skin = skin
        world = skin.world_matrices(skin.bones.posed())

        def work():
            rest = skin.model.vertices
            shown = cutis.bind(skin.model, played_method(skin.obj)).deform(world, kind="world", morphs=morphs)
            other = cutis.bind(skin.model, self.method).deform(world, kind="world", morphs=morphs)
            return shown, other, [cutis.measure(each, skin.shape.faces).volume for each in (rest, shown, other)]
        return work

    def finish(self, context, result):
        shown, other, volumes = result
        skin, obj = self._skin, self._skin.obj
        for old in ghosts(obj):
            remove_shown(old)
        ghost = shown_copy(obj, skin.shape, f"{obj.name} {self.method}")
        ghost["cutis_ghost"] = True
        mesh = ghost.data
        mesh.vertices.foreach_set("co", np.ascontiguousarray(skin.brought_back(other)).ravel())
        apart = np.linalg.norm(other - shown, axis=1) * skin.scale
        layer = mesh.color_attributes.new(COLOURS, "FLOAT_COLOR", "POINT")
        metres = self.full * context.scene.unit_settings.scale_length
        layer.data.foreach_set("color", heat(apart / (metres or max(float(apart.max()), 1e-12))).ravel())
        mesh.color_attributes.active_color = layer
        distance = mesh.attributes.new("cutis_distance", "FLOAT", "POINT")
        distance.data.foreach_set("value", apart.astype(np.float32))
        mesh.materials.clear()
        mesh.materials.append(error_material())
        mesh.update()
        part = [100 * (v / volumes[0] - 1) if volumes[0] else 0 for v in volumes]
        self.say(context, f"Cutis: {self.method} is {1e3 * np.sqrt((apart ** 2).mean()):.3g} mm off what Blender shows (RMS), {1e3 * apart.max():.3g} mm at most; "
                          f"volume {part[1]:+.2f} % shown, {part[2]:+.2f} % by {self.method}")


class CUTIS_OT_compare_end(bpy.types.Operator):
    """Remove the ghost"""
    bl_idname = "cutis.compare_end"
    bl_label = "Remove Ghost"
    bl_options = {"REGISTER", "UNDO"}
    options = {}

    def execute(self, context):
        try:
            held = ghosts(need_mesh(context))
        except Exception as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        if not held:
            self.report({"ERROR"}, "Cutis: there is no ghost")
            return {"CANCELLED"}
        for ghost in held:
            remove_shown(ghost)
        return {"FINISHED"}


class CUTIS_OT_preview(Task, bpy.types.Operator):
    """Show the body by another method while you pose; again: stop"""
    bl_idname = "cutis.preview"
    bl_label = "Live Preview"
    options = {"action": EnumProperty(name="Action", items=[("toggle", "Toggle", ""), ("start", "Start", ""), ("stop", "Stop", "")], options={"SKIP_SAVE"})}

    def prepare(self, context):
        obj, _ = need_skin(context)
        on = bool(preview.find_shown(obj))
        if self.action == "stop" and not on:
            from .scene import Refusal
            raise Refusal(f"Cutis: {obj.name} has no preview")
        self._obj, self._stop = obj, self.action == "stop" or (self.action == "toggle" and on)
        return lambda: None

    def finish(self, context, _):
        preview.stop(self._obj) if self._stop else preview.start(context, self._obj)

    def invoke(self, context, event):
        return self.execute(context)


OPERATORS = (CUTIS_OT_compare, CUTIS_OT_compare_end, CUTIS_OT_preview)
