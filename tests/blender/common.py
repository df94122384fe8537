"""What tests of the add-on share: a scene from a file, the command's results, and the house's lines."""
import json
import os
import re
import subprocess
import sys
import time
import traceback

import bpy
import numpy as np
from mathutils import Matrix, Quaternion, Vector

np.bool = bool  # Debian's glTF importer of 3.4.1 names it; numpy 1.24 has dropped it

T = os.environ["CUTIS_TEST_FOLDER"]
COMMAND = os.environ["CUTIS"]
failed = 0


def check(name):
    """A test: its line is printed as it ends."""
    def wrap(function):
        global failed
        if not re.search(os.environ.get("CUTIS_ONLY", ""), name):  # for one test by hand
            return function
        begun = time.time()
        try:
            told = function()
            print(f"ok {name}{f' ({told})' if told else ''}", f"[{time.time() - begun:.1f} s]", flush=True)
        except Exception as error:
            failed += 1
            traceback.print_exc()
            print(f"not ok {name}: {type(error).__name__}: {str(error).splitlines()[0] if str(error) else 'see above'}", flush=True)
        return function
    return wrap


def end():
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(1 if failed else 0)


def command(*words):
    subprocess.run([COMMAND, *map(str, words), "-q"], cwd=T, check=True)


def install():
    """The zip, as a user installs it."""
    bpy.ops.preferences.addon_install(filepath=os.environ["CUTIS_ADDON"], overwrite=True)
    bpy.ops.preferences.addon_enable(module="cutis_blender")
    return sys.modules["cutis_blender"]


def clear():
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    if "cutis_blender" not in bpy.context.preferences.addons:
        bpy.ops.preferences.addon_enable(module="cutis_blender")


def load(path):
    """A file as Blender's importer has it: (mesh, armature), actions by clip."""
    clear()
    bpy.context.scene.render.fps = 30  # the importer puts keys by it
    bpy.ops.import_scene.gltf(filepath=os.path.join(T, path))
    mesh = next(o for o in bpy.data.objects if o.type == "MESH" and any(m.type == "ARMATURE" for m in o.modifiers))
    armature = mesh.modifiers[0].object
    for track in armature.animation_data.nla_tracks if armature.animation_data else []:
        track.mute = True
    bpy.context.view_layer.objects.active = mesh
    return mesh, armature


def play(armature, action, fps=30):
    for bone in armature.pose.bones:  # what another action left
        bone.matrix_basis = Matrix()
    armature.animation_data_create().action = action
    scene = bpy.context.scene
    scene.render.fps, scene.render.fps_base = fps, 1
    first, last = action.frame_range
    scene.frame_start, scene.frame_end = int(round(first)), int(round(last))
    scene.frame_set(scene.frame_start)


def vertices(obj, world=True):
    """Evaluated, as Blender shows it."""
    depsgraph = bpy.context.evaluated_depsgraph_get()
    of = obj.evaluated_get(depsgraph)
    mesh = of.to_mesh()
    out = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.vertices.foreach_get("co", out)
    of.to_mesh_clear()
    out = out.reshape(-1, 3)
    m = np.array(obj.matrix_world)
    return out @ m[:3, :3].T + m[:3, 3] if world else out


def y_up(places):
    return np.stack([places[:, 0], places[:, 2], -places[:, 1]], 1)


def diagonal(places):
    return float(np.linalg.norm(np.ptp(places, axis=0)))


def weights(obj):
    return [{obj.vertex_groups[g.group].name: round(g.weight, 6) for g in v.groups if g.weight > 0} for v in obj.data.vertices]


def nearest(a, b):
    """For each of a the place in b."""
    from mathutils.kdtree import KDTree
    tree = KDTree(len(b))
    for i, place in enumerate(b):
        tree.insert(place, i)
    tree.balance()
    return np.array([tree.find(place)[1] for place in a])


def snapshot():
    """Everything a user could notice: of all objects transforms, modifiers, data, groups, keys, drivers, animation."""
    out = {}
    for o in sorted(bpy.data.objects, key=lambda o: o.name):
        held = {"matrix": [round(v, 6) for row in o.matrix_world for v in row], "hidden": o.hide_get(), "mode": o.mode, "selected": o.select_get(),
                "modifiers": [(m.name, m.type, m.show_viewport) for m in o.modifiers], "parent": o.parent.name if o.parent else None,
                "properties": sorted(k for k in o.keys() if k != "cutis"), "action": o.animation_data.action.name if o.animation_data and o.animation_data.action else None,
                "drivers": len(o.animation_data.drivers) if o.animation_data else 0, "poses": [p.name for p in o.cutis.poses]}
        if o.type == "MESH":
            held["vertices"] = [round(c, 5) for v in o.data.vertices for c in v.co]
            held["groups"] = [(g.name, g.lock_weight) for g in o.vertex_groups]
            held["weights"] = weights(o)
            held["materials"] = [m.name if m else None for m in o.data.materials]
            held["attributes"] = sorted(a.name for a in o.data.attributes)
            keys = o.data.shape_keys
            held["keys"] = [(k.name, round(k.value, 6), round(sum(abs(c) for d in k.data for c in d.co), 3)) for k in keys.key_blocks] if keys else []
            held["key drivers"] = len(keys.animation_data.drivers) if keys and keys.animation_data else 0
        if o.type == "ARMATURE":
            held["bones"] = [(b.name, b.parent.name if b.parent else None, [round(c, 5) for c in (*b.head_local, *b.tail_local)]) for b in o.data.bones]
            held["pose"] = [[round(c, 5) for row in b.matrix_basis for c in row] for b in o.pose.bones]
            held["position"] = o.data.pose_position
        out[o.name] = held
    out["scene"] = {"frame": bpy.context.scene.frame_current, "actions": sorted(a.name for a in bpy.data.actions), "meshes": len(bpy.data.meshes),
                    "armatures": len(bpy.data.armatures), "materials": len(bpy.data.materials),
                    "active": bpy.context.view_layer.objects.active.name if bpy.context.view_layer.objects.active else None}
    return json.dumps(out, sort_keys=True)


def refused(operator, *words, **options):
    """The operator's error has these words, and the scene is what it was."""
    before = snapshot()
    try:
        operator(**options)
    except RuntimeError as error:
        text = str(error)
        assert all(word in text for word in words), f"{text!r} lacks one of {words}"
        assert "Traceback" not in text, text
    else:
        raise AssertionError(f"{operator} was not refused")
    assert snapshot() == before, f"a refused {operator} changed the scene"


def reset(armature):
    for bone in armature.pose.bones:
        bone.matrix_basis = Matrix()


def turn(armature, turns):
    """The rest pose with some bones turned: {bone: (axis, radians)}."""
    reset(armature)
    for bone, (axis, angle) in turns.items():
        armature.pose.bones[bone].rotation_quaternion = Quaternion(axis, angle)
    bpy.context.view_layer.update()


def made_clip(armature, bones, seed=1, frames=(1, 10, 20)):
    """An action made here: bones turned at random."""
    rng, action = np.random.default_rng(seed), bpy.data.actions.new("made here")
    reset(armature)
    armature.animation_data_create().action = action
    for name in bones:
        for frame in frames:
            armature.pose.bones[name].rotation_quaternion = Quaternion(Vector(rng.normal(size=3)).normalized(), rng.uniform(0.1, 0.9))
            armature.pose.bones[name].keyframe_insert("rotation_quaternion", frame=frame)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = frames[0], frames[-1]
    bpy.context.scene.frame_set(frames[0])
    return action


def hard_scene():
    """The biped as scenes have it: modifiers above and below the armature, shape keys, materials, uneven scale, locked groups, a mask, a loose piece."""
    mesh, armature = load("biped.glb")
    armature.animation_data.action = None
    reset(armature)
    scene = bpy.context.scene
    scene.unit_settings.scale_length = 0.5
    body = mesh.data
    box = [(0.02 * x, 0.16 + 0.02 * y, 1.3 + 0.02 * z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
    button = bpy.data.meshes.new("button")
    button.from_pydata(box, [], [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)])
    loose = bpy.data.objects.new("button", button)
    scene.collection.objects.link(loose)
    loose.vertex_groups.new(name="chest").add(range(4), 1.0, "REPLACE")
    loose.vertex_groups.new(name="spine").add(range(4, 8), 1.0, "REPLACE")
    with bpy.context.temp_override(active_object=mesh, selected_editable_objects=[mesh, loose]):
        bpy.ops.object.join()
    for i in range(3):
        body.materials.append(bpy.data.materials.new(f"cloth {i}"))
    for polygon in body.polygons:
        polygon.material_index = polygon.index % 3
    squeeze = Matrix.Diagonal((1.25, 0.8, 1.1, 1))
    body.transform(squeeze.inverted())
    mesh.matrix_basis = squeeze
    armature.matrix_world = Matrix.Translation((1, 2, 0.5)) @ Matrix.Rotation(0.4, 4, "Z") @ Matrix.Diagonal((0.7, 0.7, 0.7, 1))
    mesh.shape_key_add(name="Basis")
    wide = mesh.shape_key_add(name="wide")
    for point in wide.data:
        point.co.y *= 1.08
    wide.value = 0.5
    above = mesh.modifiers.new("bend", "SIMPLE_DEFORM")
    above.deform_method, above.factor, above.deform_axis = "TAPER", 0.05, "Z"
    with bpy.context.temp_override(object=mesh):
        bpy.ops.object.modifier_move_to_index(modifier="bend", index=0)
    mesh.modifiers.new("fine", "SUBSURF").levels = 1
    mesh.vertex_groups.new(name="mask").add(range(0, 500), 0.7, "REPLACE")
    for name in ("head", "hand_l"):
        mesh.vertex_groups[name].lock_weight = True
    bpy.context.view_layer.objects.active = mesh
    made_clip(armature, ("upperarm_l", "forearm_l", "spine", "thigh_r"))
    bpy.context.view_layer.update()
    return mesh, armature


def baked_equals(mesh, armature, path):
    """A clip made here on the baked armature: what Blender shows is what `cutis deform` makes of the baked file with that clip, driven."""
    scene = sys.modules["cutis_blender.scene"]
    body, rig = bpy.data.objects[f"{mesh.name} baked"], bpy.data.objects[f"{armature.name} baked"]
    assert all(d.driver.is_valid and d.driver.is_simple_expression for d in rig.animation_data.drivers) and len(rig.animation_data.drivers) > 10
    bones = scene.Bones(rig)
    plain = [name for name in bones.names if not name.startswith("helper")]
    made_clip(rig, [name for name in plain if rig.data.bones[name].parent][:8])
    model, frames, poses = scene.cutis.read(path), [], []
    for frame in range(1, 21, 3):
        bpy.context.scene.frame_set(frame)
        place = np.linalg.inv(np.array(rig.matrix_world))
        frames.append(vertices(body) @ place[:3, :3].T + place[:3, 3])
        local, pose = bones.local(bones.posed()), model.rest_pose()
        for i, name in enumerate(bones.names):
            if name in plain:
                pose[model.find_joint(name)] = local[i]
        poses.append(pose)
    model.with_clip("made here", np.array(poses), fps=30).save(f"{T}/made.glb")
    command("deform", "made.glb", "--clip", "made here", "--method", "lbs", "-o", "made.npy")
    command("deform", "made.glb", "--clip", "made here", "--method", "lbs", "--drivers", "off", "-o", "resting.npy")
    theirs, resting, size = np.load(f"{T}/made.npy"), np.load(f"{T}/resting.npy"), diagonal(model.vertices)
    off = np.abs(np.array(frames) - theirs).max() / size
    assert np.abs(theirs - resting).max() / size > 1e-3, "the clip does not need the helpers"
    assert off < 1e-4, off
    return f"{off:.1e} of the diagonal, {len(rig.animation_data.drivers)} drivers"
