"""Device and DeviceType: names, numbers, equality."""

import copy
import pickle

import pytest

import godlpack as gd

TYPES = {  # dlpack.h
    "CPU": 1,
    "CUDA": 2,
    "CUDA_HOST": 3,
    "OPENCL": 4,
    "VULKAN": 7,
    "METAL": 8,
    "VPI": 9,
    "ROCM": 10,
    "ROCM_HOST": 11,
    "EXT_DEV": 12,
    "CUDA_MANAGED": 13,
    "ONE_API": 14,
    "WEBGPU": 15,
    "HEXAGON": 16,
    "MAIA": 17,
    "TRN": 18,
    "TPU": 19,
    "TPU_HOST": 20,
    "ASCEND": 21,
}

HOST = {"CPU", "CUDA_HOST", "ROCM_HOST", "CUDA_MANAGED", "TPU_HOST"}  # their names omit number 0

types = pytest.mark.parametrize("kind", gd.DeviceType)


def test_device_types_are_dlpacks():
    assert {kind.name: kind.value for kind in gd.DeviceType} == TYPES


def test_device_types_are_the_modules_own():
    layout = gd._core._layout()
    theirs = {name.removeprefix("kDL").upper(): value for name, value in layout.items() if name.startswith("kDL")}
    for name, value in TYPES.items():
        assert theirs[name.replace("_", "")] == value


@types
def test_number_and_name(kind):
    device = gd.Device(kind, 3)
    assert (device.type, device.id) == (kind, 3)
    assert isinstance(device.type, gd.DeviceType)
    assert str(device).endswith(":3")
    assert gd.Device(str(device)) == device
    assert repr(device) == f"Device('{device}')"


@types
def test_number_zero(kind):
    """R30: host memory has device number 0."""
    device = gd.Device(kind)
    assert device.id == 0
    assert str(device).endswith(":0") == (kind.name not in HOST)
    assert gd.Device(str(device).removesuffix(":0")) == device


@types
def test_a_device_makes_itself(kind):
    device = gd.Device(kind, 1)
    assert gd.Device(device) == device
    assert gd.Device(int(kind), id=1) == device
    assert gd.Device((int(kind), 1)) == device
    assert pickle.loads(pickle.dumps(device)) == device
    assert copy.deepcopy(device) == device


def test_equality():
    """Equal devices have equal hashes: each device has one name."""
    cuda = gd.Device("cuda:1")
    assert cuda == "cuda:1" and cuda == gd.Device(2, 1)
    assert hash(cuda) == hash("cuda:1") == hash(gd.Device(2, 1))
    for other in ("cuda:0", "cpu", "cuda", (2, 1), ("a", "b"), None, 2, "what", gd.Device("rocm:1"), gd.Device("cpu")):
        assert cuda != other
        assert (cuda == other) is False


@pytest.mark.parametrize("name", ["cuda", "cuda:0", "cpu", "cpu:0", "cuda_host", "cuda_host:0"])
def test_what_is_equal_has_the_same_hash(name):
    device = gd.Device(name)
    assert device != name or hash(device) == hash(name)
    assert str(device) == device


def test_devices_have_no_order():
    with pytest.raises(TypeError):
        gd.Device("cpu") < gd.Device("cuda")  # noqa: B015


def test_torch_devices(torch):
    assert gd.Device("cpu") == torch.device("cpu")
    assert gd.Device(torch.device("cuda:1")) == "cuda:1"
    assert gd.Device("cuda:0") != torch.device("cuda:1")


@pytest.mark.parametrize(
    ("arguments", "error", "wanted"),
    [
        (("gpu",), ValueError, "want one of cpu, cuda,"),
        (("",), ValueError, "want one of cpu, cuda,"),
        (((1, -1),), ValueError, r"want a device type of DLPack and an id >= 0, got \(1, -1\)"),
        (((99, 0),), ValueError, r"want a device type of DLPack and an id >= 0, got \(99, 0\)"),
        (((1, 2**70),), ValueError, "want a device type of DLPack and an id >= 0"),
        (((1, "0"),), TypeError, "want a name such as 'cuda:0' or a DeviceType"),
        (((1, 0, 0),), TypeError, "want a name such as 'cuda:0' or a DeviceType"),
        (("cuda:x",), ValueError, 'want a number from 0 to 2147483647 after the colon, got "x"'),
        (("cuda:-1",), ValueError, 'got "-1"'),
        (("cuda:2147483648",), ValueError, 'got "2147483648"'),
        ((5,), ValueError, r"want a device type of DLPack and an id >= 0, got \(5, 0\)"),
        ((2, -1), ValueError, r"got \(2, -1\)"),
        ((2, 2**31), ValueError, r"got \(2, 2147483648\)"),
        ((2**32 + 2,), ValueError, r"got \(4294967298, 0\)"),
        ((2**70,), ValueError, "does not fit into 64 bits"),
        (((2, -1),), ValueError, r"got \(2, -1\)"),
        (((99, 0),), ValueError, r"got \(99, 0\)"),
        (((2, 2**32),), ValueError, r"got \(2, 4294967296\)"),
        (("cuda", 1), TypeError, "an id needs a DeviceType before it, got 'cuda'"),
        ((1.5,), TypeError, "want a name such as 'cuda:0' or a DeviceType, got 1.5"),
        ((None,), TypeError, "got None"),
        (((2,),), TypeError, r"got \(2,\)"),
        ((2, "1"), TypeError, "want an int, got str"),
        ((), TypeError, "missing required argument 'x'"),
        ((1, 2, 3), TypeError, "takes at most 2 positional arguments, got 3"),
    ],
)
def test_wrong_arguments(arguments, error, wanted):
    with pytest.raises(error, match=wanted):
        gd.Device(*arguments)


@pytest.mark.parametrize("field", ["type", "id"])
def test_devices_are_immutable(field):
    with pytest.raises(AttributeError):
        setattr(gd.Device("cpu"), field, 1)
    with pytest.raises(TypeError):
        setattr(gd.Device, field, 1)
