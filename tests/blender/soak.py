"""Hours' share: five models against the command, every operator on a hard scene run, undone and run again, files that play what was shown, bakes."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from common import *  # noqa: E402,F403

install()
SHARED = os.environ.get("SHARED", "")
command("synth", "biped", "--size", "low", "-o", "biped.glb")
command("synth", "arm", "--size", "low", "-o", "arm.glb")
command("synth", "quadruped", "--size", "low", "-o", "quadruped.glb")
command("convert", "biped.glb", "-o", "walk.bvh")
ASSETS = f"{SHARED}/data/gltf-sample-assets"
MODELS = ["biped.glb", "quadruped.glb", "arm.glb"]
found = [os.path.join(folder, f) for folder, _, files in os.walk(ASSETS) for f in files if f in ("Fox.glb", "CesiumMan.glb", "RiggedFigure.glb", "BrainStem.glb")]
for name in ("Fox.glb", "CesiumMan.glb"):
    match = [f for f in found if f.endswith(name)]
    if match:
        MODELS.append(match[0])
    else:
        print(f"skip the modifier is the command's on {name}: it is not in {ASSETS}")


def common_keys(action):
    """Times that every curve has a key at: between keys Blender and glTF interpolate rotations differently."""
    sets = [{round(p.co[0], 4) for p in curve.keyframe_points} for curve in action.fcurves]
    sets = [s for s in sets if len(s) > 1] or sets
    return sorted(set.intersection(*sets))


for path in MODELS:
    @check(f"the modifier's linear and volume-preserving results are the library's at keys: {os.path.basename(path)}")
    def _():
        full = os.path.join(T, path)
        mesh, armature = load(full)
        model = sys.modules["cutis_blender.scene"].cutis.read(full)
        worst, seen = {"lbs": 0.0, "dqs": 0.0}, 0
        reset(armature)
        armature.data.pose_position = "REST"
        bpy.context.view_layer.update()
        rest = y_up(vertices(mesh))
        armature.data.pose_position = "POSE"
        for clip in model.clips:
            action = next((a for a in bpy.data.actions if a.name.startswith(f"{clip.name}_") or a.name == clip.name), None) or bpy.data.actions[clip.index]
            play(armature, action)
            keys = common_keys(action)
            for key in keys[:: max(1, len(keys) // 5)]:
                bpy.context.scene.frame_set(int(key), subframe=key - int(key))
                pose = model.sample(clip.index, key / 30)
                for method in worst:
                    mesh.modifiers[0].use_deform_preserve_volume = method == "dqs"
                    theirs = model.deform(method, poses=pose[None])[0]
                    same = np.arange(len(rest)) if len(rest) == len(theirs) and np.abs(rest - model.vertices).max() < 1e-4 * diagonal(rest) else nearest(rest, model.vertices)
                    worst[method] = max(worst[method], float(np.abs(y_up(vertices(mesh)) - theirs[same]).max() / diagonal(rest)))
                    seen += 1
        assert seen >= 4 and max(worst.values()) < 1e-5, (seen, worst)
        return f"lbs {worst['lbs']:.1e}, dqs {worst['dqs']:.1e} of the diagonal, {seen // 2} keys"


def sculpted(mesh, armature):
    for name, turns in {"bent": {"forearm_l": ((0, 0, 1), 1.2)}, "raised": {"upperarm_l": ((0, 1, 0), 0.9)}}.items():
        key = mesh.shape_key_add(name=name, from_mix=False)
        for point in key.data:
            point.co.y += 0.02 * np.sin(20 * point.co.x + len(name))
        mesh.active_shape_key_index = len(mesh.data.shape_keys.key_blocks) - 1
        armature.animation_data.action = None
        turn(armature, turns)
        bpy.ops.cutis.remember_pose(shape="key")
    reset(armature)
    bpy.context.view_layer.update()


def with_ghost(mesh, armature):
    bpy.ops.cutis.compare(method="sbs")


def without_armature(mesh, armature):
    mesh.modifiers.remove(mesh.modifiers["Armature"])
    for group in [g for g in mesh.vertex_groups if g.name != "mask"]:
        mesh.vertex_groups.remove(group)


def second_armature(mesh, armature):
    other = armature.copy()
    other.data = armature.data.copy()
    other.name = "actor"
    bpy.context.scene.collection.objects.link(other)
    armature.animation_data.action = None
    reset(armature)
    bpy.context.view_layer.update()


def posed(mesh, armature):
    armature.animation_data.action = None
    turn(armature, {"forearm_l": ((0, 0, 1), 1.0)})


OPERATORS = [
    ("rig", dict(kind="human", keep=True), without_armature), ("automatic_weights", dict(voxels=64), None), ("reduce_weights", dict(influences=2, effort="fast"), None),
    ("rigid_pieces", dict(follow="bone"), None), ("mirror_weights", {}, None), ("compare", dict(method="cor"), None), ("compare_end", {}, with_ghost),
    ("preview", dict(action="start"), None), ("remember_pose", dict(shape="copy"), posed), ("correct", {}, sculpted), ("bake", dict(helpers=2), None),
    ("bake", dict(helpers=2, drivers=False), None), ("retarget", dict(source="file", filepath=f"{T}/walk.bvh"), None), ("retarget", dict(source="armature", armature="actor", feet="free"), second_armature),
]
for operator, options, before_it in OPERATORS:
    @check(f"{operator} {options} on a hard scene: run, undone, run again, all else alone")
    def _():
        mesh, armature = hard_scene()
        names = mesh.name, armature.name
        locked = {g.name for g in mesh.vertex_groups if g.lock_weight}
        if before_it:
            before_it(mesh, armature)
        old, shown, mask = weights(mesh), vertices(mesh), [w.get("mask") for w in weights(mesh)]
        bpy.ops.ed.undo_push(message="before")
        before = snapshot()
        function = getattr(bpy.ops.cutis, operator)
        assert function("EXEC_DEFAULT", True, **options) == {"FINISHED"}
        mesh = bpy.data.objects[names[0]]
        new, after = weights(mesh), snapshot()
        assert after != before, "nothing happened"
        assert [w.get("mask") for w in new] == mask, "a group that is no bone changed"
        for group in locked if operator != "rig" else ():
            assert all(abs(a.get(group, 0) - b.get(group, 0)) < 1e-6 for a, b in zip(old, new)), f"the locked group {group} changed"
        if operator in ("compare", "preview", "bake", "remember_pose", "compare_end"):
            assert new == old and mesh.hide_get() == (operator == "preview"), "the body changed"
            if operator != "preview":
                assert np.abs(vertices(mesh) - shown).max() < 1e-6
        bpy.ops.ed.undo()
        assert snapshot() == before, "undo does not give the scene back"
        getattr(bpy.ops.cutis, operator)("EXEC_DEFAULT", True, **options)
        assert snapshot() == after, "the second run differs from the first"
        return bpy.context.scene.cutis.told.removeprefix("Cutis: ")


@check("a live preview on the hard scene is the modifier's own result for its own method")
def _():
    mesh, armature = hard_scene()
    worst = 0.0
    for preserve in (False, True):
        mesh.modifiers["Armature"].use_deform_preserve_volume = preserve
        mesh.cutis.method = "modifier"
        frames = (1, 10, 20)
        own = []
        for frame in frames:
            bpy.context.scene.frame_set(frame)
            own.append(vertices(mesh))
        bpy.ops.cutis.preview(action="start")
        shown = next(o for o in bpy.data.objects if o.cutis.shows)
        for frame, theirs in zip(frames, own):
            bpy.context.scene.frame_set(frame)
            worst = max(worst, float(np.abs(vertices(shown) - theirs).max() / diagonal(theirs)))
        bpy.ops.cutis.preview(action="stop")
    assert worst < 1e-5, worst
    return f"{worst:.1e} of the diagonal"


def export_equal(body, rig, shown, frames, method, kind):
    """Write body and rig, read them as others do, and compare with what was shown; world space."""
    bpy.ops.object.select_all(action="DESELECT")
    for each in (body, rig):
        each.hide_set(False)
        each.select_set(True)
    bpy.context.view_layer.objects.active = rig
    path, start = f"{T}/export.{kind}", bpy.context.scene.frame_start
    for action in [a for a in bpy.data.actions if a != rig.animation_data.action]:  # exporters take every action there is
        bpy.data.actions.remove(action)
    if kind == "fbx":
        bpy.ops.export_scene.fbx(filepath=path, use_selection=True, bake_anim=True, bake_anim_use_nla_strips=False, bake_anim_use_all_actions=False, bake_anim_simplify_factor=0,
                                 add_leaf_bones=False, use_armature_deform_only=False, mesh_smooth_type="FACE", use_mesh_modifiers=False)
        rests = rest_of(body, rig)
        clear()
        bpy.context.scene.render.fps = 30
        bpy.ops.import_scene.fbx(filepath=path, anim_offset=0)
        mesh = next(o for o in bpy.data.objects if o.type == "MESH")
        out = []
        for frame in frames:
            bpy.context.scene.frame_set(frame)
            out.append(vertices(mesh))
        return max(float(np.abs(a - b).max()) for a, b in zip(out, shown)) / diagonal(rests)
    bpy.ops.export_scene.gltf(filepath=path, export_format="GLB", use_selection=True, export_animations=True, export_force_sampling=True, export_nla_strips=True,
                              export_frame_range=True, export_all_influences=True, export_morph=False, export_def_bones=False)
    model = sys.modules["cutis_blender.scene"].cutis.read(path)
    rests = y_up(rest_of(body, rig))
    same = nearest(rests, model.vertices)
    assert np.abs(model.vertices[same] - rests).max() < 1e-4 * diagonal(rests)
    assert len(model.clips) == 1
    first = 0 if model.clips[0].duration * 30 > frames[-1] - start + 0.5 else start  # 3.4 writes a clip's frame f at f / fps
    frame_of = model.deform(method, poses=model.sample(0, [(frame - first) / 30 for frame in frames]))
    return max(float(np.abs(frame_of[i][same] - y_up(shown[i])).max()) for i in range(len(frames))) / diagonal(rests)


def rest_of(body, rig):
    rig.data.pose_position = "REST"
    bpy.context.view_layer.update()
    out = vertices(body)
    rig.data.pose_position = "POSE"
    bpy.context.view_layer.update()
    return out


@check("an exported glTF played by spherical, dual-quaternion and centred blending is what the preview showed")
def _():
    mesh, armature = load("biped.glb")
    for track in list(armature.animation_data.nla_tracks):
        armature.animation_data.nla_tracks.remove(track)
    bpy.ops.object.vertex_group_clean(group_select_mode="ALL", limit=1e-4)  # Blender's exporter drops these, and spherical blending goes by sets of bones
    made_clip(armature, ("upperarm_l", "forearm_l", "spine", "thigh_r"))
    worst, frames = {}, (1, 7, 14, 20)
    for method in ("sbs", "dqs", "cor"):
        mesh.cutis.method, shown = method, []
        bpy.context.view_layer.objects.active = mesh
        bpy.ops.cutis.preview(action="start")
        other = next(o for o in bpy.data.objects if o.cutis.shows)
        for frame in frames:
            bpy.context.scene.frame_set(frame)
            shown.append(vertices(other))
        bpy.ops.cutis.preview(action="stop")
        worst[method] = export_equal(mesh, armature, shown, frames, method, "glb")
    assert max(worst.values()) < 1e-4, worst
    return ", ".join(f"{m} {w:.1e}" for m, w in worst.items())


for kind in ("glb", "fbx"):
    @check(f"a baked body with drivers, exported as {kind}, plays as Blender shows it")
    def _():
        mesh, armature = load("arm.glb")
        play(armature, next(a for a in bpy.data.actions if a.name.startswith("twist")))
        bpy.ops.cutis.bake(helpers=3)
        body, rig = bpy.data.objects[f"{mesh.name} baked"], bpy.data.objects[f"{armature.name} baked"]
        for track in list(rig.animation_data.nla_tracks):
            rig.animation_data.nla_tracks.remove(track)
        made_clip(rig, [b.name for b in rig.data.bones if b.parent and not b.name.startswith("helper")][:4])
        frames, shown = (1, 7, 14, 20), []
        for frame in frames:
            bpy.context.scene.frame_set(frame)
            shown.append(vertices(body))
        off = export_equal(body, rig, shown, frames, "lbs", kind)
        assert off < 1e-4, off
        return f"{off:.1e} of the diagonal"


@check("helpers with drivers on an uneven, scaled scene equal the command's play of the baked file")
def _():
    mesh, armature = hard_scene()
    mesh.modifiers.remove(mesh.modifiers["fine"])
    for group in mesh.vertex_groups:
        group.lock_weight = False
    bpy.ops.cutis.bake(helpers=4, file=f"{T}/hard.glb")
    return baked_equals(mesh, armature, f"{T}/hard.glb")


@check("helpers with keys play the frames they are of")
def _():
    mesh, armature = load("arm.glb")
    play(armature, next(a for a in bpy.data.actions if a.name.startswith("twist")))
    bpy.context.scene.frame_end = 40
    bpy.ops.cutis.bake(helpers=4, drivers=False, file=f"{T}/keyed.glb")
    model = sys.modules["cutis_blender.scene"].cutis.read(f"{T}/keyed.glb")
    body, first, worst = bpy.data.objects[f"{mesh.name} baked"], bpy.context.scene.frame_start, 0.0
    frames = model.deform("lbs", clip="baked", fps=30)
    for frame in range(0, len(frames), 8):
        bpy.context.scene.frame_set(first + frame)
        worst = max(worst, float(np.abs(vertices(body) - frames[frame]).max() / diagonal(frames[0])))
    assert worst < 1e-4, worst
    return f"{worst:.1e} of the diagonal"


@check("baking what a moving mesh does beside its armature: the modifier's own volume preserved, by linear blending")
def _():
    mesh, armature = load("arm.glb")
    play(armature, next(a for a in bpy.data.actions if a.name.startswith("twist")))
    mesh.modifiers[0].use_deform_preserve_volume = True
    bpy.ops.cutis.bake(source="mesh", helpers=6, drivers=False)
    body, plain, off = bpy.data.objects[f"{mesh.name} baked"], 0.0, 0.0
    for frame in range(0, bpy.context.scene.frame_end, 15):
        bpy.context.scene.frame_set(frame)
        goal, ours = vertices(mesh), vertices(body)
        mesh.modifiers[0].use_deform_preserve_volume = False
        bpy.context.view_layer.update()
        plain, off = plain + ((vertices(mesh) - goal) ** 2).sum(), off + ((ours - goal) ** 2).sum()
        mesh.modifiers[0].use_deform_preserve_volume = True
        bpy.context.view_layer.update()
    assert off < 0.1 ** 2 * plain, (off, plain)
    return f"{np.sqrt(off / plain):.3f} of plain blending's error"


@check("bones from nothing: a moving mesh without an armature gets bones and an action")
def _():
    clear()
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=20, y_subdivisions=20)
    sheet = bpy.context.object
    sheet.scale = (1, 2, 1)
    wave = sheet.modifiers.new("wave", "SIMPLE_DEFORM")
    wave.deform_method, wave.deform_axis = "TWIST", "X"
    for frame, angle in ((1, 0.0), (20, 1.2)):
        wave.angle = angle
        wave.keyframe_insert("angle", frame=frame)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 20
    bpy.context.view_layer.update()
    bpy.ops.cutis.bake(source="mesh", helpers=6)
    body, far, moved = bpy.data.objects[f"{sheet.name} baked"], 0.0, 0.0
    for frame in (1, 10, 20):
        bpy.context.scene.frame_set(frame)
        if frame == 1:
            start = vertices(sheet)
        far, moved = max(far, float(np.abs(vertices(body) - vertices(sheet)).max())), max(moved, float(np.abs(vertices(sheet) - start).max()))
    assert moved > 0.2 and far < 0.05 * moved, (far, moved)
    return f"{far / moved:.1e} of what it moves"


@check("settings are keyed: the preview's factor and method follow their curves")
def _():
    mesh, armature = load("biped.glb")
    play(armature, bpy.data.actions["bend_biped"])
    mesh.cutis.method = "dqs"
    for frame, value in ((0, 0.0), (40, 1.0)):
        mesh.cutis.factor = value
        mesh.cutis.keyframe_insert("factor", frame=frame)
    bpy.ops.cutis.preview(action="start")
    live = sys.modules["cutis_blender.preview"].find(mesh)
    for frame, factor in ((0, 0.0), (40, 1.0)):
        bpy.context.scene.frame_set(frame)
        pose = live.skin.world_matrices(live.skin.bones.posed())
        wanted = sys.modules["cutis_blender.scene"].cutis.bind(live.skin.model, "dqs" if factor else "lbs").deform(pose, kind="world")
        assert np.abs(live.out - wanted).max() < 1e-6, frame


def posing(armature, count=40):
    """Processor and wall milliseconds of a pose."""
    bone, cpu, wall = armature.pose.bones["upperarm_l"], time.process_time(), time.time()
    for i in range(count):
        bone.rotation_quaternion = Quaternion((0, 0, 1), 0.02 * i)
        bpy.context.view_layer.update()
    return 1e3 * (time.process_time() - cpu) / count, 1e3 * (time.time() - wall) / count


@check("a preview of 12,000 vertices while posing costs a few times what the modifier alone does, without drawing")
def _():
    command("synth", "biped", "--vertices", "12000", "-o", "large.glb")
    mesh, armature = load("large.glb")
    armature.animation_data.action = None
    plain = posing(armature)
    told = [f"modifier alone {plain[1]:.1f} ms"]
    for method in ("sbs", "dqs", "cor"):
        mesh.cutis.method = method
        bpy.ops.cutis.preview(action="start")
        spent = posing(armature)
        bpy.ops.cutis.preview(action="stop")
        told.append(f"{method} {spent[1]:.1f} ms")
        assert spent[0] < 4 * plain[0], (plain, spent)  # a ratio: it holds on a busy machine too
    return f"{len(mesh.data.vertices)} vertices, wall time a pose: " + ", ".join(told)


end()
