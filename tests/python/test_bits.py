"""What Python computes is what the command writes, byte for byte; and what a definition in float64 says."""
import json
import struct

import numpy as np
import pytest

import cutis


def frames(command, model, *options):
    folder = command("deform", model, *options, "-o", "frames.npy", "--normals", "normals.npy")
    return np.load(folder / "frames.npy"), np.load(folder / "normals.npy")


@pytest.mark.parametrize("method", ["lbs", "rigid", "sbs", "dqs", "cor"])
def test_skins_equal_the_command(command, biped, folder, method):
    positions, normals = biped.deform(method, clip="walk", fps=24, normals=True)
    expected = frames(command, "biped.glb", "--method", method, "--clip", "walk", "--fps", 24)
    assert positions.tobytes() == expected[0].tobytes() and normals.tobytes() == expected[1].tobytes()


@pytest.mark.parametrize("method", ["psd", "wpsd"])
def test_pose_space_equals_the_command(command, folder, method):
    positions, normals = cutis.read(folder / "arm.glb").deform(method, clip="bend", normals=True)
    expected = frames(command, "arm.glb", "--method", method, "--clip", "bend")
    assert positions.tobytes() == expected[0].tobytes() and normals.tobytes() == expected[1].tobytes()


def test_weighted_centres_equal_the_command(command, biped):
    positions = biped.deform("sbs", clip="bend", weighted_centres=True)
    assert positions.tobytes() == frames(command, "biped.glb", "--method", "sbs", "--weighted", "--clip", "bend")[0].tobytes()


def test_handles_equal_the_command(command, biped, folder):
    places = {"head": [0, 1.7, 0], "hand": [0.7, 1.4, 0], "feet": [[-0.1, 0.1, 0], [0.1, 0.1, 0]]}
    handles = [{"name": n, "kind": "bar", "from": p[0], "to": p[1]} if np.ndim(p) == 2 else {"name": n, "kind": "point", "position": p} for n, p in places.items()]
    (folder / "h.json").write_text(json.dumps({"handles": handles}))
    command("handles", "biped.glb", "--handles", "h.json", "--voxels", 48, "-o", "held.glb", "--weighting", "virtual")
    held = cutis.handles(biped, places, voxels=48, weighting="virtual")
    pose = held.rest_pose()
    pose[held.find_joint("hand"), :3] += 0.2
    for method in ("lbs", "handles-rigid"):
        ours, theirs = held.deform(method, poses=pose[None]), cutis.read(folder / "held.glb").deform(method, poses=pose[None])
        assert np.abs(ours - theirs).max() < 1e-6, method  # the file's weights are rounded to sum to one


def test_a_cage_equals_the_command(command, biped, folder):
    box = np.array([[x, y, z] for x in (-1, 1) for y in (-0.1, 2) for z in (-1, 1)], np.float32)
    sides = np.array([[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]])
    cutis.Model.from_arrays(box, sides).save(folder / "box.obj")
    command("cage", "biped.glb", "--cage", "box.obj", "-o", "caged.glb")
    caged = cutis.cage(biped, (box, sides))
    moved = caged._controls + np.float32([0.1, 0, 0]) * (caged._controls[:, 1:2] > 1)
    np.save(folder / "controls.npy", moved[None])
    command("deform", "caged.glb", "--method", "cage", "--cage-poses", "controls.npy", "-o", "frames.npy")
    assert caged.deform("cage", poses=moved[None]).tobytes() == np.load(folder / "frames.npy").tobytes()


def test_reduced_files_are_the_commands_bytes(command, biped, folder):
    command("reduce", "biped.glb", "--influences", 2, "--effort", "fast", "-o", "two.glb")
    cutis.reduce(biped, 2, effort="fast").save(folder / "two_python.glb")
    assert (folder / "two_python.glb").read_bytes() == (folder / "two.glb").read_bytes()


def test_linear_blending_is_its_definition(biped):
    """Weights and world matrices in float64, from what the model shows of itself."""
    pose = biped.sample("walk", 0.4)
    world, at_rest = biped.world(pose).astype(float), biped.world(biped.rest_pose()).astype(float)
    square = lambda m: np.concatenate([m, np.broadcast_to([[[0, 0, 0, 1.0]]], (len(m), 1, 4))], 1)  # noqa: E731
    palette = (square(world) @ np.linalg.inv(square(at_rest)))[[joint.index for joint in biped.joints], :3]
    blended = np.einsum("vj,jrc->vrc", biped.weights.toarray().astype(float), palette)
    expected = np.einsum("vrc,vc->vr", blended, np.concatenate([biped.vertices, np.ones((biped.vertex_count, 1))], 1))
    assert np.abs(biped.deform("lbs", poses=pose[None])[0] - expected).max() < 2e-6


def test_arrays_are_the_files(folder, biped):
    """Positions, triangles and weights read from the GLB by this test alone."""
    data = (folder / "biped.glb").read_bytes()
    size = struct.unpack("<I", data[12:16])[0]
    gltf, body = json.loads(data[20:20 + size]), data[28 + size:]

    def accessor(number):
        a = gltf["accessors"][number]
        b = gltf["bufferViews"][a["bufferView"]]
        kind = {5121: np.uint8, 5123: np.uint16, 5125: np.uint32, 5126: np.float32}[a["componentType"]]
        width = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4}[a["type"]]
        start = b.get("byteOffset", 0) + a.get("byteOffset", 0)
        return np.frombuffer(body, kind, a["count"] * width, start).reshape(-1, width)
    primitive = gltf["meshes"][0]["primitives"][0]
    ours = biped.meshes[0].primitives[0]
    assert np.array_equal(ours.positions, accessor(primitive["attributes"]["POSITION"]))
    assert np.array_equal(biped.faces, accessor(primitive["indices"]).reshape(-1, 3))
    weights = np.zeros((biped.vertex_count, len(biped.joints)))
    for set_ in range(2):
        joints, values = (accessor(primitive["attributes"][f"{name}_{set_}"]) for name in ("JOINTS", "WEIGHTS"))
        for k in range(4):
            np.add.at(weights, (np.arange(len(weights)), joints[:, k]), values[:, k])
    assert np.abs(biped.weights.toarray() - weights).max() < 1e-6


def test_patches_equal_the_command(command, biped, folder):
    command("deform", "biped.glb", "--method", "patches", "--clip", "walk", "--frames", "5", "-o", "patched.ply")
    (vertices, faces), = cutis.patches(biped, poses=biped.sample("walk", [5 / 30]))
    theirs = cutis.read(folder / "patched.ply")
    assert len(faces) == len(theirs.faces)
    mine, other = (cutis.measure(v, f, crossings=True) for v, f in ((vertices, faces), (theirs.vertices, theirs.faces)))
    assert mine.manifold.watertight and abs(mine.volume / other.volume - 1) < 1e-6
