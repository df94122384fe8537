"""What a user does with it: make, fit, reduce, rig, bake, look; memory, loops, Ctrl-C, tensors."""
import gc
import os
import signal
import threading
import time
import tracemalloc

import numpy as np
import pytest

import cutis


def used():
    gc.collect()
    return cutis.c.cutis_context_memory(cutis._core.context())


def stick(n=41):
    """A thin tube along x with two bones that meet in the middle."""
    ring = np.array([[0, np.cos(a), np.sin(a)] for a in np.arange(6) * np.pi / 3]) * 0.1
    x = np.linspace(0, 2, n)
    vertices = (ring[None] + np.stack([x, 0 * x, 0 * x], 1)[:, None]).reshape(-1, 3)
    i, k = np.meshgrid(np.arange(n - 1), np.arange(6), indexing="ij")
    a, b = 6 * i + k, 6 * i + (k + 1) % 6
    faces = np.concatenate([np.stack([a, b, a + 6], -1).reshape(-1, 3), np.stack([b, b + 6, a + 6], -1).reshape(-1, 3)])
    second = np.clip((vertices[:, 0] - 0.8) / 0.4, 0, 1)
    return vertices, faces, np.stack([1 - second, second], 1)


def test_from_arrays_bends_where_it_should():
    vertices, faces, weights = stick()
    m = cutis.Model.from_arrays(vertices, faces, weights=weights, joints=["upper", "lower"], parents=[-1, 0], rest=[[0, 0, 0], [1, 0, 0]])
    assert np.abs(m.vertices - vertices).max() < 1e-6
    pose = m.rest_pose()
    pose[m.find_joint("lower"), 3:7] = [0, 0, np.sin(np.pi / 4), np.cos(np.pi / 4)]  # a quarter turn about z
    bent, far = m.deform("lbs", poses=pose[None])[0], vertices[:, 0] > 1.3
    x, y, z = (vertices[far] - [1, 0, 0]).T
    assert np.abs(bent[far] - np.stack([1 - y, x, z], 1)).max() < 1e-6
    moving = m.with_clip("wag", np.stack([m.rest_pose(), pose, m.rest_pose()]), fps=2)
    assert moving.clips[0].duration == 1 and np.abs(moving.deform("lbs", clip="wag", fps=2)[1] - bent).max() < 1e-6


def test_from_arrays_takes_bones_that_only_carry_and_morph_targets():
    vertices, faces, weights = stick()
    up = np.zeros_like(vertices)
    up[:, 1] = vertices[:, 0]
    m = cutis.Model.from_arrays(vertices, faces, weights=weights, joints=["top", "upper", "between", "lower"], parents=[-1, 0, 1, 2],
                                rest=[[5, 0, 0], [0, 0, 0], [3, 3, 3], [1, 0, 0]], bound=[1, 3], targets={"rise": up})
    assert m.weights.shape == (len(vertices), 2) and [joint.name for joint in m.joints] == ["upper", "lower"]
    pose = m.rest_pose()
    pose[m.find_joint("top"), 0] += 2
    moved = cutis.bind(m).deform(pose, morphs=[0.5])
    assert np.abs(moved - (vertices + [2, 0, 0] + 0.5 * up)).max() < 1e-6
    with pytest.raises(ValueError, match="bound"):
        cutis.Model.from_arrays(vertices, faces, weights=weights, joints=["a", "b"], rest=[[0, 0, 0], [1, 0, 0]], bound=[0, 0])
    with pytest.raises(ValueError, match="targets: rise"):
        cutis.Model.from_arrays(vertices, faces, targets={"rise": up[1:]})


def test_drivers_are_learned_from_random_poses_too(folder):
    baked = cutis.bake(cutis.read(folder / "plain_arm.glb"), "dqs", clips=["bend"], helpers=2, drivers=True, fps=10)
    assert baked.report.unseen_count == 100 and baked.report.unseen_driven_rms < baked.report.unseen_plain_rms


def test_fits_return_models_with_reports(biped):
    reduced = cutis.reduce(biped, 2, effort="fast")
    assert reduced.weights.getnnz(axis=1).max() <= 2 and reduced.report.rows[0].max_influences <= 2
    body = cutis.synth("family", kind="human", seed=3, unrigged=True, vertex_count=3000)
    rigged = cutis.rig(body)
    assert rigged.report.kind == "human" and len(rigged.joints) > 10
    walking = cutis.retarget(rigged, biped, "walk")
    assert walking.clips[-1].name == "walk" and walking.report.mapped_count > 10
    baked = cutis.bake(biped, "dqs", clips=["bend"], helpers=2)
    assert baked.report.helper_count == 2 and baked.report.rms < baked.report.plain_rms
    assert len(cutis.skeleton(biped).joints) > 10


def test_fit_learns_examples(folder):
    arm = cutis.read(folder / "plain_arm.glb")
    poses = arm.sample("examples", np.arange(8) / 30)
    shapes = np.load(folder / "sculpts/examples.npy")
    fitted = cutis.fit(arm, poses, shapes)
    assert np.abs(fitted.deform("psd", poses=poses) - shapes).max() < 1e-5 * np.linalg.norm(np.ptp(arm.vertices, axis=0))


def test_measures_and_checks(biped):
    first = biped.deform("lbs", clip="walk", fps=4)[1]
    told = cutis.measure(first, biped.faces, biped.vertices, crossings=True)
    a, b, c = (first.astype(float)[biped.faces[:, k]] for k in range(3))
    assert abs(told.volume - np.einsum("ij,ij->", a, np.cross(b, c)) / 6) < 1e-9 and told.manifold.watertight
    apart = cutis.compare(first, biped.deform("dqs", clip="walk", fps=4)[1], biped.faces, biped.vertices)
    assert 0 < apart.position_rms < apart.position_max
    assert all(issue.code for issue in biped.check(2))


def test_two_bodies_become_one(biped):
    both = np.concatenate([biped.vertices, biped.vertices + np.float32([0.1, 0.03, 0.02])])
    faces = np.concatenate([biped.faces, biped.faces + len(biped.vertices)])
    one = cutis.unite(both, faces)
    told, alone = cutis.measure(one.positions, one.faces, crossings=True), cutis.measure(biped.vertices, biped.faces)
    assert told.manifold.watertight and told.crossings.triangle_count == 0 and alone.volume < told.volume < 2 * alone.volume
    corners = np.einsum("tkc,tcd->tkd", one.parts, both[faces[one.origins]])
    assert np.abs(corners - one.positions[one.faces]).max() < 1e-4
    with pytest.raises(cutis.Error, match="not closed"):
        cutis.unite(both, faces[1:])


def test_pictures_show_themselves(biped):
    picture = cutis.render(biped, width=200, height=160, values=biped.weights[:, 5].toarray().ravel(), colormap="weight")
    assert picture.shape == (160, 200, 4) and picture._repr_png_()[:8] == b"\x89PNG\r\n\x1a\n" and picture[..., :3].std() > 5


def test_a_loop_leaves_nothing_behind(biped):
    binding, out, pose = cutis.bind(biped, "dqs"), np.empty((3000, 3), np.float32), biped.rest_pose()
    sampler = cutis.Sampler(biped, "walk")
    grown, before = [], used()
    for _ in range(4):  # Python keeps something for itself now and then, but not in every round
        tracemalloc.start()
        start = tracemalloc.get_traced_memory()[0]
        for i in range(300):
            sampler(i / 300, pose)
            binding.deform(pose, out)
        grown.append(tracemalloc.get_traced_memory()[0] - start)
        tracemalloc.stop()
    assert used() == before and min(grown) < 2000, grown


def test_many_instances_are_single_ones(biped):
    binding, poses = cutis.bind(biped, "sbs"), biped.sample("walk", np.linspace(0, 1, 5))
    together = binding.deform(poses)
    assert together.tobytes() == np.stack([binding.deform(pose) for pose in poses]).tobytes()
    by_matrices = binding.deform(np.stack([biped.world(pose) for pose in poses]), kind="world")
    assert np.abs(by_matrices - together).max() < 2e-6


def test_views_outlive_what_they_are_of():
    before = used()
    m = cutis.synth("cylinder")
    positions, kept = m.meshes[0].primitives[0].positions, m.meshes[0].primitives[0].positions.copy()
    binding, pose = cutis.bind(m), m.rest_pose()
    m.close()
    assert np.array_equal(positions, kept) and binding.deform(pose).shape == positions.shape
    with pytest.raises(ValueError, match="closed"):
        m.rest_pose()
    binding.close()
    with pytest.raises(ValueError, match="closed"):
        binding.deform(pose)
    del m, binding, positions
    assert used() == before


def test_threads_deform_at_once(biped):
    binding, pose, wrong = cutis.bind(biped, "lbs", concurrent_calls=4), biped.sample("walk", 0.3), []
    expected = binding.deform(pose)

    def work():
        out = np.empty_like(expected)
        for _ in range(30):
            wrong.append(binding.deform(pose, out).tobytes() != expected.tobytes())
    threads = [threading.Thread(target=work) for _ in range(4)]
    [each.start() for each in threads], [each.join() for each in threads]
    assert len(wrong) == 120 and not any(wrong)


def test_progress_is_told_and_stops(biped):
    told = []
    cutis.reduce(biped, 3, progress=lambda stage, fraction: told.append((stage, fraction)))
    assert told and all(isinstance(stage, str) and 0 <= fraction <= 1 for stage, fraction in told)
    with pytest.raises(cutis.Cancelled), cutis.progress(lambda *_: False):
        cutis.reduce(biped, 3)
    with pytest.raises(ZeroDivisionError):
        cutis.reduce(biped, 3, progress=lambda *_: 1 / 0)
    cutis.reduce(biped, 3, effort="fast")  # and nothing of it is left


def test_control_c_cancels():
    body = cutis.synth("biped", vertex_count=46036)
    threading.Timer(0.4, os.kill, (os.getpid(), signal.SIGINT)).start()
    start, before = time.monotonic(), signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        cutis.reduce(body, 3, effort="best")
    assert time.monotonic() - start < 8 and signal.getsignal(signal.SIGINT) is before


class Holder:
    """What torch and cupy are to us: something that lends float32 memory."""

    def __init__(self, values, device=None):
        self.values, self.device = values, device

    def __dlpack__(self, *, stream=None):
        return self.values.__dlpack__()

    def __dlpack_device__(self):
        return self.device or self.values.__dlpack_device__()


def test_tensors_are_written_in_place(biped):
    binding, pose = cutis.bind(biped, "lbs"), biped.sample("walk", 0.2)
    expected, memory = binding.deform(pose), np.zeros((3000, 3), np.float32)
    binding.deform(pose, Holder(memory))
    assert memory.tobytes() == expected.tobytes()
    with pytest.raises(ValueError, match="another device"):
        binding.deform(pose, Holder(memory, (2, 0)))
    with pytest.raises(TypeError, match="float32 is wanted"):
        binding.deform(pose, Holder(np.zeros((3000, 3))))
    with pytest.raises(ValueError, match="shape"):
        binding.deform(pose, Holder(memory[:10]))
    with pytest.raises(TypeError, match="C order"):
        binding.deform(pose, Holder(np.zeros((3, 3000), np.float32).T))


def test_buffers_are_tensors(biped):
    device = cutis.Device("cpu", threads=1)
    binding, buffer, pose = cutis.bind(biped, "dqs", device), device.empty((3000, 3)), biped.sample("walk", 0.7)
    binding.deform(pose, buffer)
    shared = np.from_dlpack(buffer)
    assert shared.ctypes.data == cutis.c.cutis_buffer_handle(buffer.pointer)
    assert shared.tobytes() == buffer.numpy().tobytes() == binding.deform(pose).tobytes()
    buffer.close(), device.close()
    assert np.isfinite(shared).all()


def test_what_dies_together_dies_in_order():
    """Device, model and binding in one cycle, as everything is when the interpreter ends."""
    before = used()
    for _ in range(50):
        device, m = cutis.Device("cpu", threads=1), cutis.Model.from_arrays(np.eye(3), [[0, 1, 2]])
        binding, buffer = cutis.bind(m, "lbs", device), device.empty((3, 3))
        ring = [buffer, device, m, binding]
        ring.append(ring)
        del device, m, binding, buffer, ring
        gc.collect()
    assert used() == before


def test_closing_waits_for_who_is_at_work(biped):
    """A thread closes what another one, or a call that tells its progress, is using."""
    for _ in range(3):
        binding, poses = cutis.bind(biped, "sbs"), np.repeat(biped.rest_pose()[None], 300, 0)
        threading.Timer(0.002, binding.close).start()
        try:
            assert binding.deform(poses).shape == (300, 3000, 3)
        except ValueError as error:  # it was closed before the call
            assert "closed" in str(error)
    model = cutis.synth("biped", size="low")
    reduced = cutis.reduce(model, 3, effort="fast", progress=lambda *_: model.close())
    assert reduced.vertex_count == 3000


def test_numbers_of_clips_are_numbers(biped):
    pose = biped.sample("walk", [0, 0.5])
    named = biped.with_clip("1", pose).with_clip("0", pose)
    assert named.find_clip(1) == 1 and named.find_clip("1") == 5 and named.find_clip("0") == 6


def test_helpers_have_keys_at_the_end(biped):
    short = biped.with_clip("short", biped.sample("walk", [0, 0.2, 0.4]), times=[0, 0.1, 0.25])
    assert np.allclose(cutis.fitting._key_times(short, 5, 10), [0, 0.1, 0.2, 0.25])


def test_exceptions_of_progress_are_never_lost(biped):
    calls = []
    cutis.reduce(biped, 3, effort="fast", progress=lambda *told: calls.append(told))
    left, before = [len(calls)], used()

    def last(*_):
        left[0] -= 1
        if not left[0]:
            raise ZeroDivisionError
    with pytest.raises(ZeroDivisionError):
        cutis.reduce(biped, 3, effort="fast", progress=last)
    assert used() == before
