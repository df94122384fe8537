"""Work done once per character: each call returns a new Model whose `report` says what was done."""
from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from ctypes import POINTER, byref, cast
from typing import Any

import numpy as np

from . import _api
from ._core import Progress, address, array, c, context, interruptible, progress as telling
from ._structs import Options, Report, enum, report
from .deforming import Device, device_named, frame_times
from .model import Model, _transforms, read

Where = Device | str | None


def _make(call: Callable[..., Any], kind: str | None, tell: Progress | bool | None) -> Model:
    """Run a call that makes a model and a report, and take both."""
    made = ctypes.c_void_p()
    told: Any = POINTER(_api.STRUCTS[kind])() if kind else None
    try:
        with interruptible(), telling(tell) if tell is not None else nullcontext():
            call(byref(made), *([byref(told)] if kind else []))
    except BaseException:  # of a call that had ended: what it made has no owner yet
        c.cutis_model_destroy(made)
        if told:
            getattr(c, f"{kind}_destroy")(told)
        raise
    if not told:
        return Model._made(made)
    try:
        return Model._made(made, report(told.contents))
    finally:
        getattr(c, f"{kind}_destroy")(told)


def _clips(model: Model, options: dict[str, Any], *names: str) -> dict[str, Any]:
    """Clips may be told by name."""
    for name in names:
        if options.get(name) is not None:
            options[name] = [model.find_clip(clip) for clip in ([options[name]] if isinstance(options[name], (str, int)) else options[name])]
    return options


def synth(body: str = "biped", **options: Any) -> Model:
    """A character made by code: "biped", "quadruped", "arm", "cylinder", "crowd", "family". Options: vertex_count, size="low", seed, kind="bird", unrigged, ..."""
    given = Options("cutis_synth_options", options, body=body)
    return _make(lambda out: c.cutis_synth_create(context(), given.reference, out), None, None)


def reduce(model: Model, influences: int = 0, *, device: Where = None, progress: Progress | bool | None = None, **options: Any) -> Model:
    """At most `influences` weights a vertex (0: 4) that deform as all did. Options of cutis_reduce_options: method, max_error, joints, clips=["walk"], ..."""
    poses = (None, model.node_count, 10)
    given = Options("cutis_reduce_options", _clips(model, options, "clips", "held_out_clips"), {"examples": poses, "held_out": poses}, influences=influences)
    where = device_named(device)
    return _make(lambda *out: c.cutis_weights_reduce(model.pointer, where.pointer, given.reference, *out), "cutis_reduce_report", progress)


def limit(model: Model, influences: int) -> Model:
    """The largest weights of every vertex, renormalised: what exporters do."""
    return _make(lambda out: c.cutis_weights_limit(model.pointer, influences, out), None, None)


def cage(model: Model, around: Model | str | os.PathLike[str] | tuple[Any, Any], *, device: Where = None, progress: Progress | bool | None = None, **options: Any) -> Model:
    """Bind a model to a cage (a closed mesh: a Model, a file, or vertices and faces). Options: coordinates="harmonic", influences=8, ...; deform by method "cage"."""
    shape = Model.from_arrays(*around) if isinstance(around, tuple) else around if isinstance(around, Model) else read(around)
    made, where = POINTER(_api.cutis_cage)(), device_named(device)
    c.cutis_cage_create(shape.pointer, byref(made))
    try:
        poses = (None, int(made.contents.control_count), 3)
        given = Options("cutis_cage_options", options, {"examples": poses, "held_out": poses})
        return _make(lambda *out: c.cutis_cage_bind(model.pointer, where.pointer, made, given.reference, *out), "cutis_cage_report", progress)
    finally:
        c.cutis_cage_destroy(made)


def handles(model: Model, places: Mapping[str, Any] | Any = None, *, device: Where = None, progress: Progress | bool | None = None, **options: Any) -> Model:
    """Smooth weights. places: points [n, 3] and bars [n, 2, 3], or a mapping of names to them; None: the joints of the model's own skins (automatic weights)."""
    given, where = Options("cutis_handles_options", options), device_named(device)
    if places is None:
        return _make(lambda *out: c.cutis_handles_skeleton(model.pointer, where.pointer, given.reference, *out), "cutis_handles_report", progress)
    named = places if isinstance(places, Mapping) else {f"handle {i + 1}": place for i, place in enumerate(places)}
    list_ = (_api.cutis_handle * len(named))(*(_handle(name, place) for name, place in named.items()))
    set_ = _api.cutis_handle_set(handle_count=len(named), handles=list_)
    return _make(lambda *out: c.cutis_handles_weights(model.pointer, where.pointer, byref(set_), given.reference, *out), "cutis_handles_report", progress)


def _handle(name: str, place: Any) -> Any:
    ends = np.asarray(place, np.float32)
    if ends.shape not in ((3,), (2, 3)) or not np.isfinite(ends).all():
        raise ValueError(f"places: {name!r} is neither a point (3) nor a bar (2, 3) of finite numbers")
    bar = ends.ndim == 2
    out = _api.cutis_handle(name=str(name).encode(), kind=enum("cutis_handle_kind", "bar" if bar else "point", "kind"))
    first, last = (ends[0], ends[1]) if bar else (ends, ends)
    setattr(out, "from", _api.cutis_float3(*map(float, first)))
    out.to = _api.cutis_float3(*map(float, last))
    return out


def skeleton(model: Model, parts: str | Any = "auto", *, progress: Progress | bool | None = None, **options: Any) -> Model:
    """A joint where two parts meet. parts: "auto", "parts", "materials", "meshes", "shells", "joints", or a label per triangle."""
    labels = None if isinstance(parts, str) else array(parts, np.uint32, (len(model.faces),), "parts")
    given = Options("cutis_skeleton_options", options, {"labels": (len(model.faces),)}, source=parts if labels is None else "labels", labels=labels)
    return _make(lambda *out: c.cutis_skeleton_extract(model.pointer, given.reference, *out), "cutis_skeleton_report", progress)


def rig(model: Model, kind: str = "auto", *, device: Where = None, progress: Progress | bool | None = None, **options: Any) -> Model:
    """Joints, parts and weights for a bare body. report.problems lists what its own check found: look at it."""
    given, where = Options("cutis_rig_options", options, {"labels": (len(model.faces),)}, kind=kind), device_named(device)
    return _make(lambda *out: c.cutis_rig(model.pointer, where.pointer, given.reference, *out), "cutis_rig_report", progress)


def retarget(model: Model, motion: Model | str | os.PathLike[str], clip: str | int = 0, *, joint_map: Any = None, progress: Progress | bool | None = None, **options: Any) -> Model:
    """The model with a motion of another rig as its last clip. Options: rest, feet="free", fps, name, up, across."""
    source = motion if isinstance(motion, Model) else read(motion)
    pairs = None if joint_map is None else array(joint_map, np.int32, (model.node_count,), "joint_map")
    if pairs is not None and pairs.size and not -1 <= pairs.min() <= pairs.max() < source.node_count:
        raise ValueError(f"joint_map: nodes of the motion are 0 to {source.node_count - 1}, or -1")
    given, told = Options("cutis_retarget_options", options, {"map": (model.node_count,)}, clip=source.find_clip(clip), map=pairs), _api.cutis_retarget_report()
    made = _make(lambda out: c.cutis_retarget(model.pointer, source.pointer, given.reference, out, byref(told)), None, progress)
    made.report = report(told)
    return made


def fit(model: Model, poses: Any, shapes: Any, names: Sequence[str] | None = None, *, device: Where = None, progress: Progress | bool | None = None, **options: Any) -> Model:
    """Pose space from examples: poses [n, nodes, 10] and their shapes [n, vertices, 3]. Options: learn_weights, prior, influences, principal_poses, ..."""
    where = device_named(device)
    given = array(poses, np.float32, (None, model.node_count, 10), "poses")
    positions = array(shapes, np.float32, (len(given), model.vertex_count, 3), "shapes")
    examples = _api.cutis_pose_examples(count=len(given), poses=cast(address(given), POINTER(_api.cutis_transform)), positions=cast(address(positions), POINTER(ctypes.c_float)))
    if names is not None:
        if len(names) != len(given):
            raise ValueError(f"names: {len(given)} are wanted, these are {len(names)}")
        examples.names = (ctypes.c_char_p * len(names))(*(str(name).encode() for name in names))
    chosen = Options("cutis_pose_fit_options", options, {"keep_vertices": (model.vertex_count,)})
    return _make(lambda *out: c.cutis_poses_fit(model.pointer, where.pointer, byref(examples), chosen.reference, *out), "cutis_pose_fit_report", progress)


def _key_times(model: Model, clip: int, fps: float) -> Any:
    """Where helpers have keys, as the command has them: the clip's frames, its end, and both sides of every jump of a stepped channel."""
    data, near = model._data.clips[clip], 1e-3 / fps
    step = _api.cutis_interpolation["CUTIS_INTERPOLATION_STEP"]
    stepped = [channel for channel in (data.channels[k] for k in range(data.channel_count)) if channel.interpolation == step]
    jumps = np.unique(np.array([t for channel in stepped for t in channel.times[:channel.key_count]], np.float32))
    jumps = jumps[(jumps > 0) & (jumps <= data.duration)]
    grid = frame_times(model, clip, fps)
    kept = [t for t in grid if not len(jumps) or np.abs(jumps - t).min() > near]
    if data.duration - grid[-1] > near and not (len(jumps) and jumps[-1] >= data.duration):
        kept.append(data.duration)
    return np.sort(np.concatenate([np.array(kept, np.float32), jumps, np.nextafter(jumps, np.float32(0))]))


_RANDOM_POSES, _POSE_SPACE_POSES, _UNSEEN_POSES = 400, 1200, 100  # as many as the command has: to learn drivers from, and to judge them by


def _random_poses(model: Model, poses: Any, learned: int) -> Any:
    out = np.empty((learned + _UNSEEN_POSES, model.node_count, 10), np.float32)
    draws = c.cutis_bake_poses if learned == _POSE_SPACE_POSES else c.cutis_bake_swings  # as the command does
    for draw, seed, part in ((draws, 1, out[:learned]), (c.cutis_bake_poses, 2, out[learned:])):
        draw(model.pointer, _transforms(poses), len(poses), seed, len(part), _transforms(part))
    return out


def bake(model: Model, method: str | None = None, *, clips: Sequence[str | int] | None = None, fps: float = 30.0, positions: Any = None, poses: Any = None,
         device: Where = None, progress: Progress | bool | None = None, **options: Any) -> Model:
    """Any deformer as joints, weights and tracks that every engine plays: `method` on the model's clips, or `positions` [frames, vertices, 3] of
    anything that moves, `fps` of them a second (with the `poses` [frames, nodes, 10] they belong to, if there are any). Options: helpers=16, morphs, influences, drivers, ...
    With a method and drivers random poses within the clips' ranges are learned from too."""
    if (method is None) == (positions is None):
        raise TypeError("method and positions: one of them")
    frames, keep = _api.cutis_bake_frames(), []
    if method is not None:
        numbers = [model.find_clip(clip) for clip in clips] if clips is not None else list(range(len(model.clips)))
        if not numbers:
            raise ValueError("clips: the model has none to bake")
        times = [_key_times(model, number, fps) for number in numbers]
        poses = np.concatenate([model.sample(number, t) for number, t in zip(numbers, times)])
        of_clips = np.concatenate([np.full(len(t), n, np.int32) for n, t in zip(numbers, times)])
        learned = _POSE_SPACE_POSES if method in ("psd", "wpsd") else _RANDOM_POSES
        extra = learned + _UNSEEN_POSES if options.get("drivers") else 0
        if extra:
            poses = np.concatenate([poses, _random_poses(model, poses, learned)])
        positions = model.deform(method, poses=poses, device=device)
        keep += [np.concatenate([of_clips, np.full(extra, -1, np.int32)]), np.concatenate([*times, np.zeros(extra)]).astype(np.float32),
                 (np.arange(len(poses)) >= len(poses) - min(extra, _UNSEEN_POSES)).astype(np.uint8)]
        frames.clips, frames.times = cast(address(keep[0]), POINTER(ctypes.c_int32)), cast(address(keep[1]), POINTER(ctypes.c_float))
        frames.held_out = cast(address(keep[2]), POINTER(ctypes.c_uint8)) if extra else None
    given = array(positions, np.float32, (None, model.vertex_count, 3), "positions")
    frames.count, frames.positions = len(given), cast(address(given), POINTER(ctypes.c_float))
    if method is None and fps != 30:  # that is what it is by itself
        keep.append((np.arange(len(given)) / fps).astype(np.float32))
        frames.times = cast(address(keep[-1]), POINTER(ctypes.c_float))
    if poses is not None:
        keep.append(array(poses, np.float32, (len(given), model.node_count, 10), "poses"))
        frames.poses = cast(address(keep[-1]), POINTER(_api.cutis_transform))
    chosen, where = Options("cutis_bake_options", {"helpers": 16, **options}), device_named(device)
    return _make(lambda *out: c.cutis_bake(model.pointer, where.pointer, byref(frames), chosen.reference, *out), "cutis_bake_report", progress)


__all__ = ["bake", "cage", "fit", "handles", "limit", "reduce", "retarget", "rig", "skeleton", "synth", "Report"]
