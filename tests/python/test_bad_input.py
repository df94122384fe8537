"""Every wrong argument is an exception that names it; nothing crashes and nothing is left behind."""
import gc

import numpy as np
import pytest

import cutis


def wrong(match, kind=ValueError):
    return pytest.raises(kind, match=match)


def test_models_from_arrays():
    v, f = np.zeros((4, 3)), [[0, 1, 2]]
    make = cutis.Model.from_arrays
    for match, kind, arguments, options in [
        ("vertices: the shape", ValueError, (np.zeros((4, 2)), f), {}), ("vertices: a number is not finite", ValueError, (v * np.nan, f), {}),
        ("vertices: float32 is wanted", TypeError, (np.array([None, 1]), f), {}), ("faces: vertex 9", ValueError, (v, [[0, 1, 9]]), {}),
        ("faces: uint32 is wanted", TypeError, (v, [[0.5, 1, 2]]), {}), ("faces: a number is out", ValueError, (v, [[-1, 0, 1]]), {}),
        ("come together", TypeError, (v, f), {"weights": np.ones((4, 1))}),
        ("weights: the shape", ValueError, (v, f), {"weights": np.ones((3, 1)), "joints": ["a"], "rest": np.zeros((1, 3))}),
        ("weights: one is negative", ValueError, (v, f), {"weights": -np.ones((4, 1)), "joints": ["a"], "rest": np.zeros((1, 3))}),
        ("parents: joint 0", ValueError, (v, f), {"weights": np.ones((4, 1)), "joints": ["a"], "parents": [0], "rest": np.zeros((1, 3))}),
        ("rest: the transform of joint 0 is singular", ValueError, (v, f), {"weights": np.ones((4, 1)), "joints": ["a"], "rest": np.zeros((1, 10))}),
        ("normals: the shape", ValueError, (v, f), {"normals": np.zeros((5, 3))}),
    ]:
        with wrong(match, kind):
            make(*arguments, **options)


def test_poses_and_outputs(biped):
    binding, pose, out = cutis.bind(biped), biped.rest_pose(), np.empty((3000, 3), np.float32)
    with wrong("pose: the shape"):
        binding.deform(pose[:-1])
    with wrong("pose: float32 is wanted", TypeError):
        binding.deform(np.array(["a"]))
    with wrong("kind: 'other'"):
        binding.deform(pose, kind="other")
    with wrong("out: the shape"):
        binding.deform(pose, out[:-1])
    with wrong("out: a float32 array", TypeError):
        binding.deform(pose, out.astype(float))
    with wrong("out: an array is wanted", TypeError):
        binding.deform(pose, [1, 2])
    out.flags.writeable = False
    with wrong("out: it is read-only"):
        binding.deform(pose, out)
    with wrong("C order"):
        binding.deform(pose, np.empty((3, 3000), np.float32).T)
    with wrong("finite|large", cutis.Error):
        binding.deform(pose * np.nan)
    with wrong("normals", cutis.Error):
        binding.deform(pose, normals=np.empty((3000, 3), np.float32))
    with wrong("clip and poses", TypeError):
        biped.deform(clip="walk", poses=pose[None])


def test_options_and_names(biped):
    with wrong("no option 'influence'; there are influences", TypeError):
        cutis.reduce(biped, influence=3)
    with wrong("examples: the shape"):
        cutis.reduce(biped, 2, examples=biped.rest_pose())
    with wrong("no option 'clip_count'", TypeError):
        cutis.reduce(biped, clips=[0], clip_count=3000000)
    with wrong("clip: -1 is none of 5"):
        cutis.reduce(biped, clips=[-1])
    with wrong("clip: 9 is none of 5"):
        biped.deform(clip=9)
    with wrong("unneeded_nodes: the shape"):
        biped.save("/nowhere.glb", unneeded_nodes=[1])
    with wrong("keep_vertices: the shape"):
        cutis.fit(biped, biped.rest_pose()[None], biped.vertices[None], keep_vertices=[1])
    with wrong("strokes: it cannot be given", TypeError):
        cutis.rig(biped, strokes=[1])
    with wrong("a picture is uint8"):
        cutis.Image((4, 4, 3), np.uint8).png()
    with wrong("read-only"):
        biped.vertices[:] += 1
    with wrong("method: 'best' is none of"):
        cutis.reduce(biped, method="best")
    with wrong("influences: a whole number"):
        cutis.reduce(biped, -1)
    with wrong("method: 'abc' is none of lbs"):
        biped.deform("abc")
    with wrong("walk", cutis.Error) as caught:
        biped.deform(clip="wolk")
    assert caught.value.code == "NOT_FOUND"
    with wrong("labels|parts: the shape"):
        cutis.skeleton(biped, np.zeros(3, np.uint32))
    with wrong("joint_map: nodes of the motion"):
        cutis.retarget(biped, biped, joint_map=np.full(biped.node_count, 1000))
    with wrong("places: 'a'"):
        cutis.handles(biped, {"a": [1, 2]})
    with wrong("shapes: the shape"):
        cutis.fit(biped, biped.rest_pose()[None], np.zeros((1, 5, 3)))
    with wrong("one of them", TypeError):
        cutis.bake(biped)
    with wrong("pose space|PSD|psd", cutis.Error) as caught:
        biped.deform("psd")
    assert caught.value.code == "UNSUPPORTED"
    with wrong("'tpu' is none of cpu"):
        cutis.Device("tpu")


def test_files(tmp_path, biped):
    (tmp_path / "bad.glb").write_bytes(b"glTF\x02\0\0\0\xff\xff\xff\xff")
    with wrong("bad.glb", cutis.Error) as caught:
        cutis.read(tmp_path / "bad.glb")
    assert caught.value.code == "CORRUPT_DATA"
    with wrong("folder", cutis.Error):
        biped.save(tmp_path / "no" / "folder" / "x.glb")
    assert not (tmp_path / "no").exists()
    assert cutis.check(tmp_path / "bad.glb")


def test_nothing_is_left_behind(biped):
    def mistakes():
        for call in (lambda: biped.deform("abc"), lambda: cutis.read("/nowhere"), lambda: cutis.bind(biped, "psd"), lambda: cutis.Model.from_arrays([[0, 0, 0]], [[0, 0, 1]])):
            with pytest.raises((ValueError, cutis.Error)):
                call()
    mistakes()
    gc.collect()
    before = cutis.c.cutis_context_memory(cutis._core.context())
    for _ in range(20):
        mistakes()
    gc.collect()
    assert cutis.c.cutis_context_memory(cutis._core.context()) == before
