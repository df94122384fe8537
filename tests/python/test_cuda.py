"""Memory of a GPU, lent by another library, is written in place. Runs where there is a CUDA device."""
import ctypes

import numpy as np
import pytest

import cutis

CUDA = [info for info in cutis.devices() if info.kind == "cuda" and info.available]
pytestmark = pytest.mark.skipif(not CUDA, reason="no CUDA device here; ./dev gpu says how such a machine is used")


class Lender:
    """A plain holder of device memory: what torch and cupy are to us."""

    def __init__(self, device, shape):
        self.buffer, self.streams = device.empty(shape), []

    def __dlpack__(self, *, stream=None):
        self.streams.append(stream)
        return self.buffer.__dlpack__(stream=stream)

    def __dlpack_device__(self):
        return self.buffer.__dlpack_device__()


def test_lent_memory_is_written_in_place(biped):
    device, pose = cutis.Device("cuda"), biped.sample("walk", [0.1, 0.4, 0.9])
    for method in ("lbs", "dqs", "sbs", "cor"):
        lender = Lender(device, (3, 3000, 3))
        cutis.bind(biped, method, device).deform(pose, lender)
        assert lender.buffer.numpy().tobytes() == biped.deform(method, poses=pose).tobytes(), method
        assert lender.streams and lender.streams[0]


def test_buffers_tell_their_address():
    device = cutis.Device("cuda")
    buffer = device.empty((5, 3))
    lent = cutis.dlpack.Lent(buffer, "buffer")
    assert lent.address == cutis.c.cutis_buffer_handle(buffer.pointer) and lent.shape == (5, 3)
    lent.release()


def test_shared_buffers_are_whole_when_a_call_returns(biped):
    torch = pytest.importorskip("torch", reason="torch is not there")
    device, pose = cutis.Device("cuda"), biped.sample("walk", 0.4)
    buffer, binding = device.empty((3000, 3)), cutis.bind(biped, "dqs", device)
    tensor = torch.from_dlpack(buffer)
    binding.deform(pose, buffer)
    assert np.array_equal(tensor.cpu().numpy(), biped.deform("dqs", poses=pose[None])[0])


def test_torch_shares_it(biped):
    torch = pytest.importorskip("torch", reason="torch is not there")
    out, pose = torch.zeros((3000, 3), device="cuda"), biped.sample("walk", 0.4)
    address = out.data_ptr()
    cutis.bind(biped, "dqs", "cuda").deform(pose, out)
    assert out.data_ptr() == address and np.array_equal(out.cpu().numpy(), biped.deform("dqs", poses=pose[None])[0])
    buffer = cutis.Device("cuda").empty((4, 3))
    assert torch.from_dlpack(buffer).data_ptr() == cutis.c.cutis_buffer_handle(buffer.pointer)


def test_host_and_device_do_not_mix(biped):
    binding = cutis.bind(biped, "lbs")
    with pytest.raises(ValueError, match="another device"):
        binding.deform(biped.rest_pose(), Lender(cutis.Device("cuda"), (3000, 3)))
    assert ctypes.sizeof(cutis.dlpack._Tensor) == 48
