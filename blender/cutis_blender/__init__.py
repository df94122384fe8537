"""Cutis in Blender: rig, weight, compare, correct, bake and retarget from a panel in the sidebar of the 3D view (docs/guide/blender.md)."""
bl_info = {
    "name": "Cutis",
    "author": "The Cutis authors",
    "version": (0, 1, 0),
    "blender": (3, 4, 0),
    "location": "3D View > Sidebar > Cutis",
    "description": "Character skinning: rigs, automatic and reduced weights, methods compared live, correctives, helper bones for engines, retargeting",
    "category": "Rigging",
}

import bpy  # noqa: E402
from bpy.props import CollectionProperty, EnumProperty, FloatProperty, PointerProperty, StringProperty  # noqa: E402

from . import bake, compare, correct, panel, preview, retarget, rig, weights  # noqa: E402

MODULES = (rig, weights, compare, correct, bake, retarget)


class CUTIS_PG_pose(bpy.types.PropertyGroup):
    """A pose that a shape was sculpted at."""
    pose: StringProperty()
    copy: PointerProperty(type=bpy.types.Object)


class CUTIS_PG_object(bpy.types.PropertyGroup):
    shows: PointerProperty(type=bpy.types.Object, description="The body that this object shows another way")
    method: EnumProperty(name="Method", items=[*compare.METHODS, ("modifier", "As the Modifier", "What Blender itself shows")], default="dqs", description="That the live preview shows")
    factor: FloatProperty(name="Factor", default=1, min=0, max=1, description="0: linear blending, 1: the method")
    poses: CollectionProperty(type=CUTIS_PG_pose)


def _settings():
    """For every operator a group of the same properties on the scene: what the panel shows and buttons take."""
    groups = {}
    for module in MODULES:
        for operator in module.OPERATORS:
            operator.__annotations__ = dict(operator.options)
            name = operator.bl_idname.split(".")[1]
            groups[name] = type(f"CUTIS_PG_{name}", (bpy.types.PropertyGroup,), {"__annotations__": dict(operator.options)})
    return groups


GROUPS = _settings()
CUTIS_PG_scene = type("CUTIS_PG_scene", (bpy.types.PropertyGroup,), {"__annotations__": {
    "told": StringProperty(name="Told", description="What the last operator said"),
    **{name: PointerProperty(type=group) for name, group in GROUPS.items()}}})
CLASSES = (CUTIS_PG_pose, CUTIS_PG_object, *GROUPS.values(), CUTIS_PG_scene, *(o for m in MODULES for o in m.OPERATORS), *panel.PANELS)


def register():
    for each in CLASSES:
        bpy.utils.register_class(each)
    bpy.types.Object.cutis = PointerProperty(type=CUTIS_PG_object)
    bpy.types.Scene.cutis = PointerProperty(type=CUTIS_PG_scene)
    preview.register()


def unregister():
    preview.unregister()
    del bpy.types.Scene.cutis
    del bpy.types.Object.cutis
    for each in reversed(CLASSES):
        bpy.utils.unregister_class(each)
