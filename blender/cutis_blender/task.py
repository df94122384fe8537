"""Operators that take their time: work runs in a thread while the status bar tells how far it is and Esc stops it.

The scene is read before the work and changed after it, in Blender's own thread; work that fails or is stopped has changed nothing.
Called from a script an operator does the same without a thread.
"""
from __future__ import annotations

import threading

import bpy

from . import cutis
from .scene import Refusal

THREAD = "cutis work"
BAR = 20  # characters of the bar in the status line


class Work:
    """A call in a thread of its own."""

    def __init__(self, call):
        self.stage, self.fraction, self.stop, self.result, self.error = "", 0.0, False, None, None
        self.thread = threading.Thread(target=self._run, args=(call,), daemon=True, name=THREAD)

    def tell(self, stage: str, fraction: float):
        self.stage, self.fraction = stage, fraction
        return not self.stop

    def _run(self, call):
        try:
            with cutis.progress(self.tell):
                self.result = call()
        except BaseException as error:  # handed to the operator, which says it
            self.error = error


class Task:
    """Mixin of operators. prepare(context): read the scene, return a function without arguments that works; finish(context, result): change the scene."""

    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context):
        return context.view_layer.objects.active is not None

    def say(self, context, text: str):
        self.report({"INFO"}, text)
        context.scene.cutis.told = text

    def _refuse(self, error: BaseException):
        if isinstance(error, cutis.Cancelled):
            self.report({"WARNING"}, "Cutis: stopped; nothing was changed")
        elif isinstance(error, (Refusal, cutis.Error, ValueError, TypeError)):
            text = str(error)
            self.report({"ERROR"}, text if text.startswith("Cutis") else f"Cutis: {text}")
        else:
            raise error
        return {"CANCELLED"}

    def execute(self, context):
        try:
            work = self.prepare(context)
            self.finish(context, work())
        except Exception as error:
            return self._refuse(error)
        return {"FINISHED"}

    def invoke(self, context, event):
        if bpy.app.background or context.window is None:
            return self.execute(context)
        try:
            self._work = Work(self.prepare(context))
        except Exception as error:
            return self._refuse(error)
        self._work.thread.start()
        self._timer = context.window_manager.event_timer_add(0.1, window=context.window)
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context, event):
        work = self._work
        if event.type == "ESC":
            work.stop = True
        if work.thread.is_alive():
            done = round(BAR * min(1, max(0, work.fraction)))
            state = "stopping" if work.stop else work.stage
            context.workspace.status_text_set(f"{self.bl_label}: {state} {'█' * done}{'░' * (BAR - done)}   Esc: stop")
            return {"RUNNING_MODAL"}
        context.window_manager.event_timer_remove(self._timer)
        context.workspace.status_text_set(None)
        if work.error is not None:
            return self._refuse(work.error)
        try:
            self.finish(context, work.result)
        except Exception as error:
            return self._refuse(error)
        for area in context.screen.areas:
            area.tag_redraw()
        return {"FINISHED"}
