"""Attributes that are numbers in a Go struct: the extension reads them where they are, without a call."""

import gc
import math
import subprocess
import sys
import threading

import pytest

import godlpack as gd
from godlpack import _library, _tool

pytestmark = pytest.mark.skipif(not _tool.find_go(), reason="needs Go")

SOURCE = """
package attributes

import "time"

type Count uint16

// Row has a field of each kind.
//
//godlpack:export
type Row struct {
	hidden [3]byte
	Flag   bool    //godlpack:export
	I8     int8    //godlpack:export
	I16    int16   //godlpack:export
	I32    int32   //godlpack:export
	I64    int64   //godlpack:export
	I      int     //godlpack:export
	U8     uint8   //godlpack:export
	U16    Count   //godlpack:export
	U32    uint32  //godlpack:export
	U64    uint64  //godlpack:export
	U      uint    //godlpack:export
	F32    float32 //godlpack:export
	F64    float64 //godlpack:export
	Text   string  //godlpack:export
	Wait   time.Duration //godlpack:export
	Maybe  *int    //godlpack:export
	Next   *Row    //godlpack:export
}

// Other is another class, whose memory is another.
//
//godlpack:export
type Other struct {
	Name string //godlpack:export
	X    int    //godlpack:export
}

//godlpack:new
func NewRow() *Row { return &Row{} }

//godlpack:new
func NewOther() *Other { return &Other{Name: "abc"} }

var rows [3]Row

// At returns an object in the middle of an array.
//
//godlpack:export
func At(i int) *Row { return &rows[i] }

//godlpack:export
func (r *Row) Count(n int) {
	for range n {
		r.I64++
	}
}
"""
INTS = {"i8": 8, "i16": 16, "i32": 32, "i64": 64, "i": 64}
UINTS = {"u8": 8, "u16": 16, "u32": 32, "u64": 64, "u": 64}
VALUES = [
    *((name, value) for name, n in INTS.items() for value in (-(2 ** (n - 1)), -1, 0, 1, 2 ** (n - 1) - 1)),
    *((name, value) for name, n in UINTS.items() for value in (0, 1, 2 ** (n - 1), 2**n - 1)),
    *(("f32", value) for value in (0.0, -0.5, math.inf, 2.0**-149)),
    *(("f64", value) for value in (0.1, -math.inf, 5e-324)),
    *(("flag", value) for value in (True, False)),
    ("text", "é\0"),
    ("maybe", 3),
    ("maybe", None),
]


@pytest.fixture(scope="module")
def go(own_cache):
    return gd.load_inline(SOURCE, name="attributes")


@pytest.mark.parametrize(("name", "value"), VALUES)
def test_values(go, name, value):
    for row in (go.Row(), go.at(1)):
        before = {other: getattr(row, other) for other, _ in VALUES if other != name}
        setattr(row, name, value)
        for _ in range(4):  # the first read is a call
            assert getattr(row, name) == value
            assert type(getattr(row, name)) is type(value)
        assert {other: getattr(row, other) for other in before} == before


def test_which_attributes_have_a_place(go):
    declared = {
        d["name"]: d for f, d in _library.declarations.items() if d.get("class") == "Row" and d["role"] == "get"
    }
    placed = {name for name, d in declared.items() if d.get("place")}
    assert placed == {*INTS, *UINTS, "f32", "f64", "flag"}


def test_go_changes_them(go):
    row = go.Row()
    assert [row.i64 for _ in range(3)] == [0, 0, 0]
    row.count(5)
    assert row.i64 == 5
    row.next = row
    row.next.i64 = 7
    assert row.i64 == 7
    assert go.at(2) is go.at(2)


def test_nan(go):
    row = go.Row()
    row.f64 = row.f32 = math.nan
    assert [math.isnan(x) for _ in range(3) for x in (row.f64, row.f32)] == [True] * 6


def test_subclasses(go):
    class Mine(go.Row):
        def __init__(self):
            super().__init__()
            self.i = 3

        @property
        def u(self):
            return super().u + 1

    mine = Mine()
    assert [mine.i for _ in range(3)] == [3] * 3
    assert [mine.u for _ in range(3)] == [1] * 3


def test_refused(go):
    get = go.Row.i64.fget
    row, other = go.Row(), go.Other()
    for x in (other, 3, None, go.Row):
        for _ in range(3):
            with pytest.raises(TypeError, match=r"Row\.i64\(\)"):
                get(x)
    for _ in range(3):
        with pytest.raises(RuntimeError, match="has no Go object yet"):
            go.Row.__new__(go.Row).i64  # noqa: B018
        with pytest.raises(TypeError):
            get()
        with pytest.raises(TypeError):
            get(row, row)
        assert get(row) == get(self=row) == 0
        with pytest.raises(AttributeError):
            del row.i64


def test_forked(go):
    code = f"""
import os
import godlpack as gd
go = gd.load_inline({SOURCE!r}, name="attributes")
row = go.Row()
assert [row.i for _ in range(3)] == [0] * 3
pid = os.fork()
if pid == 0:
    said = []
    for _ in range(3):
        try:
            said.append(str(row.i))
        except RuntimeError as error:
            said.append("before this process was forked" in str(error))
    fresh = go.Row()
    os._exit(0 if said == [True] * 3 and [fresh.i for _ in range(3)] == [0] * 3 else 1)
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
assert row.i == 0
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def test_while_go_writes(go):
    row = go.Row()
    done = threading.Event()

    def write():
        for _ in range(200):
            row.count(10_000)
        done.set()

    thread = threading.Thread(target=write)
    thread.start()
    last = 0
    while not done.is_set():
        assert row.i64 >= last
        last = row.i64
    thread.join()
    assert row.i64 == 2_000_000


def test_memory_stays_while_python_has_the_object(go):
    rows = [go.Row() for _ in range(3000)]
    for i, row in enumerate(rows):
        row.i = i
    assert [[row.i for _ in range(2)] for row in rows] == [[i, i] for i in range(3000)]
    del rows[::2]
    gc.collect()
    for _ in range(3000):
        go.Row()
    assert [row.i for row in rows] == list(range(1, 3000, 2))
