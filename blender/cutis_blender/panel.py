"""The tab Cutis in the sidebar of the 3D view: six panels, in the order in which a character is made."""
from __future__ import annotations

import bpy

from . import preview
from .scene import armature_of, mesh_of


def button(layout, context, operator: str, **fixed):
    """A button that runs an operator with the panel's settings."""
    name = operator.split(".")[1]
    settings = getattr(context.scene.cutis, name)
    made = layout.operator(operator)
    for key in settings.__annotations__:
        setattr(made, key, fixed.get(key, getattr(settings, key)))
    return made


def shown(layout, context, operator: str, *names: str):
    column = layout.column(align=True)
    for name in names:
        column.prop(getattr(context.scene.cutis, operator), name)


class Panel:
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Cutis"

    def draw(self, context):
        layout = self.layout
        layout.use_property_split, layout.use_property_decorate = True, False
        self.rows(context, layout, mesh_of(context))


class CUTIS_PT_rig(Panel, bpy.types.Panel):
    bl_label = "Rig"

    def rows(self, context, layout, obj):
        if context.scene.cutis.told:
            box = layout.box().column(align=True)
            for part in context.scene.cutis.told.removeprefix("Cutis: ").split("; "):
                for line in wrapped(part, context.region.width):
                    box.label(text=line)
        armature = armature_of(obj)
        layout.label(text=f"{obj.name}, moved by {armature.name}" if armature else obj.name if obj else "No mesh is active", icon="MESH_DATA" if obj else "ERROR")
        shown(layout, context, "rig", "kind", "naming", "parts")
        if context.scene.cutis.rig.parts == "attribute":
            shown(layout, context, "rig", "attribute")
        shown(layout, context, "rig", "influences", "twist", "keep")
        button(layout, context, "cutis.rig")


class CUTIS_PT_weights(Panel, bpy.types.Panel):
    bl_label = "Weights"

    def rows(self, context, layout, obj):
        shown(layout, context, "automatic_weights", "influences", "voxels", "softness", "every_bone")
        button(layout, context, "cutis.automatic_weights")
        layout.separator()
        shown(layout, context, "reduce_weights", "influences", "effort", "max_error")
        button(layout, context, "cutis.reduce_weights")
        layout.separator()
        shown(layout, context, "rigid_pieces", "follow", "selected")
        button(layout, context, "cutis.rigid_pieces")
        shown(layout, context, "mirror_weights", "from_side")
        button(layout, context, "cutis.mirror_weights")


class CUTIS_PT_compare(Panel, bpy.types.Panel):
    bl_label = "Compare"

    def rows(self, context, layout, obj):
        if obj is not None:
            column = layout.column(align=True)
            column.use_property_decorate = True
            column.prop(obj.cutis, "method", text="Preview")
            column.prop(obj.cutis, "factor")
            on = bool(preview.find_shown(obj))
            layout.operator("cutis.preview", text="Stop Preview" if on else "Live Preview", depress=on).action = "toggle"
        layout.separator()
        shown(layout, context, "compare", "method", "full")
        row = layout.row(align=True)
        button(row, context, "cutis.compare")
        row.operator("cutis.compare_end", text="", icon="X")


class CUTIS_PT_correct(Panel, bpy.types.Panel):
    bl_label = "Correct"

    def rows(self, context, layout, obj):
        shown(layout, context, "remember_pose", "shape")
        button(layout, context, "cutis.remember_pose")
        for held in (obj.cutis.poses if obj is not None else ()):
            row = layout.row(align=True)
            row.label(text=held.name, icon="SHAPEKEY_DATA" if held.copy is None else "SCULPTMODE_HLT")
            row.operator("cutis.forget_pose", text="", icon="X").name = held.name
        shown(layout, context, "correct", "limit_bones")
        button(layout, context, "cutis.correct")


class CUTIS_PT_bake(Panel, bpy.types.Panel):
    bl_label = "Bake for Engines"

    def rows(self, context, layout, obj):
        settings = context.scene.cutis.bake
        shown(layout, context, "bake", "source")
        if settings.source == "method":
            shown(layout, context, "bake", "method")
        else:
            layout.prop_search(settings, "object", bpy.data, "objects")
        shown(layout, context, "bake", "helpers", "influences", "drivers", "frame_start", "frame_end", "file")
        button(layout, context, "cutis.bake")


class CUTIS_PT_retarget(Panel, bpy.types.Panel):
    bl_label = "Retarget"

    def rows(self, context, layout, obj):
        settings = context.scene.cutis.retarget
        shown(layout, context, "retarget", "source")
        if settings.source == "file":
            shown(layout, context, "retarget", "filepath", "clip")
        else:
            layout.prop_search(settings, "armature", bpy.data, "objects")
        shown(layout, context, "retarget", "feet", "across", "start")
        button(layout, context, "cutis.retarget")


def wrapped(text: str, width: int) -> list[str]:
    """Lines that fit the sidebar; Blender cuts labels."""
    room, lines = max(20, int(width / (7 * bpy.context.preferences.system.ui_scale))), [""]
    for word in text.split():
        if len(lines[-1]) + len(word) + 1 > room and lines[-1]:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines


PANELS = (CUTIS_PT_rig, CUTIS_PT_weights, CUTIS_PT_compare, CUTIS_PT_correct, CUTIS_PT_bake, CUTIS_PT_retarget)
