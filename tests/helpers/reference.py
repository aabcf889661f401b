"""A producer, a consumer and an exchange table that keep all rules of DLPack, in steps each of which can be replaced.

defects.py replaces one step at a time, and godlpack.testing must find the defect. testdata/reference.c contains the
code that runs where Python cannot. From godlpack, only the layout of DLPack's records is used.
"""

import ctypes
import tempfile
from ctypes import POINTER, c_int, c_int64, c_void_p
from pathlib import Path

from godlpack.testing.records import (
    IS_COPIED,
    OLD_TABLE_NAME,
    READ_ONLY,
    TABLE_NAME,
    Allocator,
    CurrentStream,
    Device,
    DType,
    Legacy,
    ManagedFromPy,
    Record,
    SetError,
    Table,
    Version,
    Versioned,
    compact,
    delete,
    managed_in,
    table_at,
    take,
    values_of,
)
from helpers import build

CPU, CUDA, ROCM = 1, 2, 10
FLOAT32 = (2, 32, 1)
CODES = ("int", "uint", "float", "handle", "bfloat", "complex")
DTYPES = {(code, bits) for code in (0, 1) for bits in (8, 16, 32, 64)}
DTYPES |= {(2, 16), (2, 32), (2, 64), (4, 16), (5, 64), (5, 128), (6, 8), (10, 8), (12, 8), (17, 4)}

_kept = []  # never freed
_api = ctypes.pythonapi
libc = ctypes.CDLL(None)
libc.malloc.restype, libc.malloc.argtypes = c_void_p, [ctypes.c_size_t]
new_capsule = ctypes.PYFUNCTYPE(ctypes.py_object, c_void_p, ctypes.c_char_p, c_void_p)(("PyCapsule_New", _api))
NAMES = {name: name.encode() for name in ("dltensor", "dltensor_versioned", "dlpack_exchange_api", "tensor")}


def compiled():
    """testdata/reference.c as a library."""
    with tempfile.TemporaryDirectory() as folder:
        path = build.c_library(Path(folder) / "reference.so", build.SOURCES / "reference.c")
        return ctypes.PyDLL(str(path))


c = compiled()


def address_of(function):
    return ctypes.cast(getattr(c, function) if isinstance(function, str) else function, c_void_p).value


def keep(thing):
    _kept.append(thing)
    return thing


# ---- the producer ----


class Array:
    """A tensor: elements in memory that another object owns."""

    def __init__(
        self, shape=(3,), dtype=FLOAT32, *, strides=None, address=None, owner=None, read_only=False, device=(CPU, 0)
    ):
        self.shape, self.triple, self.read_only, self.device = tuple(shape), dtype, read_only, device
        self.strides = compact(self.shape) if strides is None else tuple(strides)
        self.owner, self.address = owner, address
        if address is None:
            self.owner = self.new_memory()
            self.address = ctypes.addressof(self.owner)

    def new_memory(self):
        """Memory for the elements; float32 ones are 0.0, 1.0 and so on."""
        reach = 1 + sum((n - 1) * step for n, step in zip(self.shape, self.strides, strict=True))
        if self.triple == FLOAT32:
            return (ctypes.c_float * max(reach, 1))(*range(reach))
        return (ctypes.c_uint8 * max(reach * self.triple[1] // 8, 1))(1)

    # Attributes that its exports must match.

    @property
    def size(self):
        count = 1
        for extent in self.shape:
            count *= extent
        return count

    @property
    def dtype(self):
        code, bits, _ = self.triple
        small = {10: "float8_e4m3fn", 12: "float8_e5m2", 17: "float4_e2m1fn", 6: "bool"}
        return small.get(code) or f"{CODES[code]}{bits}"

    @property
    def __array_interface__(self):
        return {"data": (self.address, self.read_only), "shape": self.shape, "version": 3}

    def stride(self):
        return self.strides

    def tolist(self):
        values = values_of(self.record())
        return values if self.shape else values[0]

    def record(self):
        """The record of the elements as the object itself uses them."""
        record = Record(self.address, Device(CPU, 0), len(self.shape), DType(*self.triple))
        record.shape, record.strides = numbers(self.shape), numbers(self.strides)
        return record

    # The steps of an export.

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        return self.answer(stream, max_version, dl_device, copy)

    def answer(self, stream, max_version, dl_device, copy):
        self.check_version(max_version)
        self.check_device(dl_device)
        self.check_stream(stream, self.device if dl_device is None else dl_device)
        versioned = self.speaks_versioned(max_version)
        source = self.copied() if self.copies(copy) else self
        if not versioned:
            source.check_legacy()
        managed = source.managed(versioned, source.flags(source is not self))
        self.finish(managed, max_version)
        return source.capsule(managed)

    def check_version(self, version):
        pair = isinstance(version, tuple) and len(version) == 2 and all(isinstance(part, int) for part in version)
        if version is not None and not pair:
            raise TypeError(f"max_version: want None or a pair of ints, got {version!r}")

    def check_device(self, device):
        if device is not None and tuple(device) != self.device:
            raise BufferError(f"dl_device: want {self.device}, got {device}")

    def check_stream(self, stream, device):
        refused = {CUDA: (0,), ROCM: (1, 2)}.get(device[0])
        if stream is None or (stream == -1 and device[0] == CPU):
            return
        if refused is None or not isinstance(stream, int) or stream < -1 or stream in refused:
            raise ValueError(f"stream: {stream!r} is not a stream of device {device}")

    def speaks_versioned(self, version):
        return version is not None and version[0] >= 1

    def copies(self, copy):
        return copy is True

    def copied(self):
        other = type(self)(self.shape, self.triple, device=self.device)
        for i, value in enumerate(values_of(self.record()) if self.triple == FLOAT32 else ()):
            other.owner[i] = value
        return other

    def check_legacy(self):
        if self.read_only:
            raise BufferError("read-only memory: want max_version=(1, 0) or higher")

    def flags(self, copied):
        return READ_ONLY * self.read_only | IS_COPIED * copied

    def managed(self, versioned, flags):
        """A managed tensor that holds the object, in one block with its shape and strides."""
        kind = Versioned if versioned else Legacy
        ndim = len(self.shape)
        size = ctypes.sizeof(kind)
        managed = kind.from_address(libc.malloc(size + 16 * ndim))
        ctypes.memset(ctypes.addressof(managed), 0, size)
        if versioned:
            managed.version, managed.flags = Version(1, 3), flags
        self.fill(managed.tensor, ctypes.addressof(managed) + size)
        self.hold(managed)
        managed.deleter = self.deleter(versioned)
        return managed

    def fill(self, record, room):
        """Writes the record, with shape and strides in the room behind it."""
        ndim = len(self.shape)
        record.data = self.address if self.size else None
        record.device, record.dtype, record.ndim = Device(*self.device), DType(*self.triple), ndim
        if ndim:
            dims = (c_int64 * (2 * ndim)).from_address(room)
            dims[:] = self.shape + self.strides
            record.shape = ctypes.cast(room, POINTER(c_int64))
            record.strides = ctypes.cast(room + 8 * ndim, POINTER(c_int64))

    def hold(self, managed):
        _api.Py_IncRef(ctypes.py_object(self))
        managed.manager_ctx = id(self)

    delete = "delete_right"

    def deleter(self, versioned):
        if not isinstance(self.delete, str):
            return self.delete and address_of(self.delete)
        return address_of(f"{self.delete}_{'versioned' if versioned else 'legacy'}")

    def finish(self, managed, max_version):
        """The last step for a managed tensor; does nothing."""

    destroy = "destroy_right"

    def capsule(self, managed):
        destructor = self.destroy and address_of(self.destroy)
        return new_capsule(ctypes.addressof(managed), self.name(managed), destructor)

    def name(self, managed):
        return NAMES["dltensor_versioned" if isinstance(managed, Versioned) else "dltensor"]


def numbers(values):
    return ctypes.cast(keep((c_int64 * max(len(values), 1))(*values)), POINTER(c_int64))


# ---- the consumer ----


class Holder:
    """Owns a managed tensor."""

    def __init__(self, managed, release=delete):
        self.managed, self._release = managed, release

    def __del__(self):
        self._release(self.managed)


class Consumer:
    """A from_dlpack."""

    def __call__(self, x, *, copy=None):
        managed = self.by_table(x)
        if managed is None:
            managed = self.by_method(x, copy)
        made = self.own(managed)
        return self.copied(made, managed) if copy else made

    # by the table of its type

    def by_table(self, x):
        address = self.export_by_table(x)
        if not address:
            return None
        managed = Versioned.from_address(address)
        try:
            self.check(managed)
        except BufferError:
            delete(managed)
            raise
        return managed

    def export_by_table(self, x):
        """Address of the export by the table of the type; 0 if there is no table, or if it fails."""
        table, out = self.table_of(x), c_void_p()
        try:
            failed = not table or ManagedFromPy(table.managed_from_py)(x, ctypes.byref(out)) != 0
        except Exception:
            return 0
        return 0 if failed else out.value or 0

    def table_of(self, x):
        for name in (TABLE_NAME, OLD_TABLE_NAME):
            try:
                table = table_at(getattr(type(x), name, None) or "")
            except (ValueError, TypeError):
                continue
            return self.fitting(table)
        return None

    def fitting(self, table):
        while table.version.major != 1:
            if not table.prev:
                return None
            table = Table.from_address(table.prev)
        return table

    # by __dlpack__

    def by_method(self, x, copy):
        capsule = self.ask(x, copy)
        managed = managed_in(capsule)
        self.check(managed)
        return self.take(capsule)

    def ask(self, x, copy):
        x.__dlpack_device__()
        keywords = {} if copy is None else {"copy": copy}
        try:
            return x.__dlpack__(max_version=(1, 3), **keywords)
        except TypeError:
            return x.__dlpack__()

    def take(self, capsule):
        return take(capsule)

    # checks

    def check(self, managed):
        if isinstance(managed, Versioned):
            self.check_major(managed)
            self.check_flags(managed)
        self.check_shape(managed.tensor)
        self.check_dtype(managed.tensor)
        self.check_device(managed.tensor)
        self.check_data(managed.tensor)

    def check_major(self, managed):
        wants(managed.version.major == 1, f"version {managed.version.major}")

    def check_flags(self, managed):
        pass  # unknown flags mean nothing

    def check_shape(self, record):
        self.check_ndim(record)
        wants(record.shape or not record.ndim, "shape NULL")
        self.check_extents(record)

    def check_ndim(self, record):
        wants(0 <= record.ndim <= 64, f"ndim {record.ndim}")

    def check_extents(self, record):
        wants(all(extent >= 0 for extent in record.dims()), f"shape {record.dims()}")
        wants(record.size() < 2**60, f"shape {record.dims()}")

    def check_dtype(self, record):
        code, bits, lanes = record.dtype_triple()
        wants((code, bits) in DTYPES and bits >= 8, f"dtype {(code, bits)}")
        wants(lanes == 1, f"lanes {lanes}")

    def check_device(self, record):
        wants(record.device.type == CPU, f"device {record.device.type}")

    def check_data(self, record):
        wants(record.data or not record.size(), "data NULL")

    # the result

    def own(self, managed):
        return self.made(managed, Holder(managed, self.release))

    def release(self, managed):
        delete(managed)

    def made(self, managed, owner):
        record = managed.tensor
        read_only = bool(getattr(managed, "flags", 0) & READ_ONLY)
        return Array(
            record.dims(),
            record.dtype_triple(),
            strides=record.steps(),
            address=self.start(record) or 1,
            owner=owner,
            read_only=read_only,
        )

    def start(self, record):
        return record.address()

    def copied(self, made, managed):
        return made if getattr(managed, "flags", 0) & IS_COPIED else made.copied()


def wants(holds, got):
    if not holds:
        raise BufferError(f"got {got}")


# ---- the exchange table ----


class Publisher:
    """The functions of a table, and the type that publishes it."""

    version = (1, 3)
    names = (TABLE_NAME, OLD_TABLE_NAME)
    missing = ()  # slots that are NULL

    def __init__(self):
        self.consumer = Consumer()
        self.type = type("Tensor", (Array,), self.methods())
        self.table = keep(self.new_table())
        for name in self.names:
            setattr(self.type, name, self.attribute(name))
        keep(self)

    def methods(self):
        """Methods of the type besides those of Array."""
        return {}

    def attribute(self, name):
        address = ctypes.addressof(self.table)
        return new_capsule(address, NAMES["dlpack_exchange_api"], None) if name == TABLE_NAME else address

    def new_table(self):
        for i, hook in enumerate((self.from_py, self.to_py, self.record_from_py)):
            (c_void_p * 3).in_dll(c, "hooks")[i] = id(keep(hook))
        c_int.in_dll(c, "failure").value, c_int.in_dll(c, "keeps_exception").value = -1, 1
        table = Table(Version(*self.version))
        table.managed_from_py, table.managed_to_py = address_of("managed_from_py"), address_of("managed_to_py")
        table.record_from_py = address_of("record_from_py")
        table.allocator = address_of(self.allocator())
        table.current_stream = address_of(keep(CurrentStream(self.current_stream)))
        for slot in self.missing:
            setattr(table, slot, None)
        return table

    def sample(self):
        return self.type((2, 3))

    def from_py(self, x, out):
        x = ctypes.cast(x, ctypes.py_object).value
        self.check_type(x)
        managed = x.managed(True, x.flags(False))
        self.finish(managed)
        pointer_at(out).value = ctypes.addressof(managed)
        return 0

    def check_type(self, x):
        if not isinstance(x, self.type):
            raise TypeError(f"want a {self.type.__name__}, got {type(x).__name__}")

    def finish(self, managed):
        """The last step for an export; does nothing."""

    def record_from_py(self, x, out):
        x = ctypes.cast(x, ctypes.py_object).value
        self.check_type(x)
        self.check_lending(x)
        x.lent = ctypes.create_string_buffer(16 * max(len(x.shape), 1))
        x.fill(Record.from_address(out), ctypes.addressof(x.lent))
        return 0

    def check_lending(self, x):
        if x.read_only:
            raise BufferError("read-only memory cannot be lent")

    def to_py(self, address, out):
        managed = Versioned.from_address(address)
        self.consumer.check(managed)
        made = self.consumer.own(managed)
        made.__class__ = self.type
        _api.Py_IncRef(ctypes.py_object(made))
        pointer_at(out).value = id(made)
        return 0

    def allocator(self):
        return keep(Allocator(self.allocate))

    def allocate(self, prototype, out, context, set_error):
        prototype = prototype.contents
        try:
            self.check_prototype(prototype)
        except BufferError as error:
            return self.fails(out, context, set_error, str(error).encode())
        array = self.type(prototype.dims(), prototype.dtype_triple())
        managed = array.managed(True, 0)
        self.finish_allocated(managed)
        out[0] = ctypes.addressof(managed)
        return 0

    def check_prototype(self, prototype):
        self.consumer.check_shape(prototype)
        wants(prototype.size() < 2**40, f"shape {prototype.dims()}")
        self.consumer.check_dtype(prototype)

    def finish_allocated(self, managed):
        """The last step for an allocated tensor; does nothing."""

    def fails(self, out, context, set_error, message):
        out[0] = None
        SetError(ctypes.cast(set_error, c_void_p).value)(context, b"BufferError", message)
        return -1

    def current_stream(self, kind, number, out):
        out[0] = None
        return 0


def pointer_at(address):
    return c_void_p.from_address(address)
