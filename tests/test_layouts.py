"""Every layout in every dtype, through every kind of argument: as in NumPy, or a documented exception."""

import re
from pathlib import Path

import pytest

import godlpack as gd
from godlpack import _tool

np = pytest.importorskip("numpy")
torch = pytest.importorskip("torch")

pytestmark = pytest.mark.skipif(not _tool.find_go(), reason="needs Go")

ROOT = Path(__file__).parents[1]

SOURCE = """\
package layouts

import (
	"godlpack/kernel"
	"godlpack/tensor"
)

type plain interface {
	tensor.Integer | tensor.Float | complex64 | complex128 | tensor.Bool8 | tensor.Float16 | tensor.BFloat16
}

//godlpack:export
func All[T plain](ctx *kernel.Ctx, x tensor.Of[T]) tensor.Mut[T] {
	y := kernel.Empty[T](ctx, x.Shape()...)
	to := y.Slice()
	for i, v := range x.All() {
		to[i] = v
	}
	return y
}

//godlpack:export
func Rows[T plain](ctx *kernel.Ctx, x tensor.Of[T]) tensor.Mut[T] {
	y := kernel.Empty[T](ctx, x.Shape()...)
	for i := range x.Rows() {
		from, to := x.Row(i), y.Row(i)
		for k := range from.Len() {
			to.Set(from.At(k), k)
		}
	}
	return y
}

//godlpack:export
func Bare[T plain](ctx *kernel.Ctx, x tensor.Of[T]) tensor.Mut[T] {
	y := kernel.Empty[T](ctx, x.Shape()...)
	copy(y.Slice(), x.Slice())
	return y
}

//godlpack:export
//godlpack:arg x order=C
func Compact[T plain](ctx *kernel.Ctx, x tensor.Of[T]) tensor.Mut[T] { return Bare(ctx, x) }

//godlpack:export
//godlpack:arg x order=F
func Columns[T plain](ctx *kernel.Ctx, x tensor.Of[T]) tensor.Mut[T] { return All(ctx, x) }

//godlpack:export
func BareColumns[T plain](ctx *kernel.Ctx, x tensor.Of[T]) tensor.Mut[T] {
	y := kernel.Empty[T](ctx, int64(x.Len()))
	copy(y.Slice(), x.SliceF())
	return y
}

//godlpack:export
//godlpack:arg x order=F
func FlatColumns[T plain](ctx *kernel.Ctx, x tensor.Of[T]) tensor.Mut[T] { return BareColumns(ctx, x) }

//godlpack:export
//godlpack:arg from order=C
func PasteColumns[T plain](to tensor.Mut[T], from tensor.Of[T]) { copy(to.SliceF(), from.Slice()) }

//godlpack:export
//godlpack:arg x order=C convert
func Converted(ctx *kernel.Ctx, x tensor.Of[float64]) tensor.Mut[float64] { return Bare(ctx, x) }

//godlpack:export
//godlpack:arg x order=F convert
func ConvertedToColumns(ctx *kernel.Ctx, x tensor.Of[float32]) tensor.Mut[float32] { return All(ctx, x) }

//godlpack:export
//godlpack:arg x shape=[n,...]
//godlpack:arg y shape=[n,...]
func Second[T plain](ctx *kernel.Ctx, x, y tensor.Of[T]) tensor.Mut[T] { return All(ctx, y) }

//godlpack:export
func Listed[T plain](ctx *kernel.Ctx, first tensor.Of[T], x []tensor.Of[T]) []tensor.Mut[T] {
	var y []tensor.Mut[T]
	for _, v := range x {
		y = append(y, All(ctx, v))
	}
	return y
}

//godlpack:export
func Row[T plain](x tensor.Of[T], i int) tensor.Of[T] { return x.Row(i) }

//godlpack:export
func Echo[T plain](x tensor.Of[T]) tensor.Of[T] { return x }

//godlpack:export
func Twice[T plain](ctx *kernel.Ctx, x tensor.Of[T]) (tensor.Mut[T], tensor.Mut[T]) { return All(ctx, x), All(ctx, x) }

//godlpack:export
func EchoTwice[T plain](x tensor.Of[T]) (tensor.Of[T], tensor.Of[T]) { return x, x }

//godlpack:export
//godlpack:arg x device=any
func Where[T plain](x tensor.DeviceOf[T]) (int, int) { return x.Len(), x.NDim() }

//godlpack:export
//godlpack:arg from order=C
func Paste[T plain](to tensor.Mut[T], from tensor.Of[T]) {
	values, i := from.Slice(), 0
	for p := range to.Pointers() {
		*p = values[i]
		i++
	}
}

//godlpack:export
//godlpack:arg from order=C
func PasteRows[T plain](to tensor.Mut[T], from tensor.Of[T]) {
	for i := range to.Rows() {
		row, values := to.Row(i), from.Row(i).Slice()
		for k, v := range values {
			row.Set(v, k)
		}
	}
}

//godlpack:export
//godlpack:arg from order=C
func PasteBare[T plain](to tensor.Mut[T], from tensor.Of[T]) { copy(to.Slice(), from.Slice()) }

//godlpack:export
//godlpack:arg to order=C
//godlpack:arg from order=C
func PasteCompact[T plain](to tensor.Mut[T], from tensor.Of[T]) { copy(to.Slice(), from.Slice()) }

//godlpack:export
//godlpack:arg from order=C
func PasteList[T plain](to []tensor.Mut[T], from tensor.Of[T]) {
	for _, v := range to {
		Paste(v, from)
	}
}

//godlpack:export
//godlpack:arg y overlap
func Reverse[T plain](x tensor.Of[T], y tensor.Mut[T]) {
	var values []T
	for _, v := range x.All() {
		values = append(values, v)
	}
	i := len(values)
	for p := range y.Pointers() {
		i--
		*p = values[i]
	}
}
"""

DTYPES = [
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64", "complex64", "complex128"),
]


def numbered(shape, dtype):
    """Elements that differ, as far as the dtype allows."""
    count = int(np.prod(shape))
    values = np.arange(1, count + 1) % (2 if dtype == "bool" else 100)
    return (values * (1 - 2j) if dtype.startswith("complex") else values).astype(dtype).reshape(shape)


def off_by_one(x):
    """The elements of x, a byte off from their alignment."""
    memory = np.zeros(x.nbytes + 1, "u1")
    y = memory[1:].view(x.dtype).reshape(x.shape)
    y[...] = x
    return y


def frozen(x):
    x.flags.writeable = False
    return x


def strided(x, shape, steps):
    return np.lib.stride_tricks.as_strided(x, shape, [s * x.itemsize for s in steps])


LAYOUTS = {
    "vector": lambda make: make(7),
    "matrix": lambda make: make(4, 6),
    "cube": lambda make: make(3, 4, 2),
    "nine axes": lambda make: make(1, 2, 1, 2, 3, 1, 1, 2, 1),
    "nine axes, turned": lambda make: make(1, 2, 1, 2, 3, 2, 1, 2, 2).T,
    "every second": lambda make: make(8)[::2],
    "every third column": lambda make: make(4, 9)[:, ::3],
    "every second row": lambda make: make(6, 3)[::2],
    "column": lambda make: make(5, 4)[:, 1],
    "block": lambda make: make(5, 6)[1:4, 2:5],
    "reversed": lambda make: make(7)[::-1],
    "reversed, every second": lambda make: make(9)[::-2],
    "rows reversed": lambda make: make(3, 4)[::-1],
    "both axes reversed": lambda make: make(3, 4)[::-1, ::-1],
    "transposed": lambda make: make(3, 4).T,
    "cube, transposed": lambda make: make(2, 3, 4).transpose(1, 2, 0),
    "Fortran": lambda make: np.asfortranarray(make(3, 4)),
    "Fortran, a part": lambda make: np.asfortranarray(make(5, 4))[1:4],
    "broadcast": lambda make: np.broadcast_to(make(3), (4, 3)),
    "broadcast scalar": lambda make: np.broadcast_to(make(1)[0], (2, 2)),
    "stride 0": lambda make: strided(make(6), (6,), (0,)),
    "stride 0 within": lambda make: strided(make(6), (3, 2), (1, 0)),
    "overlapping windows": lambda make: strided(make(6), (4, 3), (1, 1)),
    "no axes": lambda make: make(),
    "no axes, within": lambda make: make(3, 4)[1, 2, ...],
    "no axes, one off": lambda make: off_by_one(make()),
    "empty": lambda make: make(0),
    "empty within": lambda make: make(2, 0, 3),
    "empty, odd strides": lambda make: make(4, 6)[2:2, ::3],
    "one": lambda make: make(1),
    "axes of one, odd strides": lambda make: strided(make(5), (1, 5, 1), (77, 1, -3)),
    "axes of one, odd strides, every second": lambda make: strided(make(6), (1, 3, 1), (5, 2, 0)),
    "one element, odd strides": lambda make: strided(make(2), (1, 1), (9, -9)),
    "new axes": lambda make: make(3, 4)[None, :, None, ::2],
    "one off": lambda make: off_by_one(make(5)),
    "one off, every second": lambda make: off_by_one(make(6))[::2],
    "one off, transposed": lambda make: off_by_one(make(3, 4)).T,
    "one off, empty": lambda make: off_by_one(make(0)),
    "one off, read-only": lambda make: frozen(off_by_one(make(3))),
    "read-only": lambda make: frozen(make(5)),
    "read-only, every second": lambda make: frozen(make(6)[::2]),
    "other byte order": lambda make: make(3).astype(make(3).dtype.newbyteorder()),
}


class Case:
    """An array of one layout and dtype, for one library, with its properties."""

    def __init__(self, layout, dtype, library, make=None):
        self.layout, self.dtype, self.library = layout, dtype, library
        self.array = (make or LAYOUTS[layout])(lambda *shape: numbered(shape, dtype))
        self.x = self.array if library is np else torch.from_numpy(self.array)
        flags = self.array.flags
        self.compact, self.columns = flags.c_contiguous, flags.f_contiguous
        self.aligned, self.writable = flags.aligned, flags.writeable
        self.native = self.array.dtype.isnative
        places = [
            sum(i * s for i, s in zip(at, self.array.strides, strict=True)) for at in np.ndindex(self.array.shape)
        ]
        self.apart = len(set(places)) == len(places)
        self.want = np.array(self.array)  # a copy

    def values(self):
        """A new array of the shape, with other elements."""
        more = numbered((self.want.size + 2,), self.dtype)
        return more[: self.want.size + 1][:0:-1].reshape(self.want.shape).copy()


def torch_takes(array):
    if not array.flags.writeable or not array.dtype.isnative:  # torch supports neither
        return False
    try:
        torch.from_numpy(array)
    except (TypeError, ValueError):
        return False
    return True


def cases(dtype, make=None):
    for layout in LAYOUTS if make is None else ["given"]:
        for library in (np, torch):
            case = Case(layout, dtype, np, make)
            if library is torch:
                if not torch_takes(case.array):
                    continue
                case = Case(layout, dtype, torch, make)
            yield case


def refusal(case, *, order=None, sliced=False, written=False, columns=False):
    """The exception that is documented for an argument, with its text; None if the argument is accepted."""
    if not case.native:
        return BufferError, "native byte order"
    if written and not case.writable:
        return BufferError, "read-only"
    if order == "C" and not case.compact:
        return BufferError, r"np\.ascontiguousarray\((\w+)\) or \1\.contiguous\(\)"
    if order == "F" and not case.columns:
        return BufferError, r"np\.asfortranarray\(\w+\)"
    if written and not case.aligned and case.want.size:
        return (
            BufferError,
            r"not aligned to \d+ bytes; use a copy, (\w+)\.copy\(\) or \1\.clone\(\), and put it back by \1\[\.\.\.\] = copy",
        )
    if written and not case.apart:
        return ValueError, "elements that share memory"
    if sliced and not (case.compact or not case.aligned):
        return (
            BufferError,
            r"Slice: want elements one behind the other, .*np\.ascontiguousarray\(x\) or x\.contiguous\(\)"
            + r", and put it back by x\[\.\.\.\] = copy" * written,
        )
    columnar = case.columns if case.aligned else np.ascontiguousarray(case.want).flags.f_contiguous  # of the copy
    if columns and not columnar:
        return BufferError, r"SliceF: want elements .* in column-major order, .*np\.asfortranarray\(x\)"
    return None


def same(got, want):
    got = np.asarray(got)
    return got.dtype == want.dtype and got.shape == want.shape and np.array_equal(got, want)


def attempt(call, expected):
    """What is wrong with a call: it must raise the expected exception, or return a true value."""
    try:
        good = call()
    except Exception as e:
        if expected is None or type(e) is not expected[0] or not re.search(expected[1], str(e), re.DOTALL):
            return f"raised {type(e).__name__}: {e}"
        return None if "\ngoroutine" not in str(e) else f"a Go stack: {e}"
    if expected is not None:
        return f"no {expected[0].__name__}"
    return None if good else "wrong elements"


def reads(function, **conditions):
    """A feature: a function that returns a copy of its argument."""

    def check(ops, case):
        return attempt(lambda: same(getattr(ops, function)(case.x), case.want), refusal(case, **conditions))

    return check


def in_columns(function, **conditions):
    """A feature: a function that returns the elements in column-major order."""

    def check(ops, case):
        want = case.want.ravel(order="F")
        return attempt(lambda: same(getattr(ops, function)(case.x), want), refusal(case, **conditions))

    return check


def paste_columns(ops, case):
    values = case.values()
    expected = refusal(case, written=True, columns=True)

    def call():
        ops.paste_columns(case.x, values.ravel(order="F"))
        return same(case.x, values)

    return attempt(call, expected)


def converts(function, to):
    def check(ops, case):
        with np.errstate(all="ignore"):
            want = case.want if case.dtype.startswith("complex") else case.want.astype(to)
        lost = (TypeError, "which does not convert without losing") if case.dtype.startswith("complex") else None
        return attempt(lambda: same(getattr(ops, function)(case.x), want), refusal(case) or lost)

    return check


def writes(function, **conditions):
    """A feature: a function that sets the elements of its first argument."""

    def check(ops, case):
        values = case.values()
        expected = refusal(case, written=True, **conditions)

        def call():
            getattr(ops, function)([case.x] if function == "paste_list" else case.x, values)
            return same(case.x, values)

        return attempt(call, expected) or (
            None if expected is None or same(case.array, case.want) else "elements changed"
        )

    return check


def by_names(ops, case):
    if case.want.ndim == 0:
        return attempt(
            lambda: ops.second(case.x, case.x),
            (BufferError, "native") if not case.native else (TypeError, r"want .*\[n, \.\.\.\]"),
        )
    shorter = case.want[:-1] if len(case.want) else np.zeros((1, *case.want.shape[1:]), case.dtype)
    wrong = attempt(
        lambda: ops.second(case.x, shorter), refusal(case) or (ValueError, f"but n is {len(case.want)} in 'x'")
    )
    return wrong or attempt(lambda: same(ops.second(case.x, case.x), case.want), refusal(case))


def by_variable(ops, case):
    if case.want.ndim == 0:
        return None
    other = np.ones(case.want.shape, "int8" if case.dtype != "int8" else "int16")
    return attempt(lambda: ops.second(case.x, other), refusal(case) or (TypeError, f"but T is {case.dtype}"))


def in_a_list(ops, case):
    def call():
        got = ops.listed(case.values(), [case.x, case.values(), case.x])
        return same(got[0], case.want) and same(got[1], case.values()) and same(got[2], case.want)

    return attempt(call, refusal(case))


def row(ops, case):
    rows = case.want.reshape(-1, case.want.shape[-1]) if case.want.ndim and case.want.size else case.want.reshape(1, -1)
    if case.want.size == 0:
        return None
    wrong = attempt(lambda: all(same(ops.row(case.x, i), rows[i]) for i in range(len(rows))), refusal(case))
    return wrong or attempt(
        lambda: ops.row(case.x, len(rows)), refusal(case) or (IndexError, f"row below {len(rows)}, got {len(rows)}")
    )


def echo(ops, case):
    def call():
        got = ops.echo(case.x)
        return same(got, case.want) and (got is case.x or not case.aligned)

    return attempt(call, refusal(case))


def where(ops, case):
    return attempt(lambda: ops.where(case.x) == (case.want.size, case.want.ndim), refusal(case))


def like(ops, case):
    def call():
        of_numpy, of_torch = ops.all(case.x, like=np.ndarray), ops.all(case.x, like=torch.Tensor)
        return (
            type(of_numpy) is np.ndarray
            and type(of_torch) is torch.Tensor
            and same(of_numpy, case.want)
            and same(of_torch, case.want)
        )

    return attempt(call, refusal(case))


def refused_out(case):
    if not case.native:
        return BufferError, "native byte order"
    if not case.writable:
        return BufferError, "read-only"
    return None if case.apart else (ValueError, "want memory of its own for each element, got shape .* with strides")


def out(ops, case):
    expected = refused_out(case)
    values = case.values()

    def call():
        return ops.all(values, out=case.x) is case.x and same(case.x, values)

    wrong = attempt(call, expected)
    return wrong or (None if expected is None or same(case.array, case.want) else "elements changed")


def out_of_itself(ops, case):
    """out= that shares memory with the argument, in another order: all reads come before all writes."""
    if refused_out(case) is not None:
        return None
    turned = np.ascontiguousarray(case.want[::-1]).reshape(case.want.shape) if case.want.ndim else case.want
    x = case.array[::-1] if case.want.ndim else case.array

    def call():
        ops.all(x, out=case.x)
        return same(case.x, turned)

    return attempt(call, None)


def two_outs(ops, case):
    if refused_out(case) is not None:
        return None
    values, other = case.values(), np.zeros(case.want.shape, case.dtype)
    expected = (ValueError, "tensors 0 and 1 that share") if case.want.size else None
    wrong = attempt(lambda: ops.twice(values, out=(case.x, case.x)) is not None, expected)

    def call():
        got = ops.twice(values, out=(case.x, other))
        return got[0] is case.x and got[1] is other and same(case.x, values) and same(other, values)

    return wrong or attempt(call, None)


def reverse(ops, case):
    if refusal(case, written=True) is not None:
        return attempt(lambda: ops.reverse(case.values(), case.x), refusal(case, written=True))
    want = case.want.ravel()[::-1].reshape(case.want.shape)

    def call():
        ops.reverse(case.x, case.x)
        return same(case.x, want)

    return attempt(call, None)


FEATURES = {
    "All": reads("all"),
    "Row and At": reads("rows"),
    "Slice": reads("bare", sliced=True),
    "order=C": reads("compact", order="C"),
    "order=F": reads("columns", order="F"),
    "convert": converts("converted", "float64"),
    "SliceF": in_columns("bare_columns", columns=True),
    "order=F, SliceF": in_columns("flat_columns", order="F"),
    "Mut: SliceF": paste_columns,
    "convert, order=F": converts("converted_to_columns", "float32"),
    "names of extents": by_names,
    "type variable": by_variable,
    "list": in_a_list,
    "result of a part": row,
    "result of an argument": echo,
    "device=any": where,
    "like=": like,
    "out=": out,
    "out= of the argument": out_of_itself,
    "two out=": two_outs,
    "Mut: Pointers": writes("paste"),
    "Mut: Row and Set": writes("paste_rows"),
    "Mut: Slice": writes("paste_bare", sliced=True),
    "Mut: order=C": writes("paste_compact", order="C"),
    "Mut: list": writes("paste_list"),
    "overlap": reverse,
}


def failures(module, check, dtype):
    texts = [(case, check(module, case)) for case in cases(dtype)]
    return [f"{case.library.__name__}, {case.layout}: {text}" for case, text in texts if text is not None]


@pytest.fixture(scope="module")
def ops(own_cache):
    return gd.load_inline(SOURCE)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("feature", FEATURES)
def test_every_layout(ops, feature, dtype):
    wrong = failures(ops, FEATURES[feature], dtype)
    assert not wrong, f"{len(wrong)} cases:\n" + "\n".join(wrong)


def test_outs_of_one_array(ops):
    x, memory = numbered((3, 4), "float64"), np.zeros((3, 9))
    for halves in (
        (memory[:, ::2][:, :4], memory[:, 1::2]),
        (memory[:, :4], memory[:, 4:8]),
        (memory[:, 7:3:-1], memory[:, :4]),
    ):
        memory[...] = 0
        got = ops.twice(x, out=halves)
        assert got[0] is halves[0] and same(halves[0], x) and same(halves[1], x)
    for shared in (
        (memory[:, :4], memory[:, 3:7]),
        (memory[:, :4], memory[:, 3::-1]),
        (memory[:, ::2][:, :4], memory[:, 2:6]),
    ):
        memory[...] = 0
        with pytest.raises(ValueError, match=r"twice\(\): argument 'out': .*tensors 0 and 1 that share"):
            ops.twice(x, out=shared)
        assert not memory.any()


def test_outs_of_a_returned_argument(ops):
    """A result that is an argument is lost if the result before it overwrites a part of it."""
    x, z = numbered((5,), "float64"), np.zeros(5)
    assert ops.echo_twice(x, out=(z, x))[1] is x
    assert same(z, x)
    assert same(ops.echo_twice(x, out=(z, x[::-1]))[1], z[:])
    x = numbered((5,), "float64")
    with pytest.raises(ValueError, match=r"echo_twice\(\): argument 'out': want memory that no argument shares"):
        ops.echo_twice(x, out=(x[::-1], z))


# ---- examples in the documents and in new projects


def blocks(file, language):
    return re.findall(rf"```{language}\n(.*?)```", (ROOT / file).read_text(), re.DOTALL)


@pytest.fixture(scope="module")
def shown(own_cache, tmp_path_factory):
    """The functions of the README, the guide and a new project, in one library."""
    folder = tmp_path_factory.mktemp("shown")
    guide = next(block for block in blocks("docs/guide.md", "python") if "load_inline" in block)
    files = {
        "readme": 'package shown\n\nimport "godlpack/tensor"\n\n' + blocks("README.md", "go")[0],
        "norm": next(block for block in blocks("docs/guide.md", "go") if "norm.go" in block),
        "notebook": re.search(r'"""\n(.*?)"""', guide, re.DOTALL)[1].replace("func Scale", "func ScaleInNotebook"),
        "ops": (ROOT / "cmd/godlpack/scaffold/project/ops.go.tmpl").read_text().replace("{{.Name}}", "shown"),
    }
    for name, text in files.items():
        folder.joinpath(f"{name}.go").write_text(re.sub(r"^package \w+", "package shown", text, flags=re.MULTILINE))
    folder.joinpath("go.mod").write_text("module shown\n\ngo 1.25\n")
    return gd.load(folder)


def scales(function, dtypes):
    def check(shown, case):
        expected = refusal(case, written=True)
        if case.native and case.dtype not in dtypes:
            expected = (TypeError, f"got {case.dtype}") if case.writable else (BufferError, "read-only")

        def call():
            getattr(shown, function)(case.x, 3)
            return same(case.x, case.want * 3)

        return attempt(call, expected) or (
            None if expected is None or same(case.array, case.want) else "elements changed"
        )

    return check


def normalize(shown, case):
    expected = refusal(case, order="C")
    if case.native and (case.dtype not in ("float32", "float64") or case.want.ndim != 2):
        expected = TypeError, "want float32|float64"

    def call():
        got, length = shown.normalize(case.x), np.linalg.norm(case.want, axis=-1, keepdims=True)
        return got.dtype == case.x.dtype and np.allclose(got, case.want / np.maximum(length, 1e-12))

    return attempt(call, expected)


def saxpy(shown, case):
    y = np.ones(case.want.shape, case.dtype)
    expected = refusal(case, order="C")
    if case.native and (case.dtype != "float32" or case.want.ndim != 1):
        expected = TypeError, "want float32"

    def call():
        shown.saxpy(2, case.x, y)
        if case.compact and case.aligned and case.writable and case.apart:
            shown.saxpy(1, y, case.x)
            return same(y, 1 + 2 * case.want) and same(case.x, 1 + 3 * case.want)
        return same(y, 1 + 2 * case.want)

    return attempt(call, expected)


def softmax(shown, case):
    expected = refusal(case, order="C")
    if case.native and case.dtype not in ("float32", "float64"):
        expected = TypeError, "want float32|float64"

    def call():
        got, terms = shown.softmax(case.x), np.exp(case.want - case.want.max(initial=0))
        total = terms.sum(-1, keepdims=True) if terms.ndim else terms
        return got.dtype == case.x.dtype and got.shape == case.want.shape and np.allclose(got, terms / total)

    return attempt(call, expected)


SHOWN = {
    "README's Scale": scales("scale", ("float32", "float64")),
    "guide's Scale": scales("scale_in_notebook", ("float64",)),
    "guide's Normalize": normalize,
    "a new project's Saxpy": saxpy,
    "a new project's Softmax": softmax,
}


@pytest.mark.parametrize("dtype", ["bool", "int32", "float16", "float32", "float64", "complex64"])
@pytest.mark.parametrize("function", SHOWN)
def test_what_is_shown(shown, function, dtype):
    wrong = failures(shown, SHOWN[function], dtype)
    assert not wrong, f"{len(wrong)} cases:\n" + "\n".join(wrong)
