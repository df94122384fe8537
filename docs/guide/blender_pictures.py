"""Makes the guide's pictures: xvfb-run -s '-screen 0 1400x900x24' blender --factory-startup -noaudio --enable-event-simulate --python docs/guide/blender_pictures.py -- FOLDER BIPED.glb ZIP
Needs a screen (Xvfb) and OpenGL (Mesa's software one will do); sh docs/guide/blender_pictures.sh does it all."""
import os
import sys
import time

import bpy
import numpy as np
from mathutils import Matrix, Quaternion

np.bool = bool
bpy.context.preferences.view.show_splash = False
OUT, BIPED, ZIP = sys.argv[sys.argv.index("--") + 1:][:3]
STEPS = []
ARM = 0.2, 0.68, 0.35, 0.9  # part of the view that the close pictures keep


def step(function):
    STEPS.append(function)
    return function


def view():
    window = bpy.context.window_manager.windows[0]
    area = next(a for a in window.screen.areas if a.type == "VIEW_3D")
    return window, area, next(r for r in area.regions if r.type == "WINDOW"), area.spaces[0]


def look(distance=2.2, at=(0, 0, 0.95), turn=(1.35, 0, 0.35)):
    from mathutils import Euler
    region = view()[3].region_3d
    region.view_perspective, region.view_distance, region.view_location = "PERSP", distance, at
    region.view_rotation = Euler(turn).to_quaternion()


def shot(name, left=0.0, right=1.0, bottom=0.0, top=1.0):
    """The whole window as it was drawn last; then what the 3D view has of it is kept."""
    window, area, _, _ = view()
    path = os.path.join(OUT, name)
    with bpy.context.temp_override(window=window):
        bpy.ops.screen.screenshot(filepath=path, check_existing=False)
    image = bpy.data.images.load(path)
    width, height = image.size
    pixels = np.array(image.pixels[:], np.float32).reshape(height, width, 4)[area.y:area.y + area.height, area.x:area.x + area.width]
    pixels = pixels[int(bottom * len(pixels)):int(top * len(pixels)), int(left * pixels.shape[1]):int(right * pixels.shape[1])]
    cut = bpy.data.images.new("cut", pixels.shape[1], pixels.shape[0])
    cut.pixels.foreach_set(np.ascontiguousarray(pixels).ravel())
    cut.filepath_raw, cut.file_format = path, "PNG"
    cut.save()
    bpy.data.images.remove(image)
    bpy.data.images.remove(cut)


def objects():
    mesh = next(o for o in bpy.data.objects if o.type == "MESH" and o.modifiers and not o.cutis.shows and "baked" not in o.name)
    return mesh, mesh.modifiers[0].object


@step
def start():
    bpy.ops.preferences.addon_install(filepath=ZIP, overwrite=True)
    bpy.ops.preferences.addon_enable(module="cutis_blender")
    for each in list(bpy.data.objects):
        bpy.data.objects.remove(each)
    bpy.context.scene.render.fps = 30
    bpy.ops.import_scene.gltf(filepath=BIPED)
    mesh, armature = objects()
    for track in list(armature.animation_data.nla_tracks):
        armature.animation_data.nla_tracks.remove(track)
    armature.animation_data.action = None
    for bone in armature.pose.bones:
        bone.matrix_basis = Matrix()


@step
def sidebar():
    window, area, region, space = view()
    space.show_region_ui = True
    space.overlay.show_extras = False
    space.shading.type, space.shading.color_type, space.shading.light = "SOLID", "MATERIAL", "STUDIO"
    mesh, armature = objects()
    armature.show_in_front = False
    armature.hide_set(True)
    bpy.context.view_layer.objects.active = mesh
    bpy.context.preferences.view.ui_scale = 1.0
    look()


def click(value):
    """Blender 3.4 has no call that opens a tab of the sidebar; a click on the fourth does."""
    window, area, _, _ = view()
    window.event_simulate("MOUSEMOVE" if value == "NOTHING" else "LEFTMOUSE", value, x=area.x + area.width - 14, y=area.y + area.height - 215)


@step
def over():
    click("NOTHING")


@step
def press():
    click("PRESS")


@step
def release():
    click("RELEASE")


@step
def away():
    window, area, _, _ = view()
    window.event_simulate("MOUSEMOVE", "NOTHING", x=area.x + 200, y=area.y + 100)


@step
def panel():
    shot("blender_panel.png")


@step
def twist():
    mesh, armature = objects()
    armature.pose.bones["forearm_l"].rotation_quaternion = Quaternion((0, 1, 0), 2.6)
    armature.pose.bones["upperarm_l"].rotation_quaternion = Quaternion((0, 0, 1), 0.3)
    bpy.context.view_layer.update()
    elbow = armature.matrix_world @ armature.pose.bones["forearm_l"].head
    look(0.8, at=(elbow.x + 0.06, elbow.y, elbow.z), turn=(1.35, 0, 0.0))


@step
def linear():
    shot("blender_linear.png", *ARM)


@step
def preview():
    mesh, _ = objects()
    mesh.cutis.method = "cor"
    bpy.ops.cutis.preview(action="start")


@step
def previewed():
    shot("blender_preview.png", *ARM)


@step
def compare():
    mesh, _ = objects()
    bpy.ops.cutis.preview(action="stop")
    bpy.context.view_layer.objects.active = mesh
    bpy.ops.cutis.compare(method="dqs")
    mesh.hide_set(True)
    view()[3].shading.color_type = "VERTEX"


@step
def compared():
    shot("blender_compare.png", *ARM)
    mesh, _ = objects()
    mesh.hide_set(False)
    bpy.ops.cutis.compare_end()
    view()[3].shading.color_type = "MATERIAL"


DRAWN = []
FRAMES = 8


def pose(i):
    _, armature = objects()
    armature.pose.bones["upperarm_l"].rotation_quaternion = Quaternion((0, 0, 1), 0.02 * i)
    view()[1].tag_redraw()


def measured(method):
    """Frames a second of posing, drawn: a pose for every time round Blender's own loop."""
    def begin():
        mesh, _ = objects()
        look()
        if method != "the modifier alone":
            mesh.cutis.method = method
            bpy.context.view_layer.objects.active = mesh
            bpy.ops.cutis.preview(action="start")
        DRAWN.clear()

    def finish():
        mesh, _ = objects()
        spent, cpu = (np.diff(np.array(DRAWN)[2:], axis=0)).mean(0)
        print(f"SPEED {method}: {1 / spent:.1f} frames a second drawn, {1e3 * cpu:.1f} ms of processor time a frame, {len(mesh.data.vertices)} vertices", flush=True)
        if method != "the modifier alone":
            bpy.ops.cutis.preview(action="stop")
    STEPS.append(begin)
    for i in range(FRAMES):
        STEPS.append(lambda i=i: pose(i) or 0.0)
    STEPS.append(finish)


for each in ("the modifier alone", "sbs", "cor"):
    measured(each)
bpy.types.SpaceView3D.draw_handler_add(lambda: DRAWN.append((time.time(), time.process_time())), (), "WINDOW", "POST_PIXEL")


def run():
    if not STEPS:
        sys.stdout.flush()
        os._exit(0)
    try:
        told = STEPS.pop(0)()
    except Exception:
        import traceback
        traceback.print_exc()
        os._exit(1)
    return 0.5 if told is None else told


bpy.app.timers.register(run, first_interval=2.0)
