"""In the gate: the zip installs, Blender's modifier and the preview are the command's, weights and drivers are right, bad input changes nothing."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from common import *  # noqa: E402,F403

install()
command("synth", "biped", "--size", "low", "-o", "biped.glb")
command("synth", "arm", "--size", "low", "-o", "arm.glb")


@check("the zip installs, and its panel is there")
def _():
    assert all(hasattr(bpy.types, f"CUTIS_PT_{name}") for name in ("rig", "weights", "compare", "correct", "bake", "retarget"))


@check("the modifier and the live preview are the command's lbs, dqs, sbs and cor at keys")
def _():
    mesh, armature = load("biped.glb")
    play(armature, bpy.data.actions["bend_biped"])
    curve = next(c for c in bpy.data.actions["bend_biped"].fcurves if "forearm_l" in c.data_path)
    keys = [int(round(p.co[0])) for p in curve.keyframe_points]
    keys = keys[:: max(1, (len(keys) - 1) // 2)][:3]
    worst = {}
    for method in ("lbs", "dqs", "sbs", "cor"):
        command("deform", "biped.glb", "--clip", "bend", "--method", method, "-o", "frames.npy")
        frames = np.load(f"{T}/frames.npy")
        size = diagonal(frames[0])
        mesh.modifiers[0].use_deform_preserve_volume = method == "dqs"
        mesh.cutis.method = method
        bpy.ops.cutis.preview(action="start")
        shown = next(o for o in bpy.data.objects if o.cutis.shows)
        bpy.ops.object.select_all(action="DESELECT")
        off = []
        for frame in keys:
            bpy.context.scene.frame_set(frame)
            off.append(np.abs(y_up(vertices(shown)) - frames[frame]).max() / size)
        bpy.ops.cutis.preview(action="stop")
        assert not [o for o in bpy.data.objects if o.cutis.shows] and not mesh.hide_get()
        for frame in keys if method in ("lbs", "dqs") else ():
            bpy.context.scene.frame_set(frame)
            off.append(np.abs(y_up(vertices(mesh)) - frames[frame]).max() / size)
        worst[method] = max(off)
        assert len(keys) == 3 and np.abs(frames[keys] - frames[0]).max() > 0.01 * size
    assert max(worst.values()) < 1e-5, worst
    return f"{max(worst.values()):.1e} of the diagonal"


@check("reducing keeps locked groups and counts, is undone, and gives the same again")
def _():
    mesh, _ = load("biped.glb")
    mesh.vertex_groups["head"].lock_weight = True
    old = weights(mesh)
    bpy.ops.ed.undo_push(message="before")
    before = snapshot()
    bpy.ops.cutis.reduce_weights("EXEC_DEFAULT", True, influences=2, effort="fast")
    mesh = bpy.data.objects["biped_mesh"]
    new, after = weights(mesh), snapshot()
    assert max(len(w) for w in new) == 2 and max(len(w) for w in old) > 2
    assert all(abs(a.get("head", 0) - b.get("head", 0)) < 1e-6 for a, b in zip(old, new))
    assert all(abs(sum(w.values()) - 1) < 1e-4 for w in new)
    bpy.ops.ed.undo()
    assert snapshot() == before, "undo does not give the scene back"
    bpy.ops.cutis.reduce_weights("EXEC_DEFAULT", True, influences=2, effort="fast")
    assert snapshot() == after


@check("correctives are 1 at their pose, 0 at the others, and PSD's weights between")
def _():
    mesh, armature = load("biped.glb")
    armature.animation_data.action = None
    mesh.shape_key_add(name="Basis")
    poses = {"bent": {"forearm_l": ((0, 0, 1), 1.2)}, "raised": {"upperarm_l": ((0, 1, 0), 0.9)}}
    for name, turns in poses.items():
        key = mesh.shape_key_add(name=name)
        for point in key.data:
            point.co.y += 0.02 * np.sin(20 * point.co.x + len(name))
        mesh.active_shape_key_index = len(mesh.data.shape_keys.key_blocks) - 1
        turn(armature, turns)
        bpy.ops.cutis.remember_pose(shape="key")
    reset(armature)
    bpy.ops.cutis.correct()
    keys = mesh.data.shape_keys.key_blocks
    for name, turns in poses.items():
        turn(armature, turns)
        assert all(abs(keys[other].value - (other == name)) < 1e-4 for other in poses), [keys[o].value for o in poses]
    # By hand: three poses on two axes, phi = exp(-distance / largest), weights normalised.
    a, b, half = 1.2, 0.9, 0.6
    far = np.hypot(a, b)
    distance = np.array([[0, a, b], [a, 0, far], [b, far, 0]])
    f = np.linalg.inv(np.exp(-distance / far)) @ np.exp(-np.array([half, half, np.hypot(half, b)]) / far)
    turn(armature, {"forearm_l": ((0, 0, 1), half)})
    assert abs(keys["bent"].value - f[1] / f.sum()) < 1e-4 and abs(keys["raised"].value - f[2] / f.sum()) < 1e-4


@check("baked helpers follow by drivers without Python, as the command plays the baked file")
def _():
    mesh, armature = load("arm.glb")
    play(armature, next(a for a in bpy.data.actions if a.name.startswith("twist")))
    bpy.ops.cutis.bake(helpers=2, file=f"{T}/baked.glb")
    return baked_equals(mesh, armature, f"{T}/baked.glb")


@check("bad input is refused in a line, and the scene is as it was")
def _():
    clear()
    bpy.ops.mesh.primitive_cube_add()
    refused(bpy.ops.cutis.reduce_weights, "Armature modifier")
    refused(bpy.ops.cutis.correct, "Armature modifier")
    refused(bpy.ops.cutis.bake, "Armature modifier")
    refused(bpy.ops.cutis.retarget, "armature")
    mesh, armature = load("biped.glb")
    armature.animation_data.action = None
    refused(bpy.ops.cutis.rig, "already")
    refused(bpy.ops.cutis.retarget, "no file", filepath="/nowhere.bvh")
    with open(f"{T}/bad.bvh", "w") as out:
        out.write("HIERARCHY\nROOT")
    refused(bpy.ops.cutis.retarget, "bad.bvh", filepath=f"{T}/bad.bvh")
    refused(bpy.ops.cutis.correct, "remembered")
    reset(armature)
    bpy.context.view_layer.update()
    refused(bpy.ops.cutis.remember_pose, "rest pose")
    refused(bpy.ops.cutis.bake, "does not move", frame_start=1, frame_end=4)
    refused(bpy.ops.cutis.rigid_pieces, "one piece")
    refused(bpy.ops.cutis.compare_end, "no ghost")
    mesh.scale.x = 0
    bpy.context.view_layer.update()
    refused(bpy.ops.cutis.reduce_weights, "scale of zero")


end()
