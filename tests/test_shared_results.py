"""Results whose memory is Go's own: no copy, and it lives as long as the tensor."""

import gc
import subprocess
import sys
import time

import pytest

import godlpack as gd
from godlpack import _tool

np = pytest.importorskip("numpy")
pytestmark = pytest.mark.skipif(not _tool.find_go(), reason="needs Go")

SOURCE = """
package shared

import (
	"runtime"
	"sync/atomic"

	"godlpack/kernel"
	"godlpack/tensor"
)

var freed atomic.Int64

// Table is a matrix that Go keeps.
//
//godlpack:export
type Table struct {
	data   []float32
	width  int64
	record *block
}

type block struct{ bytes []uint8 }

//godlpack:new
func NewTable(height, width int) *Table {
	t := &Table{data: make([]float32, height*width), width: int64(width), record: &block{make([]uint8, 16)}}
	runtime.AddCleanup(t.record, func(int) { freed.Add(1) }, 0)
	return t
}

func (t *Table) view() (tensor.Mut[float32], error) {
	return tensor.FromSlice(t.data, int64(len(t.data))/max(t.width, 1), t.width)
}

// Rows returns the memory itself.
//
//godlpack:export
//godlpack:result shape=[n,m] shared
func (t *Table) Rows() (tensor.Mut[float32], error) { return t.view() }

//godlpack:export
//godlpack:result shared
func (t *Table) Look() (tensor.Of[float32], error) {
	v, err := t.view()
	return v.Of, err
}

//godlpack:export
//godlpack:result shared
func (t *Table) Every(step int64) (tensor.Of[float32], error) {
	n := (int64(len(t.data)) + step - 1) / step
	v, err := tensor.FromStrided(t.data, 0, []int64{n}, []int64{step})
	return v.Of, err
}

//godlpack:export
//godlpack:result shared
func (t *Table) Scalar() (tensor.Of[float32], error) {
	v, err := tensor.FromSlice(t.data[:1])
	return v.Of, err
}

// Held returns memory that the tensor's owner frees.
//
//godlpack:export
//godlpack:result shared
func (t *Table) Held() (tensor.Mut[uint8], error) {
	v, err := tensor.FromSlice(t.record.bytes, 16)
	return v.Hold(t.record), err
}

//godlpack:export
func (t *Table) Sum() (sum float64) {
	for _, v := range t.data {
		sum += float64(v)
	}
	return sum
}

//godlpack:export
func (t *Table) Fill(v float32) {
	for i := range t.data {
		t.data[i] = v
	}
}

// Forget drops Go's own references.
//
//godlpack:export
func (t *Table) Forget() { t.data, t.record = nil, nil }

//godlpack:export
func Freed() int64 {
	runtime.GC()
	runtime.GC()
	return freed.Load()
}

// Part returns memory of the caller, which is copied nevertheless.
//
//godlpack:export
//godlpack:result shared
func Part(x tensor.Of[float32], y tensor.Mut[float32], data []byte, which int) (tensor.Of[float32], error) {
	switch which {
	case 0:
		return x.Row(1), nil
	case 1:
		return y.Row(0).Of, nil
	}
	return x, nil
}

//godlpack:export
//godlpack:result shared
func Bytes(data []byte) (tensor.Of[uint8], error) {
	v, err := tensor.FromSlice(data, int64(len(data)))
	return v.Of, err
}

//godlpack:export
//godlpack:result shared
func Output(c *kernel.Ctx) tensor.Of[float32] {
	y := kernel.Empty[float32](c, 2, 3)
	for p := range y.Pointers() {
		*p = 5
	}
	return y.Row(1).Of
}
"""


@pytest.fixture(scope="module")
def go(own_cache):
    return gd.load_inline(SOURCE, name="shared")


def address(x):
    return x.__array_interface__["data"][0]


def eventually(condition):
    end = time.monotonic() + 10
    while not condition() and time.monotonic() < end:
        gc.collect()
        time.sleep(0.01)
    return condition()


def test_the_memory_is_gos(go):
    table = go.Table(3, 4)
    rows = table.rows(like=np.ndarray)
    assert rows.shape == (3, 4)
    assert rows.flags.writeable
    rows[1] = 2
    assert table.sum() == 8
    table.fill(3)
    assert (rows == 3).all()
    again = table.rows(like=np.ndarray)
    assert again is not rows
    assert address(again) == address(rows)
    assert "memory of Go" in go.Table.rows.__doc__


def test_read_only(go):
    table = go.Table(3, 4)
    look = table.look(like=np.ndarray)
    assert not look.flags.writeable
    assert address(look) == address(table.rows(like=np.ndarray))
    table.fill(1)
    assert look.sum() == 12


def test_layouts(go):
    table = go.Table(3, 4)
    table.rows(like=np.ndarray).ravel()[:] = range(12)
    assert table.every(5, like=np.ndarray).tolist() == [0, 5, 10]
    assert table.every(5).strides == (5,)
    assert table.scalar(like=np.ndarray).shape == ()
    assert go.Table(0, 4).rows(like=np.ndarray).shape == (0, 4)


@pytest.mark.parametrize("name", ["godlpack", "numpy", "torch", "jax"])
def test_frameworks(go, name):
    module = pytest.importorskip(name)
    like = {"godlpack": "Tensor", "numpy": "ndarray", "torch": "Tensor", "jax": "Array"}[name]
    table = go.Table(2, 3)
    table.fill(7)
    try:
        rows = table.rows(like=getattr(module, like))
    except BufferError as error:
        assert name == "jax"
        assert "aligned" in str(error)  # Go aligns its memory to less than jax wants
        return
    assert isinstance(rows, getattr(module, like))
    assert gd.from_dlpack(rows).tolist() == [[7] * 3] * 2
    if name == "torch":
        rows[0] = 1
        assert table.sum() == 24


def test_memory_outlives_the_object(go):
    table = go.Table(1000, 1000)
    rows = table.rows(like=np.ndarray)
    rows[:] = 5
    table.forget()
    del table
    for _ in range(3):
        go.freed()
        assert (go.Table(1000, 1000).rows(like=np.ndarray) == 0).all()
    assert (rows == 5).all()


def test_owners_are_freed_with_the_tensor(go):
    before = go.freed()
    table = go.Table(2, 2)
    held = table.held(like=np.ndarray)
    part = held[3:5]
    table.forget()
    del table, held
    gc.collect()
    time.sleep(0.1)
    assert go.freed() == before
    part[:] = 1
    del part
    assert eventually(lambda: go.freed() == before + 1)


def test_callers_memory_is_copied(go):
    x, y = np.arange(6, dtype="f4").reshape(2, 3), np.ones((2, 3), "f4")
    for which, wanted in ((0, [3, 4, 5]), (1, [1, 1, 1])):
        part = go.part(x, y, b"", which)
        assert part.tolist() == wanted
        assert not np.shares_memory(part, x)
        assert not np.shares_memory(part, y)
    assert go.part(x, y, b"", 2) is x
    data = bytes(range(100)) * 2
    result = go.bytes(data, like=np.ndarray)
    assert address(result) != address(np.frombuffer(data, "u1"))
    del data
    assert result.tolist() == list(range(100)) * 2
    output = go.output(like=np.ndarray)
    go.output(like=np.ndarray)[:] = 9
    assert output.tolist() == [5, 5, 5]


def test_out(go):
    table, out = go.Table(2, 2), np.empty((2, 2), "f4")
    table.fill(4)
    assert table.rows(out=out) is out
    assert (out == 4).all()


def test_flat_memory(go):
    resident = lambda: int(open("/proc/self/statm").read().split()[1])  # noqa: E731, PTH123, SIM115
    table = go.Table(256, 256)
    for _ in range(2000):
        table.rows()
    before = resident()
    for _ in range(50_000):
        table.rows(like=np.ndarray)
    assert (resident() - before) * 4096 < 30e6


def test_fork(go):
    code = f"""
import gc, os
import godlpack as gd
import numpy as np
go = gd.load_inline({SOURCE!r}, name="shared")
table = go.Table(2, 2)
rows = table.rows(like=np.ndarray)
rows[:] = 3
pid = os.fork()
if pid == 0:
    ok = (rows == 3).all()
    del rows
    fresh = go.Table(2, 2).rows(like=np.ndarray)
    fresh[:] = 4
    gc.collect()
    os._exit(0 if ok and (fresh == 4).all() else 1)
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
assert table.sum() == 12
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def test_at_exit(go):
    code = f"import godlpack as gd, numpy as np\nt = gd.load_inline({SOURCE!r}, name='shared').Table(4, 4)\n"
    code += "rows = t.rows(like=np.ndarray); rows[:] = 1; kept = [rows]; kept.append(kept)\n"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def test_what_callbacks_return_is_copied(own_cache):
    code = """package callbacks
import (
	"godlpack/dlpack"
	"godlpack/kernel"
	"godlpack/tensor"
)
//godlpack:export
//godlpack:result shared like=numpy
func Ask(f kernel.Callable) (tensor.Of[float64], error) {
	r, err := f.Call()
	if err != nil {
		return tensor.Of[float64]{}, err
	}
	if list, ok := r.([]any); ok {
		r = list[0]
	}
	return tensor.View[float64](r.(*dlpack.Tensor))
}
"""
    ask = gd.load_inline(code, name="callbacks").ask
    for wrap in (lambda x: x, lambda x: [x]):
        result = ask(lambda wrap=wrap: wrap(np.full(100_000, 1.0)))
        junk = [np.full(100_000, 7.0) for _ in range(20)]
        assert (result == 1).all()
        assert len(junk) == 20
    kept = np.full(10, 1.0)
    assert not np.shares_memory(ask(lambda: kept[2:]), kept)
