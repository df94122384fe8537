"""The guide's tutorial as it stands: its Python blocks one after the other, and what they promise."""
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from common import *  # noqa: E402,F403

install()
GUIDE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/guide/blender.md")


@check("the guide's ten minutes run as they stand, and do what it says")
def _():
    command("synth", "family", "--kind", "human", "--seed", "7", "--unrigged", "-o", "body.glb")
    clear()
    blocks = re.findall(r"```python\n(.*?)```", open(GUIDE).read(), re.S)
    assert len(blocks) == 5
    names = {"BODY": f"{T}/body.glb"}
    for block in blocks:
        exec(compile(block, GUIDE, "exec"), names)
    body, rig = names["body"], names["rig"]
    assert {"head", "forearm.L", "upperarm.R"} <= {bone.name for bone in rig.data.bones}
    assert max(len(w) for w in weights(body)) <= 3
    names["pose"](forearm_L=((1, 0, 0), 90))
    rig.animation_data.action = None
    names["pose"](forearm_L=((1, 0, 0), 90))
    assert abs(names["muscle"].value - 1) < 1e-3, names["muscle"].value
    helpers = [bone.name for bone in bpy.data.objects[f"{rig.name} baked"].data.bones if bone.name.startswith("helper")]
    assert len(helpers) == 4 and len(bpy.data.objects[f"{body.name} baked"].vertex_groups) > len(helpers)
    return bpy.context.scene.cutis.told.removeprefix("Cutis: ")


end()
