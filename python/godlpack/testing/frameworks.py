"""The frameworks that ``python -m godlpack.testing`` checks; each is imported when it is checked."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator

from .consumer import check_consumer
from .producer import check_producer
from .report import Report
from .table import check_table

Reports = Iterator[Report]


def numpy() -> Reports:
    """Its arrays and its from_dlpack. It has no table."""
    np = importlib.import_module("numpy")
    yield check_producer(
        lambda: np.arange(6.0).reshape(2, 3),
        lambda: np.zeros((0, 3)),
        lambda: np.array(7),
        lambda: np.broadcast_to(np.float32(1), (2, 3)),
        lambda: np.arange(6)[::-2],
        lambda: np.array([True, False]),
        name="producer numpy.ndarray",
    )
    yield check_consumer(np.from_dlpack, name="consumer numpy.from_dlpack")


def torch() -> Reports:
    """Its tensors, including lazy conjugates and negatives, its from_dlpack and its table."""
    th = importlib.import_module("torch")
    yield check_producer(
        lambda: th.arange(6.0).reshape(2, 3),
        lambda: th.zeros((0, 3)),
        lambda: th.tensor(7),
        lambda: th.arange(6).reshape(2, 3).T,
        lambda: th.tensor([True, False]),
        lambda: th.ones(3, dtype=th.float8_e5m2),
        name="producer torch.Tensor",
    )
    yield check_producer(
        lambda: th.tensor([1 + 2j]).conj().imag,
        name="producer torch.Tensor, a lazy negative",
    )
    yield check_consumer(th.from_dlpack, name="consumer torch.from_dlpack")
    yield check_table(th.Tensor, name="table of torch.Tensor")


def jax() -> Reports:
    """Its arrays, which wait for threads that a forked child does not have, and its from_dlpack. It has no table."""
    jx = importlib.import_module("jax")
    importlib.import_module("jax.dlpack")
    yield check_producer(
        lambda: jx.numpy.arange(6.0).reshape(2, 3).block_until_ready(),
        lambda: jx.numpy.zeros((0, 3)).block_until_ready(),
        lambda: jx.numpy.array(7).block_until_ready(),
        lambda: jx.numpy.ones(3, "float8_e5m2").block_until_ready(),
        name="producer jax.Array",
        isolated=False,
    )
    yield check_consumer(jx.dlpack.from_dlpack, name="consumer jax.dlpack.from_dlpack", isolated=True)


def tvm_ffi() -> Reports:
    """Its tensors and its from_dlpack. It has no table."""
    gd, tvm = importlib.import_module("godlpack"), importlib.import_module("tvm_ffi")
    yield check_producer(
        lambda: tvm.from_dlpack(gd.full((2, 3), 1.5)),
        lambda: tvm.from_dlpack(gd.zeros((0, 3))),
        lambda: tvm.from_dlpack(gd.zeros((), "int64")),
        name="producer tvm_ffi.Tensor",
    )
    yield check_consumer(tvm.from_dlpack, name="consumer tvm_ffi.from_dlpack")


def pyarrow() -> Reports:
    """Its arrays, which are immutable. It has no from_dlpack."""
    pa = importlib.import_module("pyarrow")
    yield check_producer(
        read_only=[
            lambda: pa.array([0.0, 1.0, 2.0]),
            lambda: pa.array([], pa.int32()),
            lambda: pa.array([1, 2], pa.uint8()),
        ],
        refused=[lambda: pa.array([1, None]), lambda: pa.array(["text"])],
        name="producer pyarrow.Array",
    )


def cuda_core() -> Reports:
    """The views that it makes of objects with __dlpack__; they have __dlpack__, too."""
    try:
        utils = importlib.import_module("cuda.core.utils")
    except ImportError:
        utils = importlib.import_module("cuda.core.experimental.utils")
    gd = importlib.import_module("godlpack")

    def view(x: object, **keywords: object) -> object:
        return utils.StridedMemoryView.from_dlpack(x, stream_ptr=-1, **keywords)

    yield check_producer(
        lambda: view(gd.full((2, 3), 1.5)), lambda: view(gd.zeros((0, 3))), name="producer cuda.core.StridedMemoryView"
    )
    yield check_consumer(view, name="consumer cuda.core.StridedMemoryView.from_dlpack")
    yield check_table(utils.StridedMemoryView, view(gd.full((2, 3), 1.5)), name="table of cuda.core.StridedMemoryView")


def paddle() -> Reports:
    """Its tensors, its from_dlpack and its table."""
    pd = importlib.import_module("paddle")
    yield check_producer(
        lambda: pd.arange(6, dtype="float32").reshape([2, 3]),
        lambda: pd.zeros([0, 3]),
        lambda: pd.to_tensor(7),
        lambda: pd.to_tensor([True, False]),
        name="producer paddle.Tensor",
    )
    yield check_consumer(pd.from_dlpack, name="consumer paddle.from_dlpack")
    yield check_table(pd.Tensor, pd.zeros([2, 3]), name="table of paddle.Tensor")


def godlpack() -> Reports:
    """godlpack itself."""
    gd = importlib.import_module("godlpack")
    yield check_producer(
        lambda: gd.full((2, 3), 1.5),
        lambda: gd.zeros((0, 3)),
        lambda: gd.full((), 7, "int64"),
        lambda: gd.asarray(b"read-only"),
        lambda: gd.asarray(bytearray(b"reversed"))[::-2],
        lambda: gd.zeros(4, "bool"),
        lambda: gd.zeros(4, "float4_e2m1fn"),
        name="producer godlpack.Tensor",
    )
    yield check_consumer(gd.from_dlpack, name="consumer godlpack.from_dlpack")
    yield check_table(gd.Tensor, name="table of godlpack.Tensor")


FRAMEWORKS: dict[str, Callable[[], Reports]] = {
    f.__name__: f for f in (numpy, torch, jax, tvm_ffi, pyarrow, cuda_core, paddle, godlpack)
}
