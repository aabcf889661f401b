"""A producer and a consumer that do what cupy's source does, without its device: memory of the CPU counts as CUDA's."""

from godlpack.testing.records import IS_COPIED, Versioned, take
from helpers.reference import CPU, CUDA, Array, Consumer, wants


class CupyArray(Array):
    """cupy.ndarray: writable, on CUDA."""

    delete = "delete_after_the_end"  # "with gil", which no consumer uses after Python's end

    def __init__(self, shape=(3,), dtype=(2, 32, 1), **more):
        super().__init__(shape, dtype, **{"device": (CUDA, 0), **more})

    def check_version(self, version):
        if version is not None:
            version[0] >= 1  # noqa: B015  what is no tuple of numbers is a TypeError

    def check_device(self, device):
        if device not in (None, self.device, (CPU, 0)):
            raise BufferError(f"unsupported device requested: {device}")
        if device == (CPU, 0) and device != self.device:
            raise BufferError("no memory of the CPU is here to copy to")

    def flags(self, copied):
        return IS_COPIED * copied


class CupyConsumer(Consumer):
    """cupy.from_dlpack: it takes the capsule, then checks the version, the device and the dtype, and nothing else."""

    def ask(self, x, copy):
        x.__dlpack_device__()
        try:
            return x.__dlpack__(max_version=(1, 0), copy=copy)
        except TypeError:
            if copy is not None:
                raise
            return x.__dlpack__()

    def by_table(self, x):
        return None

    def by_method(self, x, copy):
        managed = take(self.ask(x, copy))
        try:
            self.check(managed)
        except BufferError:
            self.release(managed)
            raise
        return managed

    def check(self, managed):
        if isinstance(managed, Versioned):
            wants(managed.version.major <= 1, "a version to come")
        self.check_device(managed.tensor)
        self.check_dtype(managed.tensor)

    def made(self, managed, owner):
        array = super().made(managed, owner)
        array.read_only = False
        return array

    def copied(self, made, managed):
        return made
