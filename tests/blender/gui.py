"""With a screen (Xvfb) and simulated keys: an operator works in its thread and ends by itself; Esc stops another, and nothing has changed."""
import os
import sys
import threading

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from common import *  # noqa: E402,F403

bpy.context.preferences.view.show_splash = False
state = {"tick": 0}
SECONDS = 0.2


def window():
    return bpy.context.window_manager.windows[0]


def area():
    return next(a for a in window().screen.areas if a.type == "VIEW_3D")


def context():
    return bpy.context.temp_override(window=window(), area=area(), region=next(r for r in area().regions if r.type == "WINDOW"))


def objects():
    return bpy.data.objects["biped_mesh"], bpy.data.objects["biped"]


def begin():
    install()
    for each in list(bpy.data.objects):
        bpy.data.objects.remove(each)
    bpy.context.scene.render.fps = 30
    bpy.ops.import_scene.gltf(filepath=f"{T}/biped.glb")
    mesh, armature = objects()
    play(armature, bpy.data.actions["bend_biped"])
    bpy.context.view_layer.objects.active = mesh
    state["weights"] = weights(mesh)
    with context():
        bpy.ops.ed.undo_push(message="made ready")
        state["first"] = bpy.ops.cutis.automatic_weights("INVOKE_DEFAULT", voxels=64)


def works():
    """Until the weights are other ones."""
    if weights(objects()[0]) == state["weights"]:
        return "again"

    @check("an operator that was pressed works in a thread, and ends by itself")
    def _():
        assert state["first"] == {"RUNNING_MODAL"} and "voxels" in bpy.context.scene.cutis.told
        return f"{state['tick']} looks"


def undo():
    with context():
        bpy.ops.ed.undo()

    @check("what a pressed operator did is one step of undo")
    def _():
        assert weights(objects()[0]) == state["weights"]


def press():
    mesh, armature = objects()
    play(armature, bpy.data.actions["bend_biped"])
    bpy.context.view_layer.objects.active = mesh
    state["before"] = snapshot()
    with context():
        state["second"] = bpy.ops.cutis.bake("INVOKE_DEFAULT", helpers=64)
    state["tick"] = 0


def escape():
    window().event_simulate("ESC", "PRESS", x=area().x + 100, y=area().y + 100)


def released():
    window().event_simulate("ESC", "RELEASE", x=area().x + 100, y=area().y + 100)


def stopped():
    module = sys.modules["cutis_blender.task"]
    if any(thread.name == module.THREAD for thread in threading.enumerate()) or state["tick"] < 5:
        return "again"

    @check("Esc stops the work, and nothing has changed")
    def _():
        assert state["second"] == {"RUNNING_MODAL"}
        assert snapshot() == state["before"]
    end()


STEPS = [begin, works, undo, press, escape, released, stopped]


def run():
    state["tick"] += 1
    try:
        if STEPS[0]() != "again":
            STEPS.pop(0)
        if state["tick"] > 3000:
            print("not ok the window's test ends: it waited for too long", flush=True)
            os._exit(1)
    except Exception as error:
        print(f"not ok the window's test runs: {type(error).__name__}: {error}", flush=True)
        os._exit(1)
    return SECONDS


command("synth", "biped", "--size", "low", "-o", "biped.glb")
bpy.app.timers.register(run, first_interval=2.0)
