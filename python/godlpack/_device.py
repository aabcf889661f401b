"""The device types of DLPack 1.3 and after, by its own numbers."""

from enum import IntEnum


class DeviceType(IntEnum):
    """Kind of device that memory is on: DLPack's DLDeviceType.

    The values are DLPack's numbers, of version 1.3 and later.

    Examples
    --------
    >>> import godlpack as gd
    >>> gd.DeviceType(13), gd.DeviceType.CUDA == 2
    (<DeviceType.CUDA_MANAGED: 13>, True)
    """

    CPU = 1
    CUDA = 2
    CUDA_HOST = 3
    OPENCL = 4
    VULKAN = 7
    METAL = 8
    VPI = 9
    ROCM = 10
    ROCM_HOST = 11
    EXT_DEV = 12
    CUDA_MANAGED = 13
    ONE_API = 14
    WEBGPU = 15
    HEXAGON = 16
    MAIA = 17
    TRN = 18
    TPU = 19
    TPU_HOST = 20
    ASCEND = 21
