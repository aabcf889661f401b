"""Values that are more than numbers, texts and tensors: dicts, records, enums, times, complex and large numbers."""

import collections
import copy
import enum
import importlib
import inspect
import json
import math
import os
import pickle
import re
import subprocess
import sys
from collections import namedtuple
from dataclasses import make_dataclass
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import godlpack as gd
from godlpack import _tool
from helpers.build import ROOT

np = pytest.importorskip("numpy")
pytestmark = pytest.mark.skipif(not _tool.find_go(), reason="needs Go")

SOURCE = (ROOT / "tests" / "testdata" / "values" / "values.go").read_text()
MINUTES = timedelta(minutes=1)


@pytest.fixture(scope="module")
def go(own_cache):
    return gd.load_inline(SOURCE)


ints = st.integers(-(2**63), 2**63 - 1)
floats = st.floats(allow_nan=False)
zones = st.integers(-14 * 60, 14 * 60).map(lambda n: timezone(n * MINUTES))
times = st.datetimes(datetime(2, 1, 1), datetime(9998, 12, 31), timezones=zones)
durations = st.timedeltas(timedelta(days=-100_000), timedelta(days=100_000))
texts = st.text(max_size=10)
json_like = st.recursive(
    st.none() | st.booleans() | ints | floats | texts | st.binary(max_size=5),
    lambda part: st.lists(part, max_size=4) | st.dictionaries(texts, part, max_size=4),
    max_leaves=12,
)
inner = st.fixed_dictionaries(
    {
        "z": st.complex_numbers(allow_nan=False),
        "pair": st.lists(st.integers(-(2**15), 2**15 - 1), min_size=2, max_size=2),
        "maybe": st.none() | st.floats(width=32, allow_nan=False),
    }
)
options = st.fixed_dictionaries(
    {
        "metric": st.sampled_from(["l2", "cosine"]),
        "limit": st.integers(-128, 127),
        "count": st.integers(0, 2**64 - 1),
        "names": st.lists(texts, max_size=3),
        "when": times,
        "wait": durations,
        "extra": st.dictionaries(texts, json_like, max_size=3),
        "inner": inner,
        "levels": st.dictionaries(st.sampled_from([-1, 0, 1]), st.lists(inner, max_size=2), max_size=2),
        "raw": st.binary(max_size=5),
    }
)

ECHOES = {
    "echo_map": st.dictionaries(texts, floats),
    "echo_ints": st.dictionaries(ints, st.lists(st.integers(-(2**31), 2**31 - 1), max_size=3), max_size=5),
    "echo_nested": st.lists(st.lists(floats, max_size=4), max_size=4),
    "echo_array": st.lists(floats, min_size=3, max_size=3),
    "echo_complex": st.complex_numbers(allow_nan=False),
    "echo_time": times,
    "echo_duration": durations,
    "echo_big": st.integers(),
    "echo_any": json_like,
}


@pytest.mark.parametrize("name", ECHOES)
def test_there_and_back(go, name):
    @settings(max_examples=150, deadline=None)
    @given(ECHOES[name])
    def check(x):
        y = getattr(go, name)(x)
        assert y == x
        assert type(y) is type(x)

    check()


def as_record(go, o):
    def inner(i):
        return go.Inner(**i)

    levels = {go.Level(k): [inner(i) for i in v] for k, v in o["levels"].items()}
    return go.Options(**{**o, "metric": go.Metric(o["metric"]), "inner": inner(o["inner"]), "levels": levels})


def test_records(go):
    """A record may be a dict, the record itself, or an object with its attributes; it comes back as the record."""

    @settings(max_examples=100, deadline=None)
    @given(options)
    def check(o):
        want = as_record(go, o)
        got = go.echo_options(o)
        assert got == want
        assert type(got) is go.Options
        assert type(got.inner) is go.Inner
        assert type(got.metric) is go.Metric
        assert go.echo_options(got) == want
        assert go.echo_options(SimpleNamespace(**o)) == want
        assert go.echo_options(make_dataclass("Mine", list(o))(**o)) == want
        assert go.echo_many([o, got]) == [want, want]
        assert go.echo_pointer(o) == want

    check()
    assert go.echo_pointer(None) is None
    assert go.echo_many([]) == []


def test_record_class(go):
    assert go.Inner._fields == ("z", "pair", "maybe")
    assert issubclass(go.Inner, tuple)
    assert go.Inner.__module__ == go.two.__module__
    assert {"Inner", "Options", "Metric", "Level"} <= set(go.__all__)
    assert "Celsius" not in go.__all__


def test_enums(go):
    assert issubclass(go.Metric, enum.StrEnum)
    assert issubclass(go.Level, enum.IntEnum)
    assert {m.name: m.value for m in go.Metric} == {"L2": "l2", "COSINE": "cosine"}
    assert {m.name: m.value for m in go.Level} == {"QUIET": -1, "NORMAL": 0, "VERY_LOUD": 1}
    assert go.Metric.__doc__ == "Is how a distance is measured."
    for member in (*go.Metric, *go.Level):
        echo = go.echo_metric if isinstance(member, str) else go.echo_level
        assert echo(member) is member
        assert echo(member.value) is member
    assert go.next(go.Level.VERY_LOUD) == 2  # Go's type has more values than constants
    assert type(go.echo_celsius(3)) is int


def test_several_results(go):
    x = np.arange(3, dtype="f4")
    y, m, n = go.two(x, {"a": 1})
    assert y is x
    assert (m, n) == ({"a": 1}, 1)
    out = np.zeros(3, "f4")
    assert go.two(x, {}, out=out)[0] is out
    assert out.tolist() == [0, 1, 2]


def test_times(go):
    east = timezone(timedelta(hours=5, minutes=30))
    assert go.describe(datetime(2026, 11, 22, 1, 2, 3, 4, tzinfo=east), timedelta(seconds=1.5)) == (
        "2026-11-22T01:02:03.000004+05:30 1.5s"
    )
    got = go.echo_time(datetime(2026, 1, 1, tzinfo=east))
    assert got.utcoffset() == timedelta(hours=5, minutes=30)
    naive = datetime(2026, 6, 1, 12)  # local time, as for datetime.timestamp()
    assert go.echo_time(naive) == naive.astimezone()
    assert go.echo_time(datetime(1, 1, 1, tzinfo=UTC)) == datetime(1, 1, 1, tzinfo=UTC)


def test_values_of_numpy(go):
    assert go.echo_nested(np.arange(4.0).reshape(2, 2)) == [[0, 1], [2, 3]]
    assert go.echo_nested(np.arange(4.0).reshape(2, 2).T) == [[0, 2], [1, 3]]
    assert go.echo_array(np.array([1, 2, 3], "i1")) == [1.0, 2.0, 3.0]
    assert go.echo_map({"a": np.float32(0.5), "b": np.int64(2)}) == {"a": 0.5, "b": 2.0}
    assert go.echo_complex(np.complex64(1 + 2j)) == 1 + 2j
    assert go.echo_any({"x": np.arange(2), "y": np.float64(1.5)}) == {"x": [0, 1], "y": 1.5}


def test_any(go):
    got = go.typed()
    assert math.isnan(got.pop("nan"))
    assert got == {"ints": [1, 2], "map": {"a": 1.5}, "metric": "l2", "uint8": 3, "bytes": b"b", "nil": None}
    assert go.echo_any(("list", "dict")) == ["list", "dict"]
    assert go.echo_any({"dict": ["list"]}) == {"dict": ["list"]}


@pytest.mark.parametrize(
    ("what", "error", "text"),
    [
        ("channel", TypeError, "want a value that JSON can say, got a chan int"),
        ("itself", ValueError, "within each other"),
        ("keys", TypeError, "want a value that JSON can say, got a map"),
        ("error", RuntimeError, "asked for"),
    ],
)
def test_results_that_have_no_tree(go, what, error, text):
    with pytest.raises(error, match=text):
        go.bad(what)


BASE = {
    "metric": "l2", "limit": 1, "count": 1, "names": [], "when": datetime(2026, 1, 1, tzinfo=UTC), "wait": timedelta(),
    "extra": {}, "inner": {"z": 0, "pair": [1, 2], "maybe": None}, "levels": {}, "raw": b"",
}  # fmt: skip
Other = namedtuple("Other", ["z", "pair"])
WRONG = [
    ("echo_options", {**BASE, "metric": "l3"}, ValueError, r"argument 'o': metric: want Metric, one of 'l2', 'cosine', got 'l3'"),
    ("echo_options", {**BASE, "limit": 128}, OverflowError, r"Limit: want int8, got 128"),
    ("echo_options", {**BASE, "limit": 2**70}, OverflowError, r"want|large"),
    ("echo_options", {**BASE, "count": -1}, OverflowError, r"Count: want uint64, got -1"),
    ("echo_options", {**BASE, "names": "abc"}, TypeError, r"names: want a list, got str"),
    ("echo_options", {**BASE, "names": ["a", 3]}, TypeError, r"names: \[1\]: want a str, got int"),
    ("echo_options", {**BASE, "wait": 3}, TypeError, r"wait: want a timedelta, got int"),
    ("echo_options", {**BASE, "when": "today"}, TypeError, r"when: want a datetime, got str"),
    ("echo_options", {**BASE, "other": 3}, ValueError, r"got the unknown field 'other'"),
    ("echo_options", {k: v for k, v in BASE.items() if k != "raw"}, ValueError, r"got no field 'raw'"),
    ("echo_options", {**BASE, "inner": Other(0, [1, 2])}, TypeError, r"inner: want Inner\(z, pair, maybe\), a dict or an object"),
    ("echo_options", {**BASE, "inner": {**BASE["inner"], "pair": [1]}}, ValueError, r"inner: pair: want 2 elements, got 1"),
    ("echo_options", {**BASE, "inner": {**BASE["inner"], "pair": [1, 2**15]}}, OverflowError, r"Inner: Pair: \[1\]: want int16"),
    ("echo_options", {**BASE, "levels": {7: []}}, ValueError, r"levels: a key: want Level, one of -1, 0, 1, got 7"),
    ("echo_options", {**BASE, "extra": {1: 2}}, TypeError, r"extra: a key: want a str, got int"),
    ("echo_options", {**BASE, "extra": {"a": {1, 2}}}, TypeError, r"extra: \['a'\]: want a value that JSON can say, got set"),
    ("echo_options", None, TypeError, r"argument 'o': want Options\("),
    ("echo_map", {"a": "b"}, TypeError, r"argument 'm': \['a'\]: want a float, got str"),
    ("echo_map", [("a", 1)], TypeError, r"want a dict, got list"),
    ("echo_map", {"\ud800": 1}, UnicodeEncodeError, r"surrogates"),
    ("echo_nested", [1], TypeError, r"\[0\]: want a list, got int"),
    ("echo_array", [1, 2], ValueError, r"want 3 elements, got 2"),
    ("echo_complex", "1", TypeError, r"want a complex number, got str"),
    ("echo_big", 1.5, TypeError, r"want an int, got float"),
    ("echo_metric", 3, TypeError, r"want Metric"),
    ("echo_any", object(), TypeError, r"want a value that JSON can say, got object"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "value", "error", "text"), WRONG)
def test_wrong_values(go, name, value, error, text):
    with pytest.raises(error, match=text):
        getattr(go, name)(value)


def test_a_value_within_itself(go):
    x = []
    x.append(x)
    with pytest.raises((ValueError, RecursionError)):
        go.echo_any(x)


def test_conversions_may_raise_anything(go):
    class Strange(dict):
        def __getitem__(self, name):
            raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        go.echo_options(Strange(BASE))


def test_pickles(go):
    record = go.echo_options(BASE)
    for x in (record, record.inner, go.Metric.L2, go.Level.QUIET):
        again = pickle.loads(pickle.dumps(x))
        assert again == x
        assert type(again) is type(x)
        assert copy.deepcopy(x) == x
    text = pickle.dumps(record)
    done = subprocess.run(
        [sys.executable, "-c", f"import pickle; print(pickle.loads({text!r}).metric.name)"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout == "L2\n"


def test_signature(go):
    assert str(inspect.signature(go.echo_map)) == "(m)"
    assert "m: dict of str to float" in go.echo_map.__doc__


def test_objects(go):
    """Attributes, constructors and methods take and return values, too."""
    now = datetime(2026, 1, 1, tzinfo=UTC)
    store = go.Store(now, {"a": 1})
    assert store.tags == {"a": 1}
    store.tags["a"] = 2  # of a copy
    assert store.tags == {"a": 1}
    store.tags = {"b": 2}
    assert store.tags == {"b": 2}
    assert store.since == now
    assert store.inner is None
    store.inner = {"z": 1j, "pair": (1, 2), "maybe": None}
    assert store.inner == go.Inner(1j, [1, 2], None)
    store.inner = None
    assert store.inner is None
    store.metric = "cosine"
    assert store.metric is go.Metric.COSINE
    with pytest.raises(ValueError, match="want Metric"):
        store.metric = "l3"
    with pytest.raises(TypeError, match=r"tags.*: \['a'\]: want an int, got float"):
        store.tags = {"a": 1.5}
    assert store.merged({"b": 1, "c": 1}, [store, store]) == {"b": 5, "c": 1}
    assert go.Store(since=now, tags={}).merged(other={}, stores=()) == {}


def test_defaults(go):
    assert go.defaults() == "cosine -1 1.5s true"
    assert go.defaults(go.Metric.L2, 1, timedelta(0)) == "l2 1 0s true"
    assert go.defaults(wait=timedelta(hours=2), o=BASE) == "cosine -1 2h0m0s false"
    assert str(inspect.signature(go.defaults)) == (
        "(metric='cosine', level=-1, wait=datetime.timedelta(seconds=1, microseconds=500000), o=None)"
    )


@pytest.mark.parametrize(
    ("declared", "text"),
    [
        ("d time.Duration\n//godlpack:arg d default=3", "want a duration such as 1.5s or 300ms"),
        ("m map[string]int\n//godlpack:arg m default=3", "cannot have a default"),
        ("m map[float64]int", "cannot come from Python"),
        ("c chan int", "cannot come from Python"),
        ("t Recursive", "cannot come from Python"),
    ],
)
def test_mistakes(declared, text):
    parameter, _, directive = declared.partition("\n")
    source = 'package p\n\nimport "time"\n\nvar _ time.Time\n\ntype Recursive []Recursive\n\n//godlpack:export\n'
    with pytest.raises(gd.BuildError, match=text):
        gd.load_inline(f"{source}{directive}\nfunc F({parameter}) {{}}\n".replace("export\n\n", "export\n"))


def test_flags_are_unions(go):
    assert issubclass(go.Perm, enum.IntFlag)
    for value in (go.Perm.READ | go.Perm.WRITE, 3, go.Perm.ALL, go.Perm(0), 0, 5):
        assert go.echo_perm(value) == value
        assert type(go.echo_perm(value)) is go.Perm
    with pytest.raises((ValueError, OverflowError), match="argument 'p'"):
        go.echo_perm(256)
    assert not issubclass(go.Level, enum.Flag)  # whose members have no shifts


def test_members_of_64_bits(go):
    wanted = {"MID": 2**62 + 1, "HUGE": 2**63 + 5, "BIG1": 3}
    assert {m.name: m.value for m in go.Big} == wanted
    for value in go.Big:
        assert go.echo_bigs({value: go.Big.MID}, b=value) == (value, {value: go.Big.MID})
    assert go.echo_bigs({})[0] is go.Big.HUGE
    library = gd.load_module(Path(sys.modules["godlpack._library"].origins[go.echo_bigs].library))
    assert {m.name: m.value for m in library.Big} == wanted


def test_members_of_64_bits_without_a_sidecar(go, tmp_path):
    library = Path(sys.modules["godlpack._library"].origins[go.echo_bigs].library)
    (tmp_path / library.name).write_bytes(library.read_bytes())
    alone = gd.load_module(tmp_path / library.name)
    assert alone.echo_bigs({}) == (2**63 + 5, {})
    assert alone.Big.MID == 2**62 + 1


def test_enums_in_slices_and_behind_pointers(go):
    assert go.echo_levels([go.Level.QUIET, 1]) == [go.Level.QUIET, go.Level.VERY_LOUD]
    assert type(go.echo_levels((0,))[0]) is go.Level
    assert go.echo_level_pointer(1) is go.Level.VERY_LOUD
    assert go.echo_level_pointer(None) is None
    for call in (lambda: go.echo_levels([0, 99]), lambda: go.echo_level_pointer(77)):
        with pytest.raises(ValueError, match="want Level, one of"):
            call()
    with pytest.raises(TypeError, match="want Metric, one of"):
        go.echo_metric(1)


def test_bytes_of_arrays_and_named_types(go):
    assert go.echo_hash(b"abcd") == b"abcd"
    assert go.echo_hash(np.arange(4, dtype=np.uint8)) == bytes(range(4))
    assert go.echo_my_bytes({"a": [1, 2]}) == {"a": [1, 2]}
    with pytest.raises(ValueError, match="argument 'h': want 4 bytes, got 3"):
        go.echo_hash(b"abc")
    for x in (np.arange(4), np.zeros((2, 2), np.uint8), "abcd", 4, [1, 2, 3, 4]):
        with pytest.raises(TypeError, match="argument 'h': want bytes"):
            go.echo_hash(x)


def test_records_take_what_objects_store(go):
    row = go.echo_row({"name": "a", "count": 1, "index": 2})
    assert (row.name, row[1], row[2]) == ("a", 1, 2)
    slots = make_dataclass("Slots", [("name", str), ("count", int), ("index", int)], slots=True, frozen=True)
    other = namedtuple("Tuple", "index other count name")
    for x in (row, slots("a", 1, 2), SimpleNamespace(name="a", count=1, index=2), other(2, None, 1, "a")):
        assert go.echo_row(x) == row

    class Computed:
        name, count, index = "a", 1, 2

    for x in ("abc", [1, 2, 3], ("a", 1, 2), Computed, Computed()):
        with pytest.raises(TypeError, match=r"want Row\(name, count, index\), a dict or an object"):
            go.echo_row(x)


def test_generic_records(go):
    a, b = go.echo_pairs({"a": 1, "b": 2}, {"a": "x", "b": "y"})
    assert (type(a).__name__, type(b).__name__) == ("PairInt", "PairString")
    assert (a.b, b.b) == (2, "y")


def test_small_floats_do_not_overflow(go):
    assert go.echo_float32s({"a": float("inf"), "b": 0.5}) == {"a": float("inf"), "b": 0.5}
    assert go.echo_complex64s([1 + 2j, complex("inf")]) == [1 + 2j, complex("inf")]
    for call in (lambda: go.echo_float32s({"a": 1e300}), lambda: go.echo_complex64s([0, 1e300j])):
        with pytest.raises(OverflowError, match=r"\[(\"a\"|1)\]: want (float32|complex64), got"):
            call()


def test_numbers_of_all_frameworks_in_trees(go):
    for x in (np.float32(0.5), Decimal("0.5"), Fraction(1, 2), np.array(0.5), True, np.True_, 3):
        assert go.echo_map({"a": x}) == {"a": float(x)}
    for x in (True, np.int8(1), np.array(1)):
        assert go.echo_ints({1: [x]}) == {1: [1]}
    for x in (1.0, "1", None):
        with pytest.raises(TypeError, match=r"argument 'm': \[1\]: \[0\]: want an int"):
            go.echo_ints({1: [x]})
    assert go.echo_nested(np.arange(6).reshape(2, 3).T) == [[0, 3], [1, 4], [2, 5]]
    with pytest.raises(TypeError, match="want a list, or an array with an axis"):
        go.echo_nested([np.array(1.0)])


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "?"])
def test_arrays_as_lists_of_numbers(go, dtype):
    wide = np.arange(12).astype(dtype)
    for x in (wide[:5], wide[::2], wide[::-3], wide[:0], wide.reshape(3, 4).T[1]):
        given = [x if x.dtype.kind in "iu" else [], x if x.dtype.kind in "iu" else [], *2 * [x if dtype != "?" else []]]
        given.append(x if dtype == "?" else [])
        got = go.echo_numbers(*given)
        assert got == tuple(np.asarray(part).tolist() for part in given)
    with pytest.raises(TypeError, match="argument 'd': want list of float, got a tensor"):
        go.echo_numbers([], [], [], np.ones((2, 2), dtype), [])


def test_arrays_out_of_range(go):
    for i, u in ((np.array([1, 128]), []), (np.array([0, -129], "i2"), []), (np.array([2**63], "u8"), [])):
        with pytest.raises(ValueError, match=r"argument 'i': element [01]: want int8, got"):
            go.echo_numbers(i, u, [], [], [])
    with pytest.raises(ValueError, match="argument 'u': element 1: want uint64, got -1"):
        go.echo_numbers([], np.array([1, -1]), [], [], [])
    assert go.echo_numbers([], np.array([2**64 - 1], "u8"), [], [], [])[1] == [2**64 - 1]
    with pytest.raises(ValueError, match="that share memory"):
        go.echo_numbers([], [], [], np.broadcast_to(1.0, (2**40,)), [])


def test_arrays_of_torch_as_lists(go):
    torch = pytest.importorskip("torch")
    x = torch.arange(6, dtype=torch.bfloat16)
    assert go.echo_numbers(torch.arange(3), [], x[::2], x, x > 2)[2:] == ([0, 2, 4], list(range(6)), (x > 2).tolist())


def test_times_of_others(go):
    at = datetime(2020, 1, 2, 3, 4, 5, 678901, UTC)
    moments = np.array(["2020-01-02T03:04:05.678901", "1066-10-14"], "M8[us]")
    assert go.echo_times(moments) == [at, datetime(1066, 10, 14, tzinfo=UTC)]
    assert go.echo_time(moments[0]) == at
    assert go.echo_times(moments[:1].astype("M8[ns]")) == [at]
    assert go.echo_durations(np.array([1500, -7], "m8[ms]")) == [timedelta(seconds=1.5), timedelta(milliseconds=-7)]
    with pytest.raises(TypeError, match=r"\[0\]: want a datetime, got NoneType"):
        go.echo_times(np.array(["NaT"], "M8[s]"))

    class Mine(timedelta):  # as pendulum's
        days = property(lambda self: 7)
        seconds = property(lambda self: -7)

    assert go.echo_duration(Mine(days=-1, hours=5)) == timedelta(days=-1, hours=5)


@pytest.mark.parametrize(
    "t",
    [
        datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=5))),
        datetime(1, 1, 1, tzinfo=UTC),
        datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=timezone(timedelta(hours=-5))),
        datetime(1900, 1, 1, tzinfo=timezone(timedelta(seconds=1172))),
    ],
)
def test_times_at_the_ends(go, t):
    assert go.echo_time(t) == t
    assert go.echo_time(t).utcoffset() == t.utcoffset()


@pytest.mark.parametrize(
    ("n", "wanted"), [(1999, 1), (-1999, -1), (2500, 2), (-1, 0), (9007199254740993000, 9007199254740993)]
)
def test_nanoseconds_are_cut_off(go, n, wanted):
    class Exact(timedelta):
        nanoseconds = 0

    Exact.nanoseconds = n - n // 1000 * 1000
    assert go.echo_duration(Exact(microseconds=n // 1000)) == timedelta(microseconds=wanted)


def test_out_of_pythons_range(go):
    assert go.year(9999)[0].year == 9999
    for year in (10_000, 0, -5, 10**7):
        with pytest.raises(OverflowError, match=r"year\(\): result: want a time of the years 1 to 9999"):
            go.year(year)
    with pytest.raises(OverflowError, match="argument 'd': want a timedelta of at most 106751 days"):
        go.echo_duration(timedelta.max)


def test_values_that_grow(go):
    assert go.shared(3) == [[[None] * 2] * 2] * 2
    with pytest.raises(ValueError, match=r"want at most 60 lists .* 4194304 values"):
        go.shared(50)
    x = None
    for _ in range(50):
        x = [x, x]
    with pytest.raises(ValueError, match="want at most 4194304 values"):
        go.echo_any(x)
    many = [{"a": i, "b": "c"} for i in range(300_000)]
    assert len(go.echo_any(many)) == len(many)
    assert len(go.echo_nested([[1.0] * 1000] * 1100)) == 1100


def test_other_values_of_any(go):
    assert go.raw() == {"raw": b"{}", "pointer": [1], "none": None}
    assert go.echo_any([bytearray(b"a"), memoryview(b"b"), (1,)]) == [b"a", b"b", [1]]
    with pytest.raises(TypeError, match="want a value that JSON can say, got longdouble"):
        go.echo_any(np.longdouble(1))


def test_errors_of_the_callers_code_pass(go):
    class Broken(dict):
        def items(self):
            return json.loads("{")

    class Loud(str):
        def __repr__(self):
            raise AssertionError("nobody asked")

    with pytest.raises(json.JSONDecodeError):
        go.echo_map(Broken())
    assert go.echo_map({Loud("a"): 1}) == {"a": 1}
    with pytest.raises(TypeError) as caught:
        go.echo_map({"k" * 10**6: "x"})
    assert len(str(caught.value)) < 200


def test_classes_pickle(go):
    for cls in (go.Row, go.Perm, go.Metric, go.Options):
        assert pickle.loads(pickle.dumps(cls)) is cls
    sub = type("Sub", (go.Row,), {"__module__": __name__})
    globals()["Sub"] = sub
    again = pickle.loads(pickle.dumps(sub("a", 1, 2)))
    assert type(again) is sub
    assert type(copy.copy(again)) is sub


def test_pickles_of_a_package(go, tmp_path, monkeypatch):
    """By reference, as functions: they name no file."""
    library = Path(sys.modules["godlpack._library"].origins[go.echo_bigs].library)
    for name in ("one", "two"):
        (tmp_path / name / "mine").mkdir(parents=True)
        for suffix in (".so", ".json"):
            (tmp_path / name / "mine" / f"_mine{suffix}").write_bytes(library.with_suffix(suffix).read_bytes())
        (tmp_path / name / "mine" / "__init__.py").write_text(
            "import godlpack, pathlib\n"
            "_module = godlpack.load_module(pathlib.Path(__file__).with_name('_mine.so'), package=__name__)\n"
            "globals().update({name: getattr(_module, name) for name in dir(_module) if name[0] != '_'})\n"
        )
    code = "import mine, pickle, sys; row = mine.echo_row({'name': 'a', 'count': 1, 'index': 2}); "
    code += "sys.stdout.buffer.write(pickle.dumps([row, mine.Perm.READ, mine.echo_row, mine.Row]))"
    data = subprocess.run([sys.executable, "-c", code], cwd=tmp_path / "one", stdout=subprocess.PIPE, check=True).stdout
    assert str(tmp_path).encode() not in data
    code = f"import pickle; row, perm, f, cls = pickle.loads({data!r}); print(f(row), perm.name, type(row) is cls)"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path / "two", stdout=subprocess.PIPE, check=True)
    assert done.stdout == b"Row(name='a', count=1, index=2) READ True\n"


def test_stubs_are_valid(go):
    pytest.importorskip("mypy")
    library = Path(sys.modules["godlpack._library"].origins[go.echo_row].library)
    command = [sys.executable, "-P", "-m", "mypy", "--strict", "--cache-dir", os.devnull, library.with_suffix(".pyi")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ('type M string\nconst (\n\tML2 M = "a"\n\tL2 M = "b"\n)', "ML2 and L2 would both be L2 in Python"),
        ("type M float64\nconst A M = 1", None),
        ("type M bool\nconst A M = true", None),
        ("type M struct{ ID, Id int }", "M has two fields of the name id in Python"),
        ("type M struct{ A chan int }", "M.A is of type chan int"),
        ("type M struct{ A struct{ B []func() } }", "a struct needs a name"),
        ("type M []M", "inlined.M contains itself"),
        ("type M map[string]*M", "inlined.M contains itself"),
        ("type N struct{ M *M }\ntype M struct{ N []N }", "inlined.M contains itself"),
        ("type M = map[float64]int", "a map's keys must be strings, integers, bools or enums, and these are float64"),
        ("type None struct{ A int }\ntype M = None", '"None" cannot be the name of a Python class'),
        ("type Sequence struct{ A int }\ntype M = Sequence", '"Sequence" cannot be the name of a Python class'),
        ("type M struct{ A dlpack.DType }", "M.A is of type dlpack.DType"),
    ],
)
def test_refused_types(own_cache, source, text):
    package = 'package inlined\nimport "godlpack/dlpack"\nvar _ dlpack.DType\n'
    mark = "//godlpack:export\n" if source.startswith("type M") and "const" in source else ""
    code = f"{package}{mark}{source}\n//godlpack:export\nfunc Take(m M) int {{ return 0 }}\n"
    if text is None:
        gd.load_inline(code, name="inlined")
        return
    with pytest.raises(gd.BuildError, match=re.escape(text)):
        gd.load_inline(code, name="inlined")


def test_an_enum_that_nothing_uses(own_cache, tmp_path):
    (tmp_path / "go.mod").write_text("module unused\n\ngo 1.24\n")
    code = "package unused\n//godlpack:export\ntype M int\nconst A M = 1\n//godlpack:export\nfunc F() {}\n"
    (tmp_path / "unused.go").write_text(code)
    done = subprocess.run([_tool.TOOL, "build", tmp_path], capture_output=True, text=True, check=False)
    assert "warning: no exported function takes or returns a M" in done.stderr


def test_references_of_wrong_values(go):
    given = {"a": 1.5, "b": "x" * 30}
    parts = [given, *given.values()]
    before = [sys.getrefcount(x) for x in parts]
    for _ in range(50):
        with pytest.raises(TypeError):
            go.echo_map(given)
    assert [sys.getrefcount(x) for x in parts] == before


def test_arrays_of_texts(go):
    words, wanted = ["a", "é\0", "", "b" * 50, "a"], {"a": 2, "é\0": 1, "": 1, "b" * 50: 1}
    arrays = [np.array(words, object), np.array(words, object)[::-1], collections.deque(words)]
    if hasattr(np.dtypes, "StringDType"):
        arrays.append(np.array(words, np.dtypes.StringDType()))
    for name, make in (("pyarrow", lambda pa: pa.array(words)), ("pyarrow", lambda pa: pa.chunked_array([words]))):
        try:
            arrays.append(make(importlib.import_module(name)))
        except ImportError:
            continue
    for array in arrays:
        assert go.counts(array) == wanted
        assert sorted(go.echo_options({**BASE, "names": array}).names) == sorted(words)
    assert go.counts(np.array(["x", "yz"])) == {"x": 1, "yz": 1}
    assert go.counts(np.array([], object)) == {}
    for wrong in (np.array([1, 2]), np.array(["a", None], object), np.array("a", object), np.array([["a"]], object)):
        with pytest.raises((TypeError, BufferError), match=r"counts\(\): argument 'words'"):
            go.counts(wrong)


@pytest.mark.parametrize("rows", [[], [[]], [[], [1.5], [], [2, 3], []], [[i] * (i % 7) for i in range(1000)]], ids=len)
@pytest.mark.parametrize("library, name", [("numpy", "ndarray"), ("torch", "Tensor"), ("jax", "Array")])
def test_rows_of_different_lengths(go, library, name, rows):
    """As Arrow's own reader of (values, offsets) sees them."""
    kind = getattr(pytest.importorskip(library), name)
    pa = pytest.importorskip("pyarrow")
    values, offsets = go.ragged(rows, like=kind)
    assert isinstance(values, kind)
    assert isinstance(offsets, kind)
    values, offsets = np.from_dlpack(values), np.from_dlpack(offsets).astype("int64")
    assert pa.LargeListArray.from_arrays(offsets, values).to_pylist() == rows
    assert (values.dtype, offsets.shape) == ("float32", (len(rows) + 1,))
